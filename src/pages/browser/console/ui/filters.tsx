import { ListFilter, Search, X } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { Button } from './controls'

export type Filters = Record<string, string>

/**
 * The filters in the address, under the names that the API has for them. Choosing adds an entry to the history, typing
 * replaces it; a value that is empty or the default leaves the address.
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

export type Filter =
  | { name: string; label: string; values: readonly (readonly [value: string, label: string])[] }
  | { name: string; label: string; hint?: string }

type Props = {
  filters: readonly Filter[]
  values: Filters
  onChange(changes: Filters, how?: { typed: boolean }): void
  onClear(): void
}

/** So many filters stand above a list; the rest is behind one button, unless it is set. */
const FEW = 4

/** The row of filters above a list: fields for text, menus for choices. On a small screen only the first stands there. */
export function FilterBar({ filters, values, onChange, onClear }: Props) {
  const isSet = filters.some(({ name }) => values[name])
  const [isAll, setAll] = useState(false)
  const classOf = (name: string, at: number) => (values[name] ? 'chosen' : at >= FEW ? 'later' : at > 0 ? 'next' : '')
  return (
    <search className={isAll ? 'filters all' : 'filters'}>
      {filters.map((filter, at) =>
        'values' in filter ? (
          <select
            key={filter.name}
            aria-label={filter.label}
            className={classOf(filter.name, at)}
            value={values[filter.name] ?? ''}
            onChange={(event) => onChange({ [filter.name]: event.target.value })}
          >
            <option value="">{filter.label}: any</option>
            {filter.values.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        ) : (
          <TextFilter
            key={filter.name}
            className={classOf(filter.name, at)}
            filter={filter}
            value={values[filter.name] ?? ''}
            onChange={onChange}
          />
        ),
      )}
      {filters.length > 1 && (
        <Button
          className={filters.length > FEW ? 'more-filters many' : 'more-filters'}
          aria-expanded={isAll}
          onClick={() => setAll(!isAll)}
        >
          <ListFilter size={16} aria-hidden="true" />
          {isAll ? 'Fewer filters' : 'More filters'}
        </Button>
      )}
      {isSet && (
        <Button kind="plain" onClick={onClear}>
          <X size={16} aria-hidden="true" />
          Clear
        </Button>
      )}
    </search>
  )
}

const TYPED_MS = 250

function TextFilter({
  className,
  filter: { name, label, hint },
  value,
  onChange,
}: {
  className: string
  filter: { name: string; label: string; hint?: string }
  value: string
  onChange: Props['onChange']
}) {
  const id = useId()
  const [text, setText] = useState(value)
  const last = useRef(value)
  // The address may change by itself, as with Back.
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
        data-filter=""
        aria-label={label}
        placeholder={hint ?? label}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </span>
  )
}
