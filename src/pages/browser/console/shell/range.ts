import { useMemo } from 'react'
import type { Filter, Filters } from '../ui/filters'
import { type Query, useOwner } from './api'

/**
 * A filter with `match` is applied here, to the loaded rows: by the member with its name, as a text in one of some
 * members, or by a function. Others are sent to the route, under their name or as `sends` returns.
 */
export type ListFilter<Row> = Filter & {
  match?: 'same' | readonly (keyof Row)[] | ((row: Row, value: string) => boolean)
  sends?(value: string): Query
}

/** True if a row passes a filter that is applied here. */
export function isMatch<Row>({ name, match }: ListFilter<Row>, row: Row, value: string): boolean {
  if (typeof match === 'function') return match(row, value)
  if (match === 'same') return row[name as keyof Row] === value
  const text = match?.map((member) => row[member] ?? '').join(' ')
  return text === undefined || text.toLowerCase().includes(value.toLowerCase())
}

/** The query of a list by its filters. A time relative to now stays fixed while the filters are the same. */
export function useFilterQuery(filters: readonly ListFilter<never>[], values: Filters, usual?: Query): Query {
  const { slug } = useOwner()
  // The arguments are new objects in each render. A query made of them each time would move such a time, and ask again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the owner and the values decide the query, not the objects
  return useMemo(
    () =>
      Object.assign(
        { ...usual },
        ...filters
          .filter(({ name, match }) => !match && values[name])
          .map(({ name, sends }) => sends?.(values[name]!) ?? { [name]: values[name] }),
      ) as Query,
    [slug, filters.map(({ name }) => values[name]).join('\n')],
  )
}

const HOUR_MS = 3_600_000
const HOURS = { '1h': 1, '6h': 6, '24h': 24, '7d': 168, '30d': 720, '90d': 2_160 } as const

/** The start of a list, as a time span before the moment of choosing. */
export const rangeFilter: Filter & { sends(range: string): Query } = {
  name: 'range',
  label: 'Time',
  values: [
    ['1h', 'last hour'],
    ['6h', 'last 6 hours'],
    ['24h', 'last 24 hours'],
    ['7d', 'last 7 days'],
    ['30d', 'last 30 days'],
    ['90d', 'last 90 days'],
  ],
  sends: (range) => {
    const hours = HOURS[range as keyof typeof HOURS] ?? HOURS['30d']
    return { from: new Date(Date.now() - hours * HOUR_MS).toISOString() }
  },
}

/** A range between two points in time. It overrides the time span. */
export const momentFilters: readonly Filter[] = [
  { name: 'from', label: 'From', kind: 'time' },
  { name: 'to', label: 'To', kind: 'time' },
]
