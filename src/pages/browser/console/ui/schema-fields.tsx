import { useState } from 'react'
import { Check, Field, linesOf, Select, Text } from './controls'

type Schema = Record<string, unknown>
type Member = {
  type?: string | string[]
  enum?: unknown[]
  anyOf?: { const?: unknown }[]
  items?: Member
  title?: string
  description?: string
  default?: unknown
  minimum?: number
  maximum?: number
}
type Value = Record<string, unknown>
type Props = { schema: Schema | null; value: Value; onChange(value: Value): void }

const spell = (name: string) => name.replaceAll(/[_-]/g, ' ').replace(/^./, (first) => first.toUpperCase())

/** Fields for the members of a JSON schema. Members without a suitable field are edited as JSON. */
export function SchemaFields({ schema, value, onChange }: Props) {
  const members = Object.entries((schema?.properties ?? {}) as Record<string, Member>)
  if (members.length === 0) return null
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...rest } = value
    onChange(next === undefined ? rest : { ...rest, [name]: next })
  }
  return (
    <div className="pair">
      {members.map(([name, member]) => (
        <OneMember key={name} name={name} member={member} value={value[name]} onChange={(next) => set(name, next)} />
      ))}
    </div>
  )
}

type OneProps = { name: string; member: Member; value: unknown; onChange(value: unknown): void }

function OneMember({ name, member, value, onChange }: OneProps) {
  const label = member.title ?? spell(name)
  const help = member.description
  const choices = member.enum ?? member.anyOf?.map((it) => it.const).filter((it) => it !== undefined)
  const kind = Array.isArray(member.type) ? member.type.find((it) => it !== 'null') : member.type
  if (kind === 'boolean') return <Check {...{ label, help, onChange }} checked={(value ?? member.default) === true} />
  if (choices?.length) {
    return (
      <Select
        label={label}
        help={help}
        value={String(value ?? '')}
        choices={[['', 'as usual'], ...choices.map((choice) => [String(choice), String(choice)] as const)]}
        onChange={(choice) => onChange(choice || undefined)}
      />
    )
  }
  if (kind === 'integer' || kind === 'number') {
    return (
      <Field label={label} help={help}>
        {(props) => (
          <input
            {...props}
            type="number"
            min={member.minimum}
            max={member.maximum}
            step={kind === 'integer' ? 1 : 'any'}
            value={value === undefined ? '' : String(value)}
            onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
          />
        )}
      </Field>
    )
  }
  if (kind === 'array') return <ListMember label={label} help={help} value={value} onChange={onChange} />
  if (kind === 'string') {
    return (
      <Text
        label={label}
        help={help}
        value={String(value ?? '')}
        autoComplete="off"
        onChange={(text) => onChange(text || undefined)}
      />
    )
  }
  return <JsonField label={label} help={help} value={value} onChange={onChange} />
}

type TextProps = { label: string; help?: string | undefined; value: unknown; onChange(value: unknown): void }

function ListMember({ label, help, value, onChange }: TextProps) {
  const [text, setText] = useState(() =>
    Array.isArray(value) ? value.map((it) => (typeof it === 'string' ? it : JSON.stringify(it))).join('\n') : '',
  )
  return (
    <Field label={label} help={[help, 'One per line.'].filter(Boolean).join(' ')}>
      {(props) => (
        <textarea
          {...props}
          rows={2}
          value={text}
          onChange={({ target }) => {
            setText(target.value)
            const lines = linesOf(target.value)
            onChange(lines.length ? lines : undefined)
          }}
        />
      )}
    </Field>
  )
}

/** A field for any JSON. Invalid text is reported and not applied. */
export function JsonField({ label, help, value, onChange, rows = 3 }: TextProps & { rows?: number }) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)))
  const [problem, setProblem] = useState<string>()
  return (
    <Field label={label} help={help} problem={problem}>
      {(props) => (
        <textarea
          {...props}
          className="mono"
          rows={rows}
          spellCheck={false}
          value={text}
          onChange={({ target }) => {
            setText(target.value)
            try {
              onChange(target.value.trim() ? JSON.parse(target.value) : undefined)
              setProblem(undefined)
            } catch {
              setProblem('This is not JSON yet.')
            }
          }}
        />
      )}
    </Field>
  )
}
