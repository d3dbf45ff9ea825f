import { afterAll, describe, expect, test } from 'bun:test'
import { routesOf, withId } from '../contract/matrix'
import { operatorSender } from '../operators/support'
import { ownPostgres } from '../run/postgres'
import { eventually } from '../support/eventually'
import { createWorld, type Person, type Reply, type World } from '../support/world'

const postgres = await ownPostgres().catch((error: Error) => ({ missing: `Postgres did not start: ${error.message}` }))
if ('missing' in postgres) process.stdout.write(`NOT RUN: a Postgres that goes away, because ${postgres.missing}\n`)

const CALLERS = 8
const ANSWERS = 40

/** The routes that every caller asks in turn: reads, writes, money, and a write under a key. */
const ACTS: ((person: Person, n: number) => Promise<Reply>)[] = [
  ({ send }) => send('GET', 'conversations'),
  ({ send }, n) => send('POST', 'completions', { prompt: `What is ${n}+2?` }),
  ({ send }) => send('GET', 'usage'),
  ({ send }, n) => send('POST', 'keys', { name: `key ${n}` }, { 'idempotency-key': `away-${n}` }),
  ({ send }, n) => send('PATCH', 'settings', { timezone: n % 2 ? 'UTC' : 'Europe/Berlin' }),
  ({ send }) => send('GET', 'audit'),
]

describe.skipIf('missing' in postgres)('a Postgres that goes away', () => {
  if ('missing' in postgres) return
  afterAll(postgres.stop)
  let world: World
  let ada: Person

  test('under load: 503 on every route, never 500; health says so; all recovers by itself', async () => {
    world = await createWorld({ config: { databaseUrl: postgres.url } })
    ada = await world.person({ cents: 1_000_000 })
    const session = await world.signedIn(ada)
    expect((await ada.send('GET', 'health')).body.infrastructure.database.status).toBe('healthy')
    const replies: Reply[] = []
    let crashed = false
    let n = 0
    const caller = async () => {
      while (replies.filter(({ status }) => status === 503).length < CALLERS * ANSWERS || !crashed) {
        const at = n++
        replies.push(await ACTS[at % ACTS.length]!(ada, at))
      }
    }
    const load = Promise.all(Array.from({ length: CALLERS }, caller))
    await eventually(() => replies.length > CALLERS * ACTS.length)
    await postgres.crash()
    crashed = true
    await load
    expect(replies.filter(({ status }) => ![200, 201, 503].includes(status)).map(({ text }) => text)).toEqual([])
    for (const { body, headers } of replies.filter(({ status }) => status === 503)) {
      expect(body.error.code).toBe('storage_unavailable')
      expect(headers.get('retry-after')).toBe('2')
    }
    expect((await ada.send('GET', 'health')).body).toMatchObject({
      status: 'down',
      infrastructure: { database: { status: 'down' } },
    })
    const refused = new Set<string>()
    const warned = world.logged.filter((line) => line.includes('"storage_unavailable"') && line.includes('"error"'))
    expect(warned.length).toBeGreaterThan(0)
    const id = crypto.randomUUID()
    for (const { name, method, path, hasBody } of await routesOf(world)) {
      if (name === 'GET /health') continue
      const { status, headers, body } = await ada.send(method, withId(path, id), hasBody ? {} : undefined)
      if (status < 500) continue
      expect({ name, status, code: body.error.code, retryAfter: headers.get('retry-after') }).toEqual({
        name,
        status: 503,
        // Clients of the Messages API know errors by their type alone.
        code: path.startsWith('/messages') ? undefined : 'storage_unavailable',
        retryAfter: '2',
      })
      refused.add(name)
    }
    expect(refused.size).toBeGreaterThan(30)
    // Nobody is sent to the sign-in page as if they had been signed out.
    const cookie = { cookie: `svc_session=${session.key}` }
    for (const page of ['/console', '/console/inbox/events']) {
      const { status, headers } = await world.send('GET', page, undefined, cookie)
      expect({ page, status, retryAfter: headers.get('retry-after') }).toEqual({ page, status: 503, retryAfter: '2' })
    }
    const { status, body } = await operatorSender(world)('GET', 'status')
    expect({ status, health: body.health, database: body.database }).toMatchObject({
      status: 200,
      health: 'down',
      database: { ok: false, migrations_applied: null },
    })

    await postgres.start()
    await eventually(async () => (await ada.send('GET', 'health')).status === 200)
    for (const [at, act] of ACTS.entries()) expect([200, 201]).toContain((await act(ada, 1_000_000 + at)).status)
  }, 120_000)
})
