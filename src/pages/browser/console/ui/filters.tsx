import { ListFilter, Search, X } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { Button, Menu, type Options, pairsOf } from './controls'

export type Filters = Record<string, string>

/**
 * The filters in the address, under their names in the API. Choosing adds an entry to the history, typing replaces the
 * current one. Empty and default values are removed from the address.
 */
export function useFilters(defaults: Filters = {}) {
  const search = useSearch()
  const [path, navigate] = useLocation()
  const given = Object.fromEntries(new URLSearchParams(search)) as Filters
  const set = (changes: Filters, { typed = false } = {}) => {
    const kept = Object.entries({ ...given, ...changes }).filter(([name, value]) => value && value !== defaults[name])
    const next = new URLSearchParams(kept).toString()
    navigate(next ? `${path}?${next}` : path, { replace: typed })
  }
  return { filters: { ...defaults, ...given } as Filters, given, set, clear: () => navigate(path) }
}

export type Filter = {
  name: string
  label: string
  hint?: string
  /** The choices, or a hook that loads them. Without it the filter is a text field. */
  values?: Options | (() => Options)
  /** A field for a number, or for a point in time, which the address stores in ISO format. */
  kind?: 'number' | 'time'
}

type Props = {
  filters: readonly Filter[]
  values: Filters
  onChange(changes: Filters, how?: { typed: boolean }): void
  onClear(): void
}

/** Number of filters shown above a list. The rest is behind one button, unless set. */
const FEW = 4

/** The row of filters above a list: fields for text, menus for choices. On a small screen only the first is shown. */
export function FilterBar({ filters, values, onChange, onClear }: Props) {
  const isSet = filters.some(({ name }) => values[name])
  const [isAll, setAll] = useState(false)
  // A range of time is chosen first; exact times take more room.
  const isLater = ({ kind }: Filter, at: number) => at >= FEW || kind === 'time'
  const hasLater = filters.some(isLater)
  const classOf = (filter: Filter, at: number) =>
    values[filter.name] ? 'chosen' : isLater(filter, at) ? 'later' : at > 0 ? 'next' : ''
  return (
    <search className={isAll ? 'filters all' : 'filters'}>
      {filters.map((filter, at) => {
        if (isLater(filter, at) && !isAll && !values[filter.name]) return null
        const field = { filter, className: classOf(filter, at), value: values[filter.name] ?? '', onChange }
        if (filter.values) return <ChoiceFilter key={filter.name} {...field} />
        return filter.kind === 'time' ? (
          <TimeFilter key={filter.name} {...field} />
        ) : (
          <TextFilter key={filter.name} {...field} />
        )
      })}
      {filters.length > 1 && (
        <Button
          className={hasLater ? 'more-filters many' : 'more-filters'}
          aria-expanded={isAll}
          onClick={() => setAll(!isAll)}
          icon={ListFilter}
        >
          {isAll ? 'Fewer filters' : 'More filters'}
        </Button>
      )}
      {isSet && (
        <Button kind="plain" onClick={onClear} icon={X}>
          Clear
        </Button>
      )}
    </search>
  )
}

const TYPED_MS = 250

type FieldProps = { className: string; filter: Filter; value: string; onChange: Props['onChange'] }

function ChoiceFilter({ className, filter: { name, label, values }, value, onChange }: FieldProps) {
  // A filter never changes its kind, so the hook is called consistently.
  const choices = pairsOf(typeof values === 'function' ? values() : values!)
  const isKnown = value === '' || choices.some(([choice]) => choice === value)
  const all = [['', `${label}: any`] as const, ...(isKnown ? [] : [[value, value] as const]), ...choices]
  return (
    <Menu
      aria-label={label}
      {...{ className, value }}
      choices={all}
      onChange={(chosen) => onChange({ [name]: chosen })}
    />
  )
}

const MINUTE_MS = 60_000
/** A point in time in the format of its field: in the browser's time zone, without a zone suffix. */
const localOf = (iso: string) => {
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16)
}

const TimeFilter = ({ className, filter: { name, label }, value, onChange }: FieldProps) => (
  <label className={`time-field ${className}`}>
    {label}
    <input
      type="datetime-local"
      value={value && localOf(value)}
      onChange={({ target }) => onChange({ [name]: target.value && new Date(target.value).toISOString() })}
    />
  </label>
)

function TextFilter({ className, filter: { name, label, hint, kind }, value, onChange }: FieldProps) {
  const id = useId()
  const [text, setText] = useState(value)
  const last = useRef(value)
  // The address may change without typing, for example with Back.
  useEffect(() => {
    if (value !== last.current) setText(value)
    last.current = value
  }, [value])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed waits
  useEffect(() => {
    if (text === last.current) return
    const timer = setTimeout(() => {
      last.current = text
      onChange({ [name]: text }, { typed: true })
    }, TYPED_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <span className={`search-field ${className}`}>
      <Search size={16} aria-hidden="true" />
      <input
        id={id}
        type="search"
        inputMode={kind === 'number' ? 'decimal' : undefined}
        data-filter=""
        aria-label={label}
        placeholder={hint ?? label}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </span>
  )
}
