import { Link } from 'wouter'
import type { OperatorUsage } from '../../../../../operators/schema'
import type { Status } from '../../../../../operators/status-schema'
import { useGet, useOwner } from '../../shell/api'
import { DOCS } from '../../shell/boot'
import { Page } from '../../shell/page'
import { Bar, Chip } from '../../ui/controls'
import { Ago, duration, money, number, percent, plural } from '../../ui/format'
import { Shown } from '../../ui/states'

/** The part of the dashboard's topic that is shown here. */
type Facts = {
  status: Omit<Status, 'now'>
  traffic: { per_minute: number; recent: { p50: number | null; p95: number | null } }
  queue: { queued: number; active: number; failed: number }
  delivery: { failed?: number; waiting?: number }
  browser: { slots: number; active?: number }
  spend: { today_cents?: number; cost_cents?: number; owners: { owner: string | null; cost_cents: number }[] }
  needs: { kind: string; count: number; about: string; since: string | null }[]
  failing: string[]
}

const PLACES = {
  visitors: ['inbox', 'visitor', 'visitors', 'waiting for a person'],
  submissions: ['skills', 'submission', 'submissions', 'waiting for review'],
  webhooks: ['webhooks', 'endpoint', 'endpoints', 'switched off'],
  increases: ['platform?tab=limits', 'account', 'accounts', 'asking for a higher limit'],
} as const

const Tiles = ({ of }: { of: readonly (readonly [name: string, figure: string, more: string])[] }) => (
  <ul className="tiles">
    {of.map(([name, figure, more]) => (
      <li key={name} className="card figure">
        <span>{name}</span>
        <b>{figure}</b>
        <small>{more}</small>
      </li>
    ))}
  </ul>
)

/** How the server does, and what needs an operator. */
export function AllOverview() {
  const read = useGet<{ topics: { facts: Facts }[] }>('/snapshot', { topics: 'overview' }, { everyMs: 5_000 })
  return (
    <Page title="Overview" isBusy={read.isFetching && !read.isPending}>
      <Shown of={read} docs={DOCS}>
        {({ topics }) => {
          const { status, traffic, queue, spend, needs, failing } = topics[0]!.facts
          const { engines, nodes, database } = status
          const most = Math.max(...spend.owners.map(({ cost_cents }) => cost_cents), 0)
          return (
            <>
              <section className="card needs" aria-labelledby="needs">
                <h2 id="needs">Needs a person</h2>
                {needs.length === 0 && <p className="faint">Nothing needs you.</p>}
                <ul>
                  {needs.map(({ kind, count, about, since }) => {
                    const [place, one, many, what] = PLACES[kind as keyof typeof PLACES]
                    return (
                      <li key={kind}>
                        <Chip state="warn">now</Chip>
                        <Link href={`/all/${place}`}>
                          {plural(count, one, many)} {what}
                        </Link>
                        <small>
                          {about}
                          {since && (
                            <>
                              , <Ago at={since} />
                            </>
                          )}
                        </small>
                      </li>
                    )
                  })}
                </ul>
              </section>
              <Tiles
                of={[
                  ['Server', status.health, `${status.version}, ${plural(nodes.count, 'node')}`],
                  ['Requests', number(traffic.per_minute), 'per minute, all owners'],
                  [
                    'Latency p50',
                    duration(traffic.recent.p50 ?? 0),
                    `p95 ${duration(traffic.recent.p95 ?? 0)}, last minutes`,
                  ],
                  [
                    'Engines',
                    `${engines.connected}`,
                    engines.connected === 0 ? 'only the built-in one answers' : `connected, ${engines.failing} failing`,
                  ],
                  ['Jobs', `${queue.active}`, `running, ${queue.queued} waiting, ${queue.failed} failed in an hour`],
                  [
                    'Database',
                    database.ok ? duration(database.latency_ms ?? 0) : 'down',
                    `for an answer of ${database.dialect}`,
                  ],
                ]}
              />
              <section className="card shares" aria-labelledby="owners">
                <h2 id="owners">Spend today</h2>
                {spend.owners.length === 0 && <p className="faint">Nobody has spent anything today.</p>}
                <ol>
                  {spend.owners.map(({ owner, cost_cents }) => (
                    <li key={owner}>
                      <span>{owner ?? 'unknown'}</span>
                      <small />
                      <b>{money(cost_cents)}</b>
                      <Bar used={cost_cents} of={most} />
                    </li>
                  ))}
                </ol>
              </section>
              {failing.length > 0 && (
                <p className="notice warn">These did not answer and are shown as they were: {failing.join(', ')}.</p>
              )}
            </>
          )
        }}
      </Shown>
    </Page>
  )
}

/** What one owner used in 30 days, for an operator. */
export function OwnersOverview() {
  const owner = useOwner()
  const usage = useGet<OperatorUsage>('/usage')
  return (
    <Page title="Overview">
      <Shown of={usage} docs={DOCS}>
        {({ totals, by_mode, balance, spending, latency_ms, errors, cache }) => {
          const modes = Object.entries(by_mode).sort(([, a], [, b]) => b.cost_cents - a.cost_cents)
          const most = Math.max(...modes.map(([, { cost_cents }]) => cost_cents), 0)
          return (
            <>
              <Tiles
                of={[
                  ['Spend', money(totals.cost_cents), 'in 30 days'],
                  ['Requests', number(totals.requests), `${number(totals.total_tokens)} tokens`],
                  ['Latency p50', duration(latency_ms.p50 ?? 0), `p95 ${duration(latency_ms.p95 ?? 0)}`],
                  ['Failed', number(errors['5xx']), `${number(errors['4xx'])} refused`],
                  ['Cache', percent(cache.hit_rate), `${number(cache.hits)} answers`],
                  ['Balance', money(balance.balance_cents), `${money(spending.monthly_used_cents)} this month`],
                ]}
              />
              <section className="card shares" aria-labelledby="modes">
                <h2 id="modes">Modes</h2>
                {modes.length === 0 && <p className="faint">None in 30 days.</p>}
                <ol>
                  {modes.map(([mode, { requests, cost_cents }]) => (
                    <li key={mode}>
                      <span>{mode}</span>
                      <small>{number(requests)}</small>
                      <b>{money(cost_cents)}</b>
                      <Bar used={cost_cents} of={most} />
                    </li>
                  ))}
                </ol>
              </section>
              <p className="faint">
                <Link href={`/${owner.slug}/requests`}>All requests</Link>,{' '}
                <Link href={`/${owner.slug}/audit`}>what was recorded</Link>
              </p>
            </>
          )
        }}
      </Shown>
    </Page>
  )
}
