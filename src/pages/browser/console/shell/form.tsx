import { type ReactNode, useEffect, useState } from 'react'
import { Button, Check, Code, Field, jsonOf, linesOf, type Options, pairsOf, Select, SendForm } from '../ui/controls'
import { Failed } from '../ui/states'
import { type Method, useOwner, useSend } from './api'
import { curlOf } from './curl'
import { createValue } from './value'

/** True if a form on the page has unsaved changes. Closing it then asks first. */
export const unsaved = createValue(false)

export type FormField = {
  /** Path of the member in the body, with dots for nested members. */
  name: string
  label: string
  help?: ReactNode
  /**
   * `cents` is entered in dollars, `list` with blanks or commas as separators, `lines` with one item per line. `checks`
   * sends the checked choices, `until` a day.
   */
  kind?: 'area' | 'number' | 'cents' | 'choice' | 'check' | 'checks' | 'list' | 'lines' | 'json' | 'password' | 'until'
  choices?: Options
  required?: boolean
  /** What an empty field sends: nothing by default, or null or an empty text. */
  empty?: 'null' | 'text'
  rows?: number
  /** Texts that a text area can start with. */
  templates?: readonly (readonly [name: string, text: string])[]
  min?: number
  max?: number
  step?: number
  /** Two such fields are shown side by side if there is room. */
  half?: true
  /** Number of API units per entered unit, such as 100 cents per dollar. */
  scale?: number
}

type Written = Record<string, string | boolean>

const memberOf = (value: unknown, name: string): unknown =>
  name.split('.').reduce<unknown>((inner, part) => (inner as Record<string, unknown> | null)?.[part], value)

function writtenOf({ kind, name, choices, scale = 1 }: FormField, values: unknown): string | boolean {
  const value = memberOf(values, name)
  if (kind === 'check') return value === true
  if (value === undefined || value === null) return kind === 'choice' ? (pairsOf(choices ?? [])[0]?.[0] ?? '') : ''
  if (kind === 'cents') return String(Number(value) / 100)
  if (kind === 'number') return String(Number(value) / scale)
  if (kind === 'list' || kind === 'checks') return (value as string[]).join(' ')
  if (kind === 'lines') return (value as string[]).join('\n')
  return kind === 'json' ? JSON.stringify(value, null, 2) : String(value)
}

/** The value that a field sends. Throws for invalid JSON. */
function sentOf({ kind, empty, scale }: FormField, written: string | boolean): unknown {
  if (typeof written === 'boolean') return written
  const text = kind === 'password' ? written : written.trim()
  if (kind === 'list' || kind === 'checks') return text ? text.split(/[\s,]+/) : []
  if (kind === 'lines') return linesOf(text)
  if (text === '') return empty === 'null' ? null : empty === 'text' ? '' : undefined
  if (kind === 'until') return untilOf(text)
  if (kind === 'number') return scale ? Math.round(Number(text) * scale) : Number(text)
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

/** The body made from all fields. */
function bodyOf(fields: readonly FormField[], written: Written): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const field of fields) {
    const value = sentOf(field, written[field.name]!)
    const parts = field.name.split('.')
    const last = parts.pop()!
    let inner = body
    for (const part of parts) {
      inner[part] ??= {}
      inner = inner[part] as Record<string, unknown>
    }
    if (value !== undefined) inner[last] = value
  }
  return body
}

export type FormProps<Answer> = {
  fields: readonly FormField[]
  /** Initial values. */
  values?: unknown
  method: Method
  path: string
  /** After saving, every path that begins with one of these is read again. */
  touches: readonly string[]
  verb: string
  /** Merged into the body, or computes the body from it. */
  more?: Record<string, unknown> | ((body: Record<string, unknown>) => Record<string, unknown>)
  /** Return false if, by the answer, nothing was saved. */
  onDone?(answer: Answer): unknown
  onCancel?: (() => void) | undefined
  onChange?(body: Record<string, unknown>): void
  children?: ReactNode
  /** Without this permission the form cannot be sent, and shows why. */
  permission?: string
  /** Why the form cannot be sent now. */
  disabled?: string | undefined
}

/** A form for one call: its fields, their problems, and the equivalent request. */
export function Form<Answer = unknown>(props: FormProps<Answer>) {
  const { fields, values, method, path, touches, verb, more, onDone, onCancel, onChange, children, permission } = props
  const owner = useOwner()
  const isRefused = permission !== undefined && !owner.permissions.includes(permission)
  const reason = isRefused ? `Your role ${owner.role} cannot change this. Ask an owner or admin.` : props.disabled
  const send = useSend<Answer, object>(method, path, touches)
  const [written, setWritten] = useState<Written>(() =>
    Object.fromEntries(fields.map((field) => [field.name, writtenOf(field, values)])),
  )
  const [wrong, setWrong] = useState<string | null>(null)
  const [savedAt, setSavedAt] = useState<Date | null>(null)
  const [isShown, setShown] = useState(false)
  useWarning()
  const whole = () => {
    const body = bodyOf(fields, written)
    return typeof more === 'function' ? more(body) : { ...body, ...more }
  }
  const write = (name: string, value: string | boolean) => {
    const next = { ...written, [name]: value }
    setWritten(next)
    setSavedAt(null)
    unsaved.set(true)
    try {
      onChange?.(bodyOf(fields, next))
    } catch {
      // The text is not valid JSON yet. Saving reports it.
    }
  }
  const save = () => {
    try {
      setWrong(null)
      send.mutate(whole(), {
        onSuccess: (answer) => {
          unsaved.set(false)
          setSavedAt(onDone?.(answer) === false ? null : new Date())
        },
      })
    } catch {
      setWrong(
        fields.find((field) => field.kind === 'json' && jsonOf(String(written[field.name]) || '{}') === undefined)
          ?.name ?? null,
      )
    }
  }
  const problemOf = ({ name }: FormField) =>
    wrong === name
      ? 'This is not JSON.'
      : send.error?.details.find(({ path: at }) => at === name || at.startsWith(`${name}.`))?.message
  return (
    <SendForm className="form" onSend={() => save()}>
      {fields.map((field) => (
        <div key={field.name} className={field.half ? 'half' : ''}>
          <OneField
            field={field}
            value={written[field.name]!}
            problem={problemOf(field)}
            onChange={(value) => write(field.name, value)}
          />
        </div>
      ))}
      {children}
      {send.error && <Failed problem={send.error} />}
      {reason && <p className="faint">{reason}</p>}
      <div className="actions end">
        <Button kind="plain" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          As request
        </Button>
        <span role="status" className="saved">
          {savedAt && `Saved ${savedAt.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`}
        </span>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" kind="primary" busy={send.isPending} disabled={reason !== undefined}>
          {verb}
        </Button>
      </div>
      {isShown && <Code text={requestOf(method, path, fields, whole)} label="request" />}
    </SendForm>
  )
}

function requestOf(method: Method, path: string, fields: readonly FormField[], whole: () => object): string {
  let body: Record<string, unknown>
  try {
    body = { ...whole() }
  } catch {
    body = {}
  }
  for (const { kind, name } of fields) if (kind === 'password' && name in body) body[name] = '…'
  return curlOf(path, body, method)
}

/** While there are unsaved changes, the browser asks before the page closes. */
function useWarning(): void {
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => unsaved.get() && event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => {
      removeEventListener('beforeunload', warn)
      unsaved.set(false)
    }
  }, [])
}

type OneProps = {
  field: FormField
  value: string | boolean
  problem: string | undefined
  onChange(value: string | boolean): void
}

function OneField({ field, value, problem, onChange }: OneProps) {
  const { label, help, kind, choices = [], required, rows = 4, min, max, step } = field
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
  if (kind === 'choice')
    return <Select {...{ label, help, problem, choices, required, onChange }} value={String(value)} />
  const common = {
    value: String(value),
    required,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  }
  return (
    <Field label={label} help={help} problem={problem}>
      {(props) => {
        if (kind === 'area' || kind === 'lines' || kind === 'json') {
          return (
            <>
              {field.templates && (
                <div className="actions">
                  <span>Start with</span>
                  {field.templates.map(([name, text]) => (
                    <Button key={name} onClick={() => onChange(text)}>
                      {name}
                    </Button>
                  ))}
                </div>
              )}
              <textarea
                {...props}
                {...common}
                rows={rows}
                className={kind === 'json' ? 'mono' : ''}
                spellCheck={kind !== 'json'}
              />
            </>
          )
        }
        const isNumber = kind === 'number' || kind === 'cents'
        return (
          <input
            {...props}
            {...common}
            type={isNumber ? 'number' : kind === 'password' ? 'password' : 'text'}
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
