import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { routesOf, withId } from '../contract/matrix'
import { operatorSender } from '../operators/support'
import { ownPostgres } from '../run/postgres'
import { ownTime } from '../support/effort'
import { eventually } from '../support/eventually'
import { createPostgresDatabase } from '../support/store'
import { startTcpProxy } from '../support/tcp-proxy'
import { startUpstream } from '../support/upstream'
import { createWorld, type Person, type Reply, type World } from '../support/world'

const postgres = await ownPostgres().catch((error: Error) => ({ missing: `Postgres did not start: ${error.message}` }))
if ('missing' in postgres) process.stdout.write(`NOT RUN: a Postgres that is silent, because ${postgres.missing}\n`)

/** A silent database is told within it. */
const WITHIN_MS = 2_000
const AT_ONCE = 10
const ROUNDS = 5
const WRITERS = 12

const refusalOf = ({ status, body, headers }: Reply) => [status, body?.error?.code, headers.get('retry-after')]
/** Clients of the Messages API know errors by their type alone. */
const refused = (retryAfter: string, path = '') => [
  503,
  path.startsWith('/messages') ? undefined : 'storage_unavailable',
  retryAfter,
]

async function moneyOf({ app: { container, store } }: World, { userId }: Person) {
  expect(await container.billing.verify(store.read)).toEqual([])
  const { balance, held } = await container.billing.balance(store.read, `user:${userId}`)
  return { balance, held }
}

async function timed(request: Promise<Reply>): Promise<Reply & { tookMs: number }> {
  const startedAt = ownTime()
  return { ...(await request), tookMs: ownTime() - startedAt }
}

/** Each route once: which were refused for want of the database. All answer in time, and none is a 500. */
async function refusedRoutes(world: World, { send }: Person, retryAfter: string): Promise<number> {
  const routes = (await routesOf(world)).filter(({ name }) => name !== 'GET /health')
  let count = 0
  const late: string[] = []
  const id = crypto.randomUUID()
  const one = async ({ name, method, path, hasBody }: (typeof routes)[number]) => {
    const reply = await timed(send(method, withId(path, id), hasBody ? {} : undefined))
    if (reply.tookMs > WITHIN_MS) late.push(`${name}: ${reply.tookMs} ms`)
    // Some routes ask nothing of the database, or find first that what they need is not set up.
    if (reply.status < 500 || reply.body.error.code === 'voice_unavailable') return
    expect({ name, refusal: refusalOf(reply) }).toEqual({ name, refusal: refused(retryAfter, path) })
    count++
  }
  for (let at = 0; at < routes.length; at += AT_ONCE) await Promise.all(routes.slice(at, at + AT_ONCE).map(one))
  expect(late).toEqual([])
  return count
}

describe.skipIf('missing' in postgres)('a Postgres that is silent', () => {
  if ('missing' in postgres) return
  afterAll(postgres.stop)

  test('frozen: 503 within two seconds on every route, nothing done twice, and all is well when it comes back', async () => {
    const upstream = await startUpstream()
    afterAll(upstream.stop)
    const { url } = await createPostgresDatabase(postgres.url)
    const world = await createWorld({ config: { databaseUrl: url, engineBaseUrl: upstream.url } })
    const ada = await world.person({ cents: 1_000 })
    const streamed = ada.send('POST', 'completions', {
      prompt: 'across the silence [[held]]',
      mode: 'fast',
      stream: true,
    })
    await eventually(() => upstream.calls.length > 0)

    postgres.freeze()
    const key = { 'idempotency-key': 'through-the-silence' }
    const write = () => timed(ada.send('POST', 'keys', { name: 'one of many' }, key))
    const [first, ...others] = await Promise.all([
      write(),
      timed(ada.send('GET', 'usage')),
      timed(ada.send('GET', 'audit')),
    ])
    for (const reply of [first, ...others]) {
      expect(refusalOf(reply)).toEqual(refused('2'))
      expect(reply.tookMs).toBeLessThan(WITHIN_MS)
    }
    expect((await timed(ada.send('GET', 'health'))).body).toMatchObject({ status: 'down' })
    expect(await refusedRoutes(world, ada, '2')).toBeGreaterThan(30)
    const status = await timed(operatorSender(world)('GET', 'status'))
    expect(status.body).toMatchObject({ health: 'down', database: { ok: false, migrations_applied: null } })
    expect(status.tookMs).toBeLessThan(WITHIN_MS)
    upstream.release()
    expect((await streamed).text).toMatch(/event: error\ndata: .*"storage_unavailable"/)

    postgres.thaw()
    expect((await eventually(write, ({ status }) => status < 500)).status).toBe(201)
    const { keys } = (await ada.send('GET', 'keys')).body
    expect(keys.filter(({ name }: { name: string }) => name === 'one of many')).toHaveLength(1)
    expect((await ada.send('GET', 'health')).status).toBe(200)
    // The stream could not end its hold; the loop that gives such holds back runs in a server that listens.
    await world.app.container.billing.releaseAbandoned()
    expect(await moneyOf(world, ada)).toEqual({ balance: 1_000_000_000, held: 0 })
  }, 120_000)

  test.each(['halve', 'cut'] as const)(
    'after connections %s: told in two seconds, each write once, and no lock stays',
    async (how) => {
      const proxy = await startTcpProxy({ hostname: '127.0.0.1', port: Number(new URL(postgres.url).port) })
      const url = new URL((await createPostgresDatabase(postgres.url)).url)
      url.port = String(proxy.port)
      const world = await createWorld({ config: { databaseUrl: url.href } })
      const ada = await world.person({ cents: 100_000 })
      const late: string[] = []
      const refusals: unknown[] = []
      let n = 0
      const writer = async (round: number) => {
        const name = `${how}-${round}-${++n}`
        const asks = [
          () => ada.send('POST', 'keys', { name }, { 'idempotency-key': name }),
          () => ada.send('POST', 'completions', { prompt: `What is ${n}+2?` }, { 'idempotency-key': `call-${name}` }),
        ]
        for (const ask of asks) {
          const reply = await eventually(
            async () => {
              const reply = await timed(ask())
              if (reply.tookMs > WITHIN_MS) late.push(`${name}: ${reply.status} after ${reply.tookMs} ms`)
              if (reply.status >= 500) refusals.push(refusalOf(reply))
              return reply
            },
            ({ status }) => status !== 503 && status !== 409,
          )
          expect([200, 201]).toContain(reply.status)
        }
        return name
      }
      const names: string[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const writing = Array.from({ length: WRITERS }, () => writer(round))
        await Bun.sleep(round * 15)
        proxy[how]()
        if (how === 'cut') {
          await Bun.sleep(1_800)
          proxy.restore()
        }
        names.push(...(await Promise.all(writing)))
      }
      expect(late).toEqual([])
      expect(refusals.length).toBeGreaterThan(0)
      for (const refusal of refusals) expect(refusal).toEqual(refused('2'))
      const listed: string[] = []
      for (let cursor = ''; ; ) {
        const { body } = await ada.send('GET', `keys?limit=100${cursor}`)
        listed.push(...body.keys.map(({ name }: { name: string }) => name))
        if (!body.next_cursor) break
        cursor = `&cursor=${body.next_cursor}`
      }
      expect(listed.filter((name) => name.startsWith(how)).toSorted()).toEqual(names.toSorted())
      await world.app.container.billing.releaseAbandoned()
      expect((await moneyOf(world, ada)).held).toBe(0)
    },
    120_000,
  )
})

test('a locked SQLite file: reads continue, writes fail within two seconds, and everything works afterwards', async () => {
  const world = await createWorld({ config: { databaseUrl: '' } })
  const ada = await world.person({ cents: 1_000 })
  const other = new Database(join(world.folder, 'svc.db'))
  other.run('BEGIN IMMEDIATE')
  expect((await timed(ada.send('GET', 'keys'))).status).toBe(200)
  expect(await refusedRoutes(world, ada, '1')).toBeGreaterThan(0)
  const key = { 'idempotency-key': 'behind-the-lock' }
  const write = () => timed(ada.send('POST', 'keys', { name: 'one of many' }, key))
  expect(refusalOf(await write())).toEqual(refused('1'))
  other.run('ROLLBACK')
  other.close()
  expect((await eventually(write, ({ status }) => status < 500)).status).toBe(201)
  const { keys } = (await ada.send('GET', 'keys')).body
  expect(keys.filter(({ name }: { name: string }) => name === 'one of many')).toHaveLength(1)
  expect((await moneyOf(world, ada)).held).toBe(0)
}, 120_000)
