import { describe, expect, test } from 'bun:test'
import { and, eq, isNull } from 'drizzle-orm'
import { createIdempotency, type Request } from '../../src/idempotency'
import { idempotencyKeys } from '../../src/idempotency/table'
import { UserId } from '../../src/kernel/ids'
import { fakeClock } from '../support/clock'
import { openTestStore } from '../support/store'
import { ticketOf as beginOn, requestOf, retryOf } from './support'

const store = await openTestStore()
const clock = fakeClock()
const masterKey = new Uint8Array(32).fill(7)
const service = createIdempotency({ store, clock, masterKey })
/** Another process on the same database. */
const faster = createIdempotency({ store, clock, masterKey })
const ticketOf = (request: Request, from = service) => beginOn(request, from)

describe('a request that carries a key', () => {
  test('of another user, or with another key, has its own row, even if two had one request id', async () => {
    const one = requestOf()
    const others = [
      { ...one, userId: UserId.create() },
      { ...one, key: 'order-2' },
    ]
    const ticket = await ticketOf(one)
    const tickets = await Promise.all(others.map((other) => ticketOf(other)))
    await store.write((tx) => ticket.keep(tx, { id: 1 }))
    const t = store.read.of(idempotencyKeys)
    const open = and(eq(t.request_id, one.requestId), isNull(t.status))
    // In a unit: on SQLite a claim is seen by readers with the next commit.
    const unanswered = () => store.write((tx) => tx.$count(t, open))
    expect(await unanswered()).toBe(2)
    await tickets[0]!.release()
    expect(await unanswered()).toBe(1)
    await tickets[1]!.release()
    expect(await unanswered()).toBe(0)
    expect(await service.begin(retryOf(one))).toMatchObject({ status: 201 })
  })

  test('that another process takes at the same moment waits for it, or gets what it answered', async () => {
    const request = requestOf()
    /** Another process is always a little faster than this one. */
    const slower = (faster: () => Promise<unknown>) => {
      const writeSoon: typeof store.writeSoon = async (unit) => {
        await faster()
        return store.writeSoon(unit)
      }
      return createIdempotency({ store: { ...store, writeSoon }, clock, masterKey })
    }
    let taken = 0
    const answers = async () => {
      if (taken++) return
      const ticket = await ticketOf(retryOf(request), faster)
      await store.write((tx) => ticket.keep(tx, { by: 'the other' }))
    }
    expect(await slower(answers).begin(retryOf(request))).toMatchObject({
      status: 201,
      body: expect.stringContaining('"by":"the other"'),
    })
    expect(taken).toBe(1)
  })

  test('that cannot be claimed and is not there either is refused after three tries', async () => {
    let tries = 0
    const writeSoon: typeof store.writeSoon = async () => {
      tries += 1
      return 0 as never
    }
    const unlucky = createIdempotency({ store: { ...store, writeSoon }, clock, masterKey })
    await expect(unlucky.begin(requestOf())).rejects.toMatchObject({
      code: 'idempotency_conflict',
      message: expect.stringContaining('has been running for 0 s'),
    })
    expect(tries).toBe(3)
  })
})

describe('the answer and its effect', () => {
  test.each([
    ['an object, with the id of its request', { id: 1 }, (id: string) => `{"id":1,"request_id":"${id}"}`],
    ['an object that names a request', { request_id: 'req_other' }, () => '{"request_id":"req_other"}'],
    ['a list', [1, 2], () => '[1,2]'],
    ['nothing', null, () => 'null'],
    ['a text', 'done', () => '"done"'],
  ])('are kept of a route that changes nothing: %s', async (_what, value, text) => {
    const request = requestOf()
    const { text: sent, keeping } = (await ticketOf(request)).keepAlone(value)
    await keeping
    expect(sent).toBe(text(request.requestId))
    expect(await service.begin(retryOf(request))).toEqual({ status: 201, body: sent })
  })

  test('are replayed for 24 hours, to the millisecond', async () => {
    const request = requestOf()
    const ticket = await ticketOf(request)
    await store.write((tx) => ticket.keep(tx, { id: 1 }))
    clock.advance(24 * 60 * 60_000 - 1)
    expect(await service.begin(retryOf(request))).toMatchObject({ status: 201 })
    clock.advance(1)
    await ticketOf(retryOf(request))
  })
})

test('what is stored is looked through from its newest on, a thousand answers of it', async () => {
  clock.advance(2 * 24 * 60 * 60_000)
  const newest = requestOf()
  const ticket = await ticketOf(newest)
  await store.write((tx) => ticket.keep(tx, {}))
  const t = store.read.of(idempotencyKeys)
  const [stored] = await store.read.select().from(t).where(eq(t.user_id, newest.userId))
  const row = { ...stored!, body: 'unreadable' }
  const older = Array.from({ length: 1_000 }, (_, index) => ({
    ...{ ...row, user_id: UserId.create(), expires_at: row.expires_at - 1 - index },
  }))
  await store.write((tx) => tx.insert(tx.of(idempotencyKeys)).values(older))
  expect(await service.verify(store.read)).toEqual([expect.stringMatching(/^999 of the 1000 newest answers/)])
  clock.advance(24 * 60 * 60_000)
  expect(await service.verify(store.read)).toEqual([])
})
