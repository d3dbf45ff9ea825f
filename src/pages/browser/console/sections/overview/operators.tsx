import { Link } from 'wouter'
import type { Status } from '../../../../../operators/status-schema'
import { useGet } from '../../shell/api'
import { Page } from '../../shell/page'
import { Bar, Chip } from '../../ui/controls'
import { Card, Figure, Lines } from '../../ui/facts'
import { Ago, duration, money, number, plural } from '../../ui/format'
import { Shown } from '../../ui/states'

/** The shown part of the dashboard's topic. */
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

/** State of the server, and items that need an operator. */
export default function AllOverview() {
  const read = useGet<{ topics: { facts: Facts }[] }>('/snapshot', { topics: 'overview' }, { everyMs: 5_000 })
  return (
    <Page title="Overview" isBusy={read.isFetching && !read.isPending}>
      <Shown of={read}>
        {({ topics }) => {
          const { status, traffic, queue, spend, needs, failing } = topics[0]!.facts
          const { engines, nodes, database } = status
          const most = Math.max(...spend.owners.map(({ cost_cents }) => cost_cents), 0)
          return (
            <>
              <Card title="Needs a person" className="needs">
                <Lines
                  of={needs}
                  empty="Nothing needs you."
                  line={({ kind, count, about, since }) => {
                    const [place, one, many, what] = PLACES[kind as keyof typeof PLACES]
                    return {
                      key: kind,
                      mark: <Chip state="warn">now</Chip>,
                      text: <Link href={`/all/${place}`}>{`${plural(count, one, many)} ${what}`}</Link>,
                      small: about,
                      end: since ? <Ago at={since} /> : <span />,
                    }
                  }}
                />
              </Card>
              <ul className="tiles">
                <Figure name="Server" figure={status.health}>
                  {status.version}, {plural(nodes.count, 'node')}
                </Figure>
                <Figure name="Requests" figure={number(traffic.per_minute)}>
                  per minute, all owners
                </Figure>
                <Figure name="Latency p50" figure={duration(traffic.recent.p50 ?? 0)}>
                  p95 {duration(traffic.recent.p95 ?? 0)}, last minutes
                </Figure>
                <Figure name="Engines" figure={`${engines.connected}`}>
                  {engines.connected === 0 ? 'only the built-in one answers' : `connected, ${engines.failing} failing`}
                </Figure>
                <Figure name="Jobs" figure={`${queue.active}`}>
                  running, {queue.queued} waiting, {queue.failed} failed in an hour
                </Figure>
                <Figure name="Database" figure={database.ok ? duration(database.latency_ms ?? 0) : 'down'}>
                  for an answer of {database.dialect}
                </Figure>
              </ul>
              <Card title="Spend today" className="shares">
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
              </Card>
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
