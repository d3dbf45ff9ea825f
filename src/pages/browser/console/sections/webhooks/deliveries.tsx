import { useCallback, useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import type { Delivery, Webhook } from '../../../../../webhooks/schema'
import { useMay, usePages } from '../../shell/api'
import type { DetailOf } from '../../shell/detail'
import { Marked } from '../../shell/marks'
import { type ListFilter, momentFilters, rangeFilter, useFilterQuery } from '../../shell/range'
import { chipColumn, column, durationColumn, timeColumn } from '../../ui/columns'
import { FilterBar, useFilters } from '../../ui/filters'
import { clock, dayOf, plural, sum } from '../../ui/format'
import { Histogram } from '../../ui/histogram'
import { More, Shown } from '../../ui/states'
import { Table } from '../../ui/table'
import { DeliveryDialog, problemOf } from './delivery'
import { EVENTS } from './endpoint'

const COLUMNS = [
  timeColumn<Delivery>('time', 'Time', ({ created_at }) => created_at, { width: '128px' }),
  column<Delivery>('event_type', 'Event', { main: true, width: 'minmax(112px, 1.4fr)' }),
  chipColumn<Delivery>('status', 'Status', ({ status }) =>
    status === 'success' ? ['good', 'delivered'] : ['bad', 'failed'],
  ),
  column<Delivery>('http_status', 'HTTP', { number: true, width: '44px' }),
  column<Delivery>('problem', 'Problem', { cell: (row) => problemOf(row) ?? 'none' }),
  column<Delivery>('attempt', 'Try', { number: true, width: '32px' }),
  durationColumn<Delivery>('took', 'Took', ({ duration_ms }) => duration_ms, { width: '68px' }),
  timeColumn<Delivery>('next', 'Next try', ({ next_retry_at }) => next_retry_at, { width: '96px', main: false }),
]

const FILTERS: readonly ListFilter<Delivery>[] = [
  { name: 'status', label: 'Status', values: { failed: '✗ failed', success: '✓ delivered' } },
  { name: 'event_type', label: 'Event', values: EVENTS.map(([name]) => name) },
  rangeFilter,
  { name: 'event_id', label: 'Event id' },
  ...momentFilters,
]

const BARS = 48

type OutcomesProps = { rows: readonly Delivery[]; isPart: boolean; onRange(from: string, to: string): void }

/** The listed attempts over time, by their outcome. The newest is the first. */
function Outcomes({ rows, isPart, onRange }: OutcomesProps) {
  const times = rows.map(({ created_at }) => Date.parse(created_at))
  const [begun, last] = [times.at(-1)!, times[0]!]
  const step = Math.max(1_000, Math.ceil((last + 1 - begun) / BARS))
  const bars = Array.from({ length: BARS }, (_, n) => ({
    at: new Date(begun + n * step).toISOString(),
    ...{ many: 0, failed: 0 },
  }))
  for (const [n, { status }] of rows.entries()) {
    const bar = bars[Math.floor((times[n]! - begun) / step)]!
    bar.many += 1
    if (status === 'failed') bar.failed += 1
  }
  const spell = (many: number, failed: number) => `${plural(many, 'attempt')}, ${failed} failed`
  return (
    <Histogram
      label={`${isPart ? 'Newest ' : ''}${spell(rows.length, sum(bars.map(({ failed }) => failed)))}`}
      buckets={bars}
      spell={({ at, many, failed }) => `${dayOf(at)}, ${clock.format(new Date(at))}: ${spell(many, failed)}`}
      onRange={(from, to) => onRange(bars[from]!.at, new Date(begun + (to + 1) * step).toISOString())}
    />
  )
}

/** The attempts to deliver to an endpoint: a chart by outcome, and rows that can be marked and sent again together. */
export function DeliveryList({ webhook }: { webhook: Webhook }) {
  const path = `/webhooks/${webhook.id}/deliveries`
  const may = useMay('manageWebhooks')
  const { filters, set } = useFilters()
  const [at] = useLocation()
  const search = useSearch()
  const query = useFilterQuery(FILTERS, filters)
  const pages = usePages<Delivery>(path, 'deliveries', query, 5_000)
  const [marks, setMarks] = useState<ReadonlySet<string>>(new Set())
  const mark = useCallback((id: string) => setMarks((before) => before.symmetricDifference(new Set([id]))), [])
  const detail: DetailOf<Delivery> = {
    titleOf: ({ event_type }) => event_type,
    actions: ({ id, status }) => ({
      permission: 'manageWebhooks',
      actions: [status === 'failed' && { label: 'Send again', path: `${path}/${id}/retry` }],
    }),
  }
  const linkOf = ({ id }: Delivery) =>
    `${at}?${new URLSearchParams([...new URLSearchParams(search), ['delivery', id]])}`
  const isFiltered = FILTERS.some(({ name }) => filters[name])
  const clear = () => set(Object.fromEntries(FILTERS.map(({ name }) => [name, ''])))
  return (
    <>
      <Shown of={{ ...pages, data: pages.rows }} rows={3}>
        {(rows) => {
          const marked = rows.filter(({ id }) => marks.has(id))
          return (
            <>
              {(rows.length > 0 || isFiltered) && (
                <FilterBar filters={FILTERS} values={filters} onChange={set} onClear={clear} />
              )}
              {rows.length === 0 && (
                <p className="faint">{isFiltered ? 'None matches.' : 'No deliveries yet. Send a test.'}</p>
              )}
              {rows.length > 1 && (
                <Outcomes rows={rows} isPart={pages.hasNextPage} onRange={(from, to) => set({ range: '', from, to })} />
              )}
              {marked.length > 0 && (
                <Marked rows={marked} detail={detail} list="/webhooks" onClear={() => setMarks(new Set())} />
              )}
              {rows.length > 0 && (
                <Table
                  label="Deliveries"
                  columns={COLUMNS}
                  rows={rows}
                  idOf={({ id }) => id}
                  linkOf={linkOf}
                  open={filters.delivery}
                  active={-1}
                  isWhole
                  {...(may ? { marks, onMark: mark } : {})}
                />
              )}
              <More pages={pages} />
            </>
          )
        }}
      </Shown>
      {filters.delivery && (
        <DeliveryDialog webhook={webhook} id={filters.delivery} may={may} onClose={() => set({ delivery: '' })} />
      )}
    </>
  )
}
