import { type ReactNode, useEffect, useState } from 'react'
import { Button, Code, jsonOf, SendForm } from '../ui/controls'
import { type FormField, OneField, sentOf, writtenOf } from '../ui/fields'
import { Failed } from '../ui/states'
import { type Method, useOwner, useSend } from './api'
import { boot } from './boot'
import { commandOf } from './command'
import { curlOf } from './curl'
import { NoRight } from './no-right'
import { createValue } from './value'

/** True if a form on the page has unsaved changes. Closing it then asks first. */
export const unsaved = createValue(false)

/** What a form can be shown as. */
const KINDS = ['request', 'command'] as const
type Kind = (typeof KINDS)[number]

type Written = Record<string, string | boolean>

const memberOf = (value: unknown, name: string): unknown =>
  name.split('.').reduce<unknown>((inner, part) => (inner as Record<string, unknown> | null)?.[part], value)

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

/** How a form saves an item: a new one to its list, or changes of an existing one. */
export const savingOf = (list: string, of: { id?: string } | undefined, verb: string) => ({
  method: of?.id ? ('PATCH' as const) : ('POST' as const),
  path: of?.id ? `${list}/${of.id}` : list,
  touches: [list],
  verb: of?.id ? 'Save' : verb,
})

/** A form for one call: its fields, their problems, and the equivalent request and command. */
export function Form<Answer = unknown>(props: FormProps<Answer>) {
  const { fields, values, method, path, touches, verb, more, onDone, onCancel, onChange, children, permission } = props
  const owner = useOwner()
  const isRefused = permission !== undefined && !owner.permissions.includes(permission)
  const send = useSend<Answer, object>(method, path, touches)
  const [written, setWritten] = useState<Written>(() =>
    Object.fromEntries(fields.map((field) => [field.name, writtenOf(field, memberOf(values, field.name))])),
  )
  const [wrong, setWrong] = useState<string | null>(null)
  const [savedAt, setSavedAt] = useState<Date | null>(null)
  const [shown, setShown] = useState<Kind | null>(null)
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
  const whose = owner.looksAt ?? (owner.id ? `org:${owner.id}` : `user:${boot.user.id}`)
  const body = shownOf(fields, whole)
  const command = commandOf(method, path, whose, body)
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
      {isRefused ? <NoRight what="change this" /> : props.disabled && <p className="faint">{props.disabled}</p>}
      <div className="actions end">
        {(command ? KINDS : KINDS.slice(0, 1)).map((kind) => (
          <Button
            key={kind}
            kind="plain"
            aria-expanded={shown === kind}
            onClick={() => setShown(shown === kind ? null : kind)}
          >
            {`As ${kind}`}
          </Button>
        ))}
        <span role="status" className="saved">
          {savedAt && `Saved ${savedAt.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`}
        </span>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" kind="primary" busy={send.isPending} disabled={isRefused || props.disabled !== undefined}>
          {verb}
        </Button>
      </div>
      {shown && <Code text={(shown === 'command' && command) || curlOf(path, body, method)} label={shown} />}
    </SendForm>
  )
}

/** The body to show: without secrets, and empty until it is valid. */
function shownOf(fields: readonly FormField[], whole: () => Record<string, unknown>): Record<string, unknown> {
  let body: Record<string, unknown>
  try {
    body = { ...whole() }
  } catch {
    body = {}
  }
  for (const { kind, name } of fields) if (kind === 'password' && name in body) body[name] = '…'
  return body
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
