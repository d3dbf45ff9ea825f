import { type ReactNode, useState } from 'react'
import { Check, Field, linesOf, type Options, pairsOf, Select, StartWith } from './controls'
import { percent, spelled } from './format'

export type FormField = {
  /** Path of the member in the body, with dots for nested members. */
  name: string
  label: string
  help?: ReactNode
  /**
   * `cents` is entered in dollars, `list` with blanks or commas as separators, `lines` with one item per line. `checks`
   * sends the checked choices, `until` a day.
   */
  kind?:
    | 'area'
    | 'number'
    | 'cents'
    | 'choice'
    | 'check'
    | 'checks'
    | 'list'
    | 'lines'
    | 'json'
    | 'password'
    | 'range'
    | 'until'
  choices?: Options
  required?: boolean
  /** What an empty field sends: nothing by default, or null or an empty text. */
  empty?: 'null' | 'text'
  rows?: number
  /** Texts that a text area can start with. */
  templates?: Readonly<Record<string, string>>
  min?: number | undefined
  max?: number | undefined
  step?: number | undefined
  /** Two such fields are shown side by side if there is room. */
  half?: true
  /** Text in a monospaced font. */
  isCode?: true
  /** What is wrong with a text, while it is typed. */
  problemOf?(text: string): string | undefined
  /** Number of API units per entered unit, such as 100 cents per dollar. */
  scale?: number
}

/** A field of a form. By default it is a line of text. */
export const field = (name: string, label: string, more: Omit<FormField, 'name' | 'label'> = {}): FormField => ({
  ...{ name, label },
  ...more,
})

/** What a field shows of a value. */
export function writtenOf({ kind, choices, scale = 1 }: FormField, value: unknown): string | boolean {
  if (kind === 'check') return value === true
  if (value === undefined || value === null) return kind === 'choice' ? (pairsOf(choices ?? [])[0]?.[0] ?? '') : ''
  if (kind === 'cents') return String(Number(value) / 100)
  if (kind === 'number') return String(Number(value) / scale)
  if (kind === 'list' || kind === 'checks') return (value as string[]).join(' ')
  if (kind === 'lines') return (value as unknown[]).map(textOf).join('\n')
  return kind === 'json' ? JSON.stringify(value, null, 2) : String(value)
}
const textOf = (item: unknown) => (typeof item === 'string' ? item : JSON.stringify(item))

/** The value that a field sends. Throws for invalid JSON. */
export function sentOf({ kind, empty, scale, choices }: FormField, written: string | boolean): unknown {
  if (typeof written === 'boolean') return written
  // Choices that were loaded later than the form show the first one.
  if (kind === 'choice' && written === '' && choices && !pairsOf(choices).some(([value]) => value === ''))
    return pairsOf(choices)[0]?.[0]
  const text = kind === 'password' ? written : written.trim()
  if (kind === 'list' || kind === 'checks') return text ? text.split(/[\s,]+/) : []
  if (kind === 'lines') return linesOf(text)
  if (text === '') return empty === 'null' ? null : empty === 'text' ? '' : undefined
  if (kind === 'until') return untilOf(text)
  if (kind === 'number' || kind === 'range') return scale ? Math.round(Number(text) * scale) : Number(text)
  if (kind === 'cents') return Math.round(Number(text) * 100)
  return kind === 'json' ? JSON.parse(text) : text
}

const DAY_MS = 86_400_000
/** A number of days from now, the end of a day, or an unchanged point in time. */
function untilOf(text: string): string {
  const isDay = text.length === 'YYYY-MM-DD'.length
  const days = /^\d{1,3}$/.test(text) ? Number(text) : null
  return (
    days === null ? new Date(isDay ? `${text}T23:59:59` : text) : new Date(Date.now() + days * DAY_MS)
  ).toISOString()
}

type OneProps = {
  field: FormField
  value: string | boolean
  problem: string | undefined
  onChange(value: string | boolean): void
}

/** One field of a form, of any kind. */
export function OneField({ field, value, problem: told, onChange }: OneProps) {
  const { label, help, kind, choices = [], required, rows = 4, min, max, step, isCode } = field
  const problem = field.problemOf?.(String(value)) ?? told
  if (kind === 'check') return <Check {...{ label, help, onChange }} checked={value === true} />
  if (kind === 'checks') {
    const held = String(value).split(' ').filter(Boolean)
    return (
      <fieldset>
        <legend>{label}</legend>
        {pairsOf(choices).map(([choice, about]) => (
          <Check
            key={choice}
            label={choice}
            help={about}
            checked={held.includes(choice)}
            onChange={(is) => onChange((is ? [...held, choice] : held.filter((one) => one !== choice)).join(' '))}
          />
        ))}
        {problem && <p className="problem">{problem}</p>}
      </fieldset>
    )
  }
  if (kind === 'until') return <Until {...{ field, problem, onChange }} value={String(value)} />
  if (kind === 'choice') {
    const known = pairsOf(choices)
    const isKnown = value === '' || known.some(([choice]) => choice === value)
    const all = isKnown ? known : [[String(value), String(value)] as const, ...known]
    return <Select {...{ label, help, problem, required, onChange }} choices={all} value={String(value)} />
  }
  const common = {
    value: String(value),
    required,
    className: kind === 'json' || isCode ? 'mono' : '',
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  }
  return (
    <Field label={kind === 'range' ? `${label}: ${percent(Number(value))}` : label} {...{ help, problem }}>
      {(props) => {
        if (kind === 'area' || kind === 'lines' || kind === 'json') {
          return (
            <>
              {field.templates && <StartWith of={field.templates} onChoose={onChange} />}
              <textarea {...props} {...common} rows={rows} spellCheck={kind !== 'json' && !isCode} />
            </>
          )
        }
        const isNumber = kind === 'number' || kind === 'cents' || kind === 'range'
        return (
          <input
            {...props}
            {...common}
            type={kind === 'range' || kind === 'password' ? kind : isNumber ? 'number' : 'text'}
            autoComplete={
              kind === 'password' ? (field.name === 'current' ? 'current-password' : 'new-password') : 'off'
            }
            {...(isNumber
              ? { min, max, step: step ?? (kind === 'cents' ? 0.01 : 'any'), inputMode: 'decimal' as const }
              : {})}
          />
        )
      }}
    </Field>
  )
}

const UNTIL = [
  ['', 'Never'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['day', 'On a day'],
] as const

/** When something expires: never, after some days, or on a chosen day. */
function Until({ field: { label, help }, value, problem, onChange }: OneProps & { value: string }) {
  const isDay = value.length > 3
  const tomorrow = dayIn(1)
  return (
    <>
      <Select
        {...{ label, help, choices: UNTIL }}
        problem={isDay ? undefined : problem}
        value={isDay ? 'day' : value}
        onChange={(chosen) => onChange(chosen === 'day' ? dayIn(30) : chosen)}
      />
      {isDay && (
        <Field label={`${label} on`} problem={problem}>
          {(props) => (
            <input
              {...props}
              type="date"
              required
              min={tomorrow}
              value={inputDay(value)}
              onChange={({ target }) => onChange(target.value || tomorrow)}
            />
          )}
        </Field>
      )}
    </>
  )
}

/** The local day of a time, in the format of a date input. */
const inputDay = (moment: string | number) => new Date(moment).toLocaleDateString('sv-SE')
const dayIn = (days: number) => inputDay(Date.now() + days * DAY_MS)

type Member = {
  type?: string | string[]
  enum?: unknown[]
  anyOf?: { const?: unknown }[]
  title?: string
  description?: string
  default?: unknown
  minimum?: number
  maximum?: number
}

/** The field for a member of a JSON schema. A member without a suitable field is edited as JSON. */
function fieldOf(
  name: string,
  { title, description: help, type, minimum: min, maximum: max, ...of }: Member,
): FormField {
  const field = { name, label: title ?? spelled(name), help }
  const choices = of.enum ?? of.anyOf?.map((it) => it.const).filter((it) => it !== undefined)
  const kind = Array.isArray(type) ? type.find((it) => it !== 'null') : type
  if (kind === 'boolean') return { ...field, kind: 'check' }
  if (choices?.length) return { ...field, kind: 'choice', choices: [['', 'as usual'], ...pairsOf(choices.map(String))] }
  if (kind === 'integer' || kind === 'number') {
    return { ...field, kind: 'number', min, max, step: kind === 'integer' ? 1 : undefined }
  }
  if (kind === 'array')
    return { ...field, kind: 'lines', rows: 2, help: [help, 'One per line.'].filter(Boolean).join(' ') }
  return kind === 'string' ? field : { ...field, kind: 'json', rows: 3 }
}

type SchemaProps = {
  schema: Record<string, unknown> | null
  value: Record<string, unknown>
  onChange(value: Record<string, unknown>): void
}

/** Fields for the members of a JSON schema. */
export function SchemaFields({ schema, value, onChange }: SchemaProps) {
  const members = Object.entries((schema?.properties ?? {}) as Record<string, Member>)
  if (members.length === 0) return null
  const usual = Object.fromEntries(members.map(([name, it]) => [name, it.type === 'boolean' ? it.default : undefined]))
  const isGiven = (it: unknown) => it !== undefined && !(Array.isArray(it) && it.length === 0)
  const set = (changes: Record<string, unknown>) =>
    onChange(Object.fromEntries(Object.entries({ ...value, ...changes }).filter(([, it]) => isGiven(it))))
  return <Fields of={members.map((member) => fieldOf(...member))} value={{ ...usual, ...value }} onChange={set} />
}

type ValueProps = { field: FormField; value: unknown; onChange(value: unknown): void }

/** A field outside a form. Its value is passed on while it is valid. */
function ValueField({ field, value, onChange }: ValueProps) {
  // What is typed stays as it is, such as the blanks of JSON, until another value takes its place.
  const [draft, setDraft] = useState<{ written: string | boolean; of: string | undefined; problem?: string }>()
  const now = JSON.stringify(value)
  const typed = draft && draft.of === now ? draft : null
  const write = (written: string | boolean) => {
    try {
      const sent = sentOf(field, written)
      setDraft({ written, of: JSON.stringify(sent) })
      onChange(sent)
    } catch {
      setDraft({ written, of: now, problem: 'This is not JSON yet.' })
    }
  }
  return (
    <OneField
      field={field}
      value={typed ? typed.written : writtenOf(field, value)}
      problem={typed?.problem}
      onChange={write}
    />
  )
}

type FieldsProps<T> = { of: readonly FormField[]; value: T; onChange(changes: Partial<T>): void }

/** Fields outside a form, for members of a value. */
export const Fields = <T,>({ of, value, onChange }: FieldsProps<T>) => (
  <div className="pair">
    {of.map((field) => (
      <ValueField
        key={field.name}
        field={field}
        value={(value as Record<string, unknown>)[field.name]}
        onChange={(next) => onChange({ [field.name]: next } as Partial<T>)}
      />
    ))}
  </div>
)

/** A field for any JSON. */
export const JsonField = ({
  value,
  onChange,
  ...field
}: Omit<ValueProps, 'field'> & { label: string; rows: number }) => (
  <ValueField field={{ name: 'json', kind: 'json', ...field }} value={value} onChange={onChange} />
)
