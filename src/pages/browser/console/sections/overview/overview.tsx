import { lazy, Suspense, useState } from 'react'
import type { UsageReport } from '../../../../../usage/schema'
import { useGet, useOwner } from '../../shell/api'
import { DOCS } from '../../shell/boot'
import { Page } from '../../shell/page'
import { Bar, Choices } from '../../ui/controls'
import { useFilters } from '../../ui/filters'
import { duration, money, number, percent } from '../../ui/format'
import { Loading, Shown } from '../../ui/states'
import { Start } from './start'

const Chart = lazy(() => import('../../ui/chart').then(({ Chart }) => ({ default: Chart })))

const RANGES = [
  { value: '24h', label: '24 h', days: 1 },
  { value: '7d', label: '7 d', days: 7 },
  { value: '30d', label: '30 d', days: 30 },
  { value: '90d', label: '90 d', days: 90 },
] as const
const DAY_MS = 86_400_000

export default function Overview() {
  const { filters, set } = useFilters({ range: '7d' })
  const { days } = RANGES.find(({ value }) => value === filters.range) ?? RANGES[1]
  // To the hour, so that what is read again is the same question.
  const now = Math.ceil(Date.now() / 3_600_000) * 3_600_000
  const from = new Date(now - days * DAY_MS).toISOString()
  const usage = useGet<UsageReport>('/usage', { from })
  const owner = useOwner()
  const calls = useGet<{ requests: unknown[] }>('/requests', { limit: 1 })
  const [isStart, setStart] = useState<boolean | null>(null)
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
      isBusy={usage.isFetching && !usage.isPending}
      actions={<Choices label="Range" value={filters.range!} choices={RANGES} onChange={(range) => set({ range })} />}
    >
      <Shown of={usage} docs={DOCS}>
        {(report) => <Report report={report} />}
      </Shown>
    </Page>
  )
}

function Report({ report }: { report: UsageReport }) {
  const { totals, latency_ms, cache, errors, balance, spending, by_model, by_mode, by_skill } = report
  const failed = errors['4xx'] + errors['5xx']
  const tiles = [
    ['Spend', money(totals.cost_cents), 'in this range'],
    ['Requests', number(totals.requests), `${number(failed)} failed`],
    [
      'Tokens',
      number(totals.total_tokens),
      `${number(totals.prompt_tokens)} in, ${number(totals.completion_tokens)} out`,
    ],
    ['Latency p50', duration(latency_ms.p50), `p95 ${duration(latency_ms.p95)}`],
    ['Error rate', percent(totals.requests ? errors['5xx'] / totals.requests : 0), `${number(errors['4xx'])} refused`],
    ['Cache', percent(cache.hit_rate), `${number(cache.hits)} answers from it`],
  ]
  const days = daysOf(report)
  const times = days.map(({ date }) => `${date}T00:00:00Z`)
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
            title="Spend"
            times={times}
            spell={money}
            stacked
            series={[{ key: 'cost', label: 'Spend', values: days.map((day) => day.cost_cents) }]}
          />
          <Chart
            title="Requests"
            times={times}
            spell={number}
            stacked
            series={[{ key: 'requests', label: 'Requests', values: days.map((day) => day.requests) }]}
          />
        </div>
      </Suspense>
      <div className="columns three">
        <Shares title="Engines" parts={by_model} />
        <Shares title="Modes" parts={by_mode} />
        <Shares title="Skills" parts={by_skill} />
      </div>
      <section className="card credit" aria-labelledby="credit">
        <h2 id="credit">Credit</h2>
        <dl>
          <div>
            <dt>Balance</dt>
            <dd>{money(balance.balance_cents)}</dd>
          </div>
          <div>
            <dt>On hold</dt>
            <dd>{money(balance.reserved_cents)}</dd>
          </div>
          <div>
            <dt>Spent this month</dt>
            <dd>{money(spending.monthly_used_cents)}</dd>
          </div>
        </dl>
        {spending.monthly_cap_cents !== null && (
          <Bar
            used={spending.monthly_used_cents}
            of={spending.monthly_cap_cents}
            label={`${money(spending.monthly_used_cents)} of ${money(spending.monthly_cap_cents)} this month`}
          />
        )}
      </section>
    </>
  )
}

/** Every day of the report; those without calls too. */
function daysOf({ period, by_day }: UsageReport): UsageReport['by_day'] {
  const last = Date.parse(period.to)
  const days: UsageReport['by_day'] = []
  for (let at = Math.floor(Date.parse(period.from) / DAY_MS) * DAY_MS; at < last; at += DAY_MS) {
    const date = new Date(at).toISOString().slice(0, 10)
    days.push(by_day.find((day) => day.date === date) ?? { date, requests: 0, total_tokens: 0, cost_cents: 0 })
  }
  return days
}

const MOST = 10

function Shares({ title, parts }: { title: string; parts: UsageReport['by_mode'] }) {
  const rows = Object.entries(parts)
    .sort(([, a], [, b]) => b.cost_cents - a.cost_cents || b.requests - a.requests)
    .slice(0, MOST)
  const most = Math.max(...rows.map(([, { cost_cents }]) => cost_cents), 0)
  return (
    <section className="card shares" aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 && <p className="faint">None in this range.</p>}
      <ol>
        {rows.map(([name, { requests, cost_cents }]) => (
          <li key={name}>
            <span>{name}</span>
            <small>{number(requests)}</small>
            <b>{money(cost_cents)}</b>
            <Bar used={cost_cents} of={most} />
          </li>
        ))}
      </ol>
    </section>
  )
}
