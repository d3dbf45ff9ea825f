import { Check as CheckMark, Copy, type LucideIcon } from 'lucide-react'
import { type ComponentProps, type InputHTMLAttributes, type ReactNode, useEffect, useId, useState } from 'react'

type ButtonProps = ComponentProps<'button'> & {
  kind?: 'primary' | 'quiet' | 'plain' | 'danger'
  icon?: LucideIcon
  /** True while an action runs. After a moment a spinner is shown, and further presses do nothing. */
  busy?: boolean
}

export function Button({ kind = 'quiet', icon: Icon, busy, className = '', children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={`button ${kind} ${className}`}
      aria-busy={busy || undefined}
      onClick={busy ? undefined : onClick}
      {...rest}
    >
      {busy && <span className="spinner" aria-hidden="true" />}
      {Icon && <Icon size={16} aria-hidden="true" />}
      {children}
    </button>
  )
}

type EndProps = { verb?: string; disabled?: boolean; onClose(): void; children?: ReactNode }

/** The last buttons of a dialog or form: others as children, then the one that closes it. */
export const End = ({ verb = 'Done', disabled, onClose, children }: EndProps) => (
  <div className="actions end">
    {children}
    <Button kind="primary" disabled={disabled} onClick={onClose}>
      {verb}
    </Button>
  </div>
)

type StartProps<T> = { of: Readonly<Record<string, T>>; onChoose(template: T): void }

/** Buttons for the templates that something empty can start with. */
export const StartWith = <T,>({ of, onChoose }: StartProps<T>) => (
  <div className="actions">
    <span>Start with</span>
    {Object.entries(of).map(([name, template]) => (
      <Button key={name} onClick={() => onChoose(template)}>
        {name}
      </Button>
    ))}
  </div>
)

const SYMBOLS = { good: '✓', run: '◐', wait: '…', warn: '!', bad: '✗', again: '↻', live: '●', off: '○' } as const
/** The tone of each state whose tone is called otherwise. */
const TONES: Partial<Record<ChipState, string>> = { wait: 'none', again: 'warn', live: 'good', off: 'none' }
export type ChipState = keyof typeof SYMBOLS

/** A state as a symbol and a word. The colour repeats the same meaning. */
export function Chip({ state, children }: { state: ChipState; children: ReactNode }) {
  return (
    <span className={`chip ${TONES[state] ?? state}`}>
      <span aria-hidden="true">{SYMBOLS[state]}</span> {children}
    </span>
  )
}

/** The state that an HTTP status stands for. */
export const toneOf = (status: number) => (status < 400 ? 'good' : status < 500 ? 'warn' : 'bad')

/** Saves content as a file of the reader. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

const COPIED_MS = 2_000

/** Copies a text, and confirms it for two seconds. Browsers allow copying only over TLS and on localhost. */
export function CopyButton({ text, label = 'Copy', plain }: { text: string; label?: string; plain?: boolean }) {
  const [outcome, setOutcome] = useState<'Copied' | 'Not copied: select the text' | null>(null)
  useEffect(() => {
    if (outcome === null) return
    const timer = setTimeout(() => setOutcome(null), COPIED_MS)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = async () => {
    const isDone = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    setOutcome(isDone ? 'Copied' : 'Not copied: select the text')
  }
  return (
    <Button
      kind={plain ? 'plain' : 'quiet'}
      icon={outcome === 'Copied' ? CheckMark : Copy}
      onClick={() => void copy()}
      {...(plain ? { title: outcome ?? label, 'aria-label': label } : {})}
    >
      {!plain && (outcome ?? label)}
      <span role="status" className="hidden">
        {plain && outcome}
      </span>
    </Button>
  )
}

/** A shortened id, with a button that copies the whole id. */
export const Id = ({ id }: { id: string }) => (
  <span className="id">
    <code title={id}>{id}</code>
    <CopyButton text={id} label="Copy id" plain />
  </span>
)

type FieldProps = {
  label: ReactNode
  help?: ReactNode
  problem?: string | undefined
  children: (props: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode
}

/** A control with its label above, its help below, and its problem below that. */
export function Field({ label, help, problem, children }: FieldProps) {
  const id = useId()
  const described = [help && `${id}-help`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(described ? { 'aria-describedby': described } : {}),
        ...(problem ? { 'aria-invalid': true as const } : {}),
      })}
      {help && (
        <p className="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {problem && (
        <p className="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}

type TextProps = Omit<FieldProps, 'children'> &
  Omit<InputHTMLAttributes<HTMLInputElement | HTMLTextAreaElement>, 'onChange'> & {
    /** Number of lines of a text area. Without it, the field has one line. */
    rows?: number
    onChange(text: string): void
  }

/** A text field. With `rows`, a text area. */
export const Text = ({ label, help, problem, rows, onChange, ...rest }: TextProps) => (
  <Field {...{ label, help, problem }}>
    {(props) => {
      const all = { ...props, ...rest, onChange: ({ target }: { target: { value: string } }) => onChange(target.value) }
      return rows === undefined ? <input {...all} /> : <textarea {...all} rows={rows} />
    }}
  </Field>
)

type CheckProps = {
  label: ReactNode
  help?: ReactNode
  checked: boolean
  disabled?: boolean
  onChange(is: boolean): void
}

/** A box to check, with its label and help beside it. */
export const Check = ({ label, help, onChange, ...rest }: CheckProps) => (
  <label className="check">
    <input type="checkbox" {...rest} onChange={({ target }) => onChange(target.checked)} />
    <span>
      {label}
      {help && <small>{help}</small>}
    </span>
  </label>
)

type SendProps = Omit<ComponentProps<'form'>, 'onSubmit'> & { onSend(): void }

/** A form whose submission stays on the page. */
export const SendForm = ({ onSend, ...rest }: SendProps) => (
  <form
    {...rest}
    onSubmit={(event) => {
      event.preventDefault()
      onSend()
    }}
  />
)

/** A secret that is shown once: a field to select it, and a button that copies it. */
export const Secret = ({ label, value, children }: { label: string; value: string; children?: ReactNode }) => (
  <>
    <label className="field">
      {label}
      <input className="mono" readOnly value={value} onFocus={({ target }) => target.select()} />
    </label>
    <div className="actions">
      <CopyButton text={value} label="Copy secret" />
      {children}
    </div>
  </>
)

/** Choices of a menu: texts by value, values that are their own texts, or pairs. */
export type Options =
  | Readonly<Record<string, string>>
  | readonly string[]
  | readonly (readonly [value: string, text: string])[]

/** The choices as pairs of value and text. */
export const pairsOf = (options: Options): readonly (readonly [value: string, text: string])[] =>
  Array.isArray(options)
    ? options.map((option) => (typeof option === 'string' ? [option, option] : option))
    : Object.entries(options)

/** The lines of a text, without empty ones. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

type SelectProps = Omit<FieldProps, 'children'> & {
  value: string
  choices: Options
  required?: boolean | undefined
  onChange(value: string): void
}

type MenuProps = Omit<ComponentProps<'select'>, 'onChange'> & Pick<SelectProps, 'choices' | 'onChange'>

/** A menu for one choice. */
export const Menu = ({ choices, onChange, ...rest }: MenuProps) => (
  <select {...rest} onChange={({ target }) => onChange(target.value)}>
    {pairsOf(choices).map(([choice, text]) => (
      <option key={choice} value={choice}>
        {text}
      </option>
    ))}
  </select>
)

/** A menu with its label above. */
export const Select = ({ value, choices, required, onChange, ...field }: SelectProps) => (
  <Field {...field}>{(props) => <Menu {...props} {...{ value, choices, required, onChange }} />}</Field>
)

type Choice<T extends string> = { value: T; label: ReactNode }

type ChoicesProps<T extends string> = {
  label: string
  value: T
  choices: readonly Choice<NoInfer<T>>[] | Readonly<Record<NoInfer<T>, ReactNode>>
  /** True if the label is shown above. */
  isNamed?: boolean
  onChange(value: NoInfer<T>): void
}

/** A choice of a few values: an object of labels by value, or a list if the order matters. */
export function Choices<T extends string>({ label: name, value: taken, choices, isNamed, onChange }: ChoicesProps<T>) {
  const all = Array.isArray(choices)
    ? (choices as readonly Choice<T>[])
    : Object.entries<ReactNode>(choices as Record<T, ReactNode>).map(([value, label]) => ({ value: value as T, label }))
  const group = (
    <div className="choices" role="group" aria-label={name}>
      {all.map(({ value, label }) => (
        <button key={value} type="button" aria-pressed={value === taken} onClick={() => onChange(value)}>
          {label}
        </button>
      ))}
    </div>
  )
  if (!isNamed) return group
  return (
    <div className="field">
      <span aria-hidden="true">{name}</span>
      {group}
    </div>
  )
}

/** A bar for the used part of a limit, which warns from 80 % on. Without a label it only repeats adjacent text. */
export function Bar({ used, of, label }: { used: number; of: number; label?: string }) {
  const share = of > 0 ? Math.min(1, used / of) : 0
  const tone = label === undefined || share < 0.8 ? '' : share < 1 ? 'warn' : 'bad'
  const now = { 'aria-valuenow': Math.round(share * 100), 'aria-valuemin': 0, 'aria-valuemax': 100 }
  const meaning = label === undefined ? { 'aria-hidden': true } : { role: 'meter', 'aria-label': label, ...now }
  return (
    <span className={`bar ${tone}`} {...meaning}>
      <span style={{ width: `${share * 100}%` }} />
    </span>
  )
}

/** The value of a JSON text. Undefined if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** JSON on several lines. Any other text is returned unchanged. */
export function laidOut(text: string): string {
  const value = jsonOf(text)
  return value === undefined ? text : JSON.stringify(value, null, 2)
}

/** Code that can be copied. Long lines scroll in their own box. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div className="code">
      <pre tabIndex={0} role="group" aria-label={label}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={`Copy ${label}`} plain />
    </div>
  )
}
