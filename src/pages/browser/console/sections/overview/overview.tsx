import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { UsageReport, UsageSeries } from '../../../../../usage/schema'
import { part, useGet, useOwner } from '../../shell/api'
import { DOCS } from '../../shell/boot'
import { useLive } from '../../shell/live'
import { Page } from '../../shell/page'
import { Bar, Chip, Choices } from '../../ui/controls'
import { useFilters } from '../../ui/filters'
import { duration, money, number, percent } from '../../ui/format'
import { Loading, Shown } from '../../ui/states'
import { Start } from './start'

const Chart = lazy(() => part(() => import('../../ui/chart')).then(({ Chart }) => ({ default: Chart })))

const RANGES = [
  { value: '24h', label: '24 h', days: 1 },
  { value: '7d', label: '7 d', days: 7 },
  { value: '30d', label: '30 d', days: 30 },
  { value: '90d', label: '90 d', days: 90 },
] as const
const GROUPS = [
  { value: 'mode', label: 'Mode' },
  { value: 'model', label: 'Engine' },
  { value: 'key', label: 'Key' },
  { value: 'skill', label: 'Skill' },
] as const
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** Under many changes the figures are read again at most this often. */
const AGAIN_MS = 10_000

type Need = { kind: string; severity: 'now' | 'soon'; text: string; section: string; id: string | null }

export default function Overview() {
  const { filters, set } = useFilters({ range: '7d', by: 'mode' })
  const { days } = RANGES.find(({ value }) => value === filters.range) ?? RANGES[1]
  const by = GROUPS.find(({ value }) => value === filters.by)?.value ?? 'mode'
  // To the hour, so that what is read again is the same question.
  const now = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS
  const period = { from: new Date(now - days * DAY_MS).toISOString(), to: new Date(now).toISOString() }
  const whole = useGet<UsageSeries>('/usage/series', { ...period, compare: 'previous' })
  const grouped = useGet<UsageSeries>('/usage/series', { ...period, group_by: by })
  const owner = useOwner()
  const calls = useGet<{ requests: unknown[] }>('/requests', { limit: 1 })
  const [isStart, setStart] = useState<boolean | null>(null)
  const client = useQueryClient()
  const readAt = useRef(0)
  useLive(days === 1 ? 'requests,needs' : 'needs', ({ topic }) => {
    if (topic === 'requests' && Date.now() - readAt.current < AGAIN_MS) return
    if (topic === 'requests') readAt.current = Date.now()
    const path = topic === 'needs' ? '/needs' : '/usage'
    void client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[1]).startsWith(path) })
  })
  // It stays until the reader leaves it, also when the first call was made meanwhile.
  if (isStart === null && calls.data) setStart(calls.data.requests.length === 0)
  if (isStart) {
    return (
      <Page title={`Welcome${owner.id ? ` to ${owner.name}` : ''}`}>
        <Start isCalled={(calls.data?.requests.length ?? 0) > 0} onDone={() => setStart(false)} />
      </Page>
    )
  }
  return (
    <Page
      title="Overview"
      isBusy={whole.isFetching && !whole.isPending}
      actions={<Choices label="Range" value={filters.range!} choices={RANGES} onChange={(range) => set({ range })} />}
    >
      <Needs />
      <Shown of={whole} docs={DOCS}>
        {(series) => <Figures series={series} />}
      </Shown>
      <div className="bar-of-choices">
        <Choices label="Split by" value={by} choices={GROUPS} onChange={(value) => set({ by: value })} />
      </div>
      <Shown of={grouped} docs={DOCS}>
        {(series) => (
          <Suspense fallback={<Loading rows={3} />}>
            <div className="columns">
              <Split title="Spend" of={series} figure="cost_cents" spell={money} />
              <Split title="Requests" of={series} figure="requests" spell={number} />
            </div>
            <Shares title={GROUPS.find(({ value }) => value === by)!.label} series={series} />
          </Suspense>
        )}
      </Shown>
      <Credit />
    </Page>
  )
}

/** What waits for a person, the most urgent first; each leads to where it is settled. */
function Needs() {
  const owner = useOwner()
  const { data } = useGet<{ needs: Need[] }>('/needs', {}, { everyMs: 60_000 })
  if (!data) return null
  return (
    <section className="card needs" aria-labelledby="needs">
      <h2 id="needs">Needs a person</h2>
      {data.needs.length === 0 && <p className="faint">Nothing needs you.</p>}
      <ul>
        {data.needs.map(({ kind, severity, text, section, id }) => (
          <li key={`${kind} ${id}`}>
            <Chip state={severity === 'now' ? 'warn' : 'wait'}>{severity}</Chip>
            <Link href={`/${owner.slug}/${section}${id ? `/${encodeURIComponent(id)}` : ''}`}>{text}</Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Against the same length of time before. */
const change = (now: number, before: number | null | undefined): string => {
  if (!before) return 'nothing before'
  const share = Math.round((100 * (now - before)) / before)
  return share === 0 ? 'as before' : `${share > 0 ? '+' : ''}${share} % against before`
}

function Figures({ series: { totals, previous_totals: before, buckets, series } }: { series: UsageSeries }) {
  const [requests, cost, failed] = [totals.requests ?? 0, totals.cost_cents ?? 0, totals.errors_5xx]
  const hits = totals.cache_hits ?? 0
  const tiles = [
    ['Spend', money(cost), change(cost, before?.cost_cents)],
    ['Requests', number(requests), change(requests, before?.requests)],
    [
      'Tokens',
      number(totals.total_tokens ?? 0),
      `${number(totals.prompt_tokens)} in, ${number(totals.completion_tokens)} out`,
    ],
    ['Latency p50', duration(totals.p50 ?? 0), `p95 ${duration(totals.p95 ?? 0)}`],
    ['Error rate', percent(requests ? failed / requests : 0), `${number(totals.errors_4xx)} refused`],
    ['Cache', percent(requests ? hits / requests : 0), `${money(totals.saved_cents ?? 0)} saved`],
  ]
  const [all] = series
  const line = (key: 'p50' | 'p95' | 'p99' | 'ttft_p95', label: string) => ({ key, label, values: all![key] })
  return (
    <>
      <ul className="tiles">
        {tiles.map(([name, figure, more]) => (
          <li key={name} className="card figure">
            <span>{name}</span>
            <b>{figure}</b>
            <small>{more}</small>
          </li>
        ))}
      </ul>
      <Suspense fallback={<Loading rows={3} />}>
        <div className="columns">
          <Chart
            title="Latency"
            times={buckets}
            spell={duration}
            series={[line('p50', 'p50'), line('p95', 'p95'), line('p99', 'p99'), line('ttft_p95', 'First token p95')]}
          />
          <Chart
            title="Errors and cache hits"
            times={buckets}
            spell={number}
            series={[
              { key: 'errors', label: 'Errors', values: all!.errors },
              { key: 'hits', label: 'Cache hits', values: all!.cache_hits },
            ]}
          />
        </div>
      </Suspense>
    </>
  )
}

type SplitProps = {
  title: string
  of: UsageSeries
  figure: 'cost_cents' | 'requests'
  spell(value: number): string
}

function Split({ title, of: { buckets, series, other }, figure, spell }: SplitProps) {
  const lines = [...series, ...(other ? [other] : [])]
  const shown = lines.map(({ key, label, ...figures }) => ({ key, label, values: figures[figure] }))
  return <Chart title={title} times={buckets} spell={spell} stacked series={shown} />
}

const sum = (values: readonly (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0)

function Shares({ title, series: { series, other } }: { title: string; series: UsageSeries }) {
  const rows = [...series, ...(other ? [other] : [])]
  const most = Math.max(...rows.map(({ cost_cents }) => sum(cost_cents)), 0)
  return (
    <section className="card shares" aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 && <p className="faint">None in this range.</p>}
      <ol>
        {rows.map(({ key, label, requests, cost_cents }) => (
          <li key={key}>
            <span>{label}</span>
            <small>{number(sum(requests))}</small>
            <b>{money(sum(cost_cents))}</b>
            <Bar used={sum(cost_cents)} of={most} />
          </li>
        ))}
      </ol>
    </section>
  )
}

function Credit() {
  const { data } = useGet<UsageReport>('/usage')
  if (!data) return null
  const { balance, spending } = data
  const facts = [
    ['Balance', balance.balance_cents],
    ['On hold', balance.reserved_cents],
    ['Spent this month', spending.monthly_used_cents],
  ] as const
  return (
    <section className="card credit" aria-labelledby="credit">
      <h2 id="credit">Credit</h2>
      <dl>
        {facts.map(([name, cents]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{money(cents)}</dd>
          </div>
        ))}
      </dl>
      {spending.monthly_cap_cents !== null && (
        <Bar
          used={spending.monthly_used_cents}
          of={spending.monthly_cap_cents}
          label={`${money(spending.monthly_used_cents)} of ${money(spending.monthly_cap_cents)} this month`}
        />
      )}
    </section>
  )
}
