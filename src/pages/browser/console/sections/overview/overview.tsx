import { X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { SeriesTotals, UsageReport, UsageSeries } from '../../../../../usage/schema'
import type { Need } from '../../../../routes-live'
import { readAgain, useGet, useOwner } from '../../shell/api'
import { boot } from '../../shell/boot'
import { Chart, SplitChart } from '../../shell/charts'
import { type LiveEvent, useLive } from '../../shell/live'
import { Page } from '../../shell/page'
import { Bar, Button, Chip, Choices } from '../../ui/controls'
import { Card, Facts, Figure, Lines } from '../../ui/facts'
import { useFilters } from '../../ui/filters'
import { duration, money, number, percent, plural, sum, Time } from '../../ui/format'
import { Shown } from '../../ui/states'
import { Start } from './start'

const RANGES = [
  { value: '24h', label: '24 h', days: 1 },
  { value: '7d', label: '7 d', days: 7 },
  { value: '30d', label: '30 d', days: 30 },
  { value: '90d', label: '90 d', days: 90 },
] as const
/** Groupings of the figures, each with the filter that selects one part. */
const GROUPS = [
  { value: 'mode', label: 'Mode', filter: 'mode' },
  { value: 'model', label: 'Engine', filter: 'model' },
  { value: 'key', label: 'Key', filter: 'key_id' },
  { value: 'user', label: 'Person', filter: 'user_id' },
  { value: 'skill', label: 'Skill', filter: 'skill' },
] as const
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const FIGURES_MS = 2_100

export default function Overview() {
  const { filters, set } = useFilters({ range: '7d', by: 'mode' })
  const { days } = RANGES.find(({ value }) => value === filters.range) ?? RANGES[1]
  const owner = useOwner()
  const groups = owner.id ? GROUPS : GROUPS.filter(({ value }) => value !== 'user')
  const by = groups.find(({ value }) => value === filters.by)?.value ?? 'mode'
  // Rounded to the hour, so that repeated reads use the same query.
  const now = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS
  const { from = new Date(now - days * DAY_MS).toISOString(), to = new Date(now).toISOString() } = filters
  const only = Object.fromEntries(GROUPS.flatMap(({ filter }) => (filters[filter] ? [[filter, filters[filter]]] : [])))
  const period = { from, to, ...only }
  const zoned = { ...period, timezone: boot.timezone }
  const whole = useGet<UsageSeries>('/usage/series', { ...zoned, compare: 'previous' })
  const grouped = useGet<UsageSeries>('/usage/series', { ...zoned, group_by: by, top: 10 })
  const zoom = (from: string, to: string) => set({ from, to })
  const isOperators = owner.looksAt !== undefined
  const calls = useGet<{ requests: unknown[] }>('/requests', { limit: 1 }, { off: isOperators })
  const [isStart, setStart] = useState<boolean | null>(null)
  // All pages hear of new figures within the same second. Read a little later, they share the server's answer.
  const news = ({ topic }: LiveEvent) => setTimeout(() => readAgain([`/${topic}`]), topic === 'usage' ? FIGURES_MS : 0)
  useLive(days === 1 && !filters.from ? 'usage,needs' : 'needs', news, { off: isOperators })
  // The first steps stay until the reader leaves them, even after the first call.
  if (isStart === null && calls.data) setStart(calls.data.requests.length === 0)
  if (isStart) {
    return (
      <Page title={`Welcome${owner.id ? ` to ${owner.name}` : ''}`}>
        <Needs isQuiet />
        <Start isCalled={(calls.data?.requests.length ?? 0) > 0} onDone={() => setStart(false)} />
      </Page>
    )
  }
  return (
    <Page
      title="Overview"
      isBusy={whole.isFetching && !whole.isPending}
      actions={
        <>
          <span className="faint">{boot.timezone.replaceAll('_', ' ')} time</span>
          <Choices
            label="Range"
            value={filters.from ? '' : filters.range!}
            choices={RANGES}
            onChange={(range) => set({ range, from: '', to: '' })}
          />
        </>
      }
    >
      {!isOperators && <Needs />}
      <div className="only">
        {filters.from && (
          <Button kind="plain" onClick={() => set({ from: '', to: '' })} icon={X}>
            <Time at={from} /> to <Time at={to} />
          </Button>
        )}
        {GROUPS.filter(({ filter }) => filters[filter]).map(({ label, filter }) => (
          <Button key={filter} kind="plain" onClick={() => set({ [filter]: '' })} icon={X}>
            {label}: {filters[filter]}
          </Button>
        ))}
      </div>
      <Shown of={whole}>
        {(series) => (
          <>
            <Figures series={series} period={period} onRange={zoom}>
              <div className="actions bar-of-choices">
                <span className="faint">Split by</span>
                <Choices label="Split by" value={by} choices={groups} onChange={(value) => set({ by: value })} />
              </div>
              <Shown of={grouped}>
                {(split) => (
                  <>
                    <div className="columns">
                      <SplitChart title="Spend" of={split} figure="cost_cents" spell={money} onRange={zoom} />
                      <SplitChart title="Requests" of={split} figure="requests" spell={number} onRange={zoom} />
                    </div>
                    <Shares
                      title={GROUPS.find(({ value }) => value === by)!.label}
                      series={split}
                      onOnly={(key) => set({ [GROUPS.find(({ value }) => value === by)!.filter]: key })}
                    />
                  </>
                )}
              </Shown>
            </Figures>
            <Credit />
          </>
        )}
      </Shown>
    </Page>
  )
}

/** Items that wait for a person, most urgent first, each with a link to its page. Empty if nothing waits. */
function Needs({ isQuiet }: { isQuiet?: boolean }) {
  const owner = useOwner()
  const { data } = useGet<{ needs: Need[] }>('/needs', {}, { everyMs: 60_000 })
  if (isQuiet && !data?.needs.length) return null
  return (
    <Card title="Needs a person" className="needs">
      <Lines
        of={data?.needs ?? []}
        empty={data ? 'Nothing needs you.' : 'Looking…'}
        line={({ kind, severity, text, section, id }) => ({
          key: `${kind} ${id}`,
          mark: <Chip state={severity === 'now' ? 'warn' : 'wait'}>{severity}</Chip>,
          text: <Link href={`/${owner.slug}/${section}${id ? `/${encodeURIComponent(id)}` : ''}`}>{text}</Link>,
        })}
      />
    </Card>
  )
}

/** Change compared with the previous period of the same length. */
function change(now: number | null, before: number | null | undefined): string {
  if (now === null || !before) return 'none before'
  if (now >= 10 * before) return `↑ ${number(Math.round(now / before))} times as much as before`
  const share = Math.round((100 * (now - before)) / before)
  return share === 0 ? 'as before' : `${share > 0 ? '↑' : '↓'} ${number(Math.abs(share))} % from before`
}

type Of = (totals: SeriesTotals) => number | null
const shareOf = (part: number | null, { requests }: SeriesTotals) => (requests ? (part ?? 0) / requests : 0)
const failuresOf = (totals: SeriesTotals) => shareOf(totals.errors_5xx, totals)

type FiguresProps = {
  series: UsageSeries
  period: Record<string, string>
  onRange(from: string, to: string): void
  /** Content between the figures and the quality of the answers. */
  children: ReactNode
}

function Figures({ series: found, period, onRange, children }: FiguresProps) {
  const { totals, previous_totals: before, buckets, series } = found
  const owner = useOwner()
  const first = totals.ttft_p95 ? `, first token ${duration(totals.ttft_p95)}` : ''
  const tiles: readonly [string, figure: string, more: string | null, of: Of, filter?: Record<string, string>][] = [
    ['Spend', money(totals.cost_cents ?? 0), null, (of) => of.cost_cents],
    ['Requests', number(totals.requests ?? 0), null, (of) => of.requests],
    [
      'Tokens',
      number(totals.total_tokens ?? 0),
      `${number(totals.prompt_tokens)} in, ${number(totals.completion_tokens)} out`,
      (of) => of.total_tokens,
    ],
    ['Latency p50', duration(totals.p50 ?? 0), `p95 ${duration(totals.p95 ?? 0)}${first}`, (of) => of.p50],
    ['Error rate', percent(failuresOf(totals)), `${number(totals.errors_4xx)} refused`, failuresOf, { status: '5xx' }],
    [
      'Saved by cache',
      money(totals.saved_cents ?? 0),
      `${percent(shareOf(totals.cache_hits, totals))} of requests`,
      (of) => of.saved_cents,
      { cached: 'true' },
    ],
  ]
  const [all] = series
  const line = (key: 'p50' | 'p95' | 'p99' | 'ttft_p95' | 'errors' | 'cache_hits', label: string) => ({
    key,
    label,
    values: all![key],
  })
  return (
    <>
      <ul className="tiles">
        {tiles.map(([name, figure, more, of, filter]) => (
          <Figure
            key={name}
            name={<Link href={`/${owner.slug}/requests?${new URLSearchParams({ ...period, ...filter })}`}>{name}</Link>}
            figure={figure}
          >
            {more && <span>{more}</span>}
            <span>{change(of(totals), before && of(before))}</span>
          </Figure>
        ))}
      </ul>
      {children}
      <div className="columns">
        <Chart
          title="Latency"
          times={buckets}
          onRange={onRange}
          spell={duration}
          series={[line('p50', 'p50'), line('p95', 'p95'), line('p99', 'p99'), line('ttft_p95', 'First token p95')]}
        />
        <Chart
          title="Errors and cache hits"
          times={buckets}
          onRange={onRange}
          spell={number}
          series={[line('errors', 'Errors'), line('cache_hits', 'Cache hits')]}
        />
      </div>
    </>
  )
}

type SharesProps = { title: string; series: UsageSeries; onOnly(key: string): void }

/** Cost of each part. Choosing one restricts the whole page to it. */
function Shares({ title, series: { series, other, totals }, onOnly }: SharesProps) {
  const rows = [...series, ...(other ? [other] : [])]
  const most = Math.max(...rows.map(({ cost_cents }) => sum(cost_cents)), 0)
  return (
    <section className="card shares" aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 && <p className="faint">None in this range.</p>}
      <ol>
        {rows.map(({ key, label, requests, cost_cents }) => (
          <li key={key}>
            {key !== 'none' && key !== other?.key ? (
              <button type="button" className="link" onClick={() => onOnly(key)}>
                {label}
              </button>
            ) : (
              <span>{label}</span>
            )}
            <small>{plural(sum(requests), 'request')}</small>
            <b>
              {money(sum(cost_cents))}{' '}
              <small>{totals.cost_cents ? percent(sum(cost_cents) / totals.cost_cents) : ''}</small>
            </b>
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
  const dayOfMonth = new Date().getUTCDate()
  const pace = spending.monthly_used_cents / dayOfMonth
  const lasts = pace > 0 ? plural(Math.floor(balance.balance_cents / pace), 'day') : 'nothing is spent'
  return (
    <Card title="Credit" className="credit">
      <Facts
        of={{
          Balance: money(balance.balance_cents),
          'On hold': money(balance.reserved_cents),
          'Spent this month': money(spending.monthly_used_cents),
          'Lasts at this pace': lasts,
        }}
      />
      {spending.monthly_cap_cents !== null && (
        <Bar
          used={spending.monthly_used_cents}
          of={spending.monthly_cap_cents}
          label={`${money(spending.monthly_used_cents)} of ${money(spending.monthly_cap_cents)} this month`}
        />
      )}
    </Card>
  )
}
