import { Database } from 'bun:sqlite'
import { SQL } from 'bun'
import type { Jobs } from '../../src/jobs'
import type { OwnerScope } from '../../src/kernel/caller'
import type { Store } from '../../src/kernel/store'
import type { WebhookId } from '../../src/webhooks/schema'

export type Hook = { id: WebhookId; owner: OwnerScope }
/** Where the database is: the file, or the address of the server's. */
export type Place = { dialect: 'sqlite'; path: string } | { dialect: 'postgres'; url: string }

type Input = {
  store: Store
  place: Place
  jobs: Pick<Jobs, 'ensure'>
  hooks: readonly Hook[]
  each: number
  now: number
}

let seeded = 0

/**
 * Has this many deliveries wait for each webhook, all due now, as if as many events had been published for it. Written
 * by the database itself, so that a million take seconds; no jobs may run meanwhile.
 */
export async function seedBacklog({ store, place, jobs, hooks, each, now }: Input): Promise<void> {
  const statements = hooks.flatMap((hook) => statementsOf(place.dialect, hook, each, now))
  if (place.dialect === 'sqlite') {
    const database = new Database(place.path)
    database.run('PRAGMA synchronous = OFF')
    database.run('PRAGMA cache_size = -400000')
    for (const statement of statements) database.run(statement)
    database.close()
  } else {
    const client = new SQL(place.url, { max: 1 })
    for (const statement of statements) await client.unsafe(statement)
    await client.unsafe('ANALYZE')
    await client.close()
  }
  for (const { id, owner } of hooks) {
    const job = { owner, payload: { id, owner }, uniqueKey: id, runAt: now }
    await store.write((tx) => jobs.ensure(tx, { name: 'webhooks.steady' }, job))
  }
}

function statementsOf(dialect: Place['dialect'], { id, owner }: Hook, each: number, now: number): string[] {
  const zeros = '0'.repeat(20)
  const digits = dialect === 'sqlite' ? `substr('${zeros}' || i, -20)` : `right('${zeros}' || i, 20)`
  const event = `'evt_' || ${digits} || 'seed'`
  const rows = (from: number) =>
    `WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${from + each})`
  seeded += each
  const from = seeded
  const created = new Date(now).toISOString()
  const rest = `","type":"order.created","created":"${created}","data":{"order":4711,"note":"${'x'.repeat(200)}"}}`
  return [
    `INSERT INTO bus_events (id, owner, type, envelope, source, depth, created_at) ${rows(from)}
     SELECT ${event}, '${owner}', 'order.created', '{"id":"' || ${event} || '${rest}', NULL, 0, ${now} FROM n`,
    `INSERT INTO webhook_outbox (webhook_id, event_id, event_type, attempt, due_at) ${rows(from)}
     SELECT '${id}', ${event}, 'order.created', 1, ${now} FROM n`,
  ]
}
