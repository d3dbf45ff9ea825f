import { describe, expect, test } from 'bun:test'
import { createIdempotency, fingerprintOf, type Replay, type Request } from '../../src/idempotency'
import { idempotencyKeys } from '../../src/idempotency/table'
import type { TenantCaller } from '../../src/kernel/caller'
import { KeyId, OrgId } from '../../src/kernel/ids'
import { inBatches } from '../../src/kernel/loop'
import { keyCaller, sessionCaller } from '../support/callers'
import { fakeClock } from '../support/clock'
import { openTestStore } from '../support/store'
import { ticketOf as beginOn, requestOf, retryOf } from './support'

const store = await openTestStore()
const clock = fakeClock()
const masterKey = new Uint8Array(32).fill(7)
/** Two processes on one database; on SQLite the second is the one that comes after the first. */
const service = createIdempotency({ store, clock, masterKey })
const later = createIdempotency({ store, clock, masterKey })

const LEASE_MS = 2_000
const ticketOf = (request: Request, from = service) => beginOn(request, from)
const rowOf = async ({ userId }: Request) => {
  const t = store.read.of(idempotencyKeys)
  return (await store.read.select().from(t)).find(({ user_id }) => user_id === userId)
}

describe('a request that carries a key', () => {
  test('runs once; the retry gets what was kept', async () => {
    const request = requestOf()
    const ticket = await ticketOf(request)
    expect(ticket.answered()).toBeNull()
    await store.write((tx) => ticket.keep(tx, { id: 1, name: 'é\u2028' }))
    const text = `{"id":1,"name":"é\u2028","request_id":"${request.requestId}"}`
    expect(ticket.answered()).toBe(text)
    expect(await service.begin(retryOf(request))).toEqual({ status: 201, body: text } satisfies Replay)
    expect(await later.begin(retryOf(request))).toEqual({ status: 201, body: text } satisfies Replay)
  })

  test('is refused while the first one runs, and free again when that one fails', async () => {
    const request = requestOf()
    const ticket = await ticketOf(request)
    clock.advance(3_000)
    await expect(service.begin(retryOf(request))).rejects.toMatchObject({
      code: 'idempotency_conflict',
      message:
        'A request with Idempotency-Key "order-1" has been running for 3 s. Wait for it; the same request then gets its answer with X-Idempotent-Replay: true.',
    })
    await ticket.release()
    expect(await rowOf(request)).toBeUndefined()
    await ticketOf(retryOf(request))
  })

  test('is refused for another request than the key was used for, running or answered', async () => {
    const request = requestOf()
    const other = { ...retryOf(request), fingerprint: 'g' }
    const ticket = await ticketOf(request)
    const refusal = { code: 'idempotency_conflict', message: expect.stringContaining('another method, path or body') }
    await expect(service.begin(other)).rejects.toMatchObject(refusal)
    await store.write((tx) => ticket.keep(tx, {}))
    await expect(service.begin(other)).rejects.toMatchObject(refusal)
  })

  test('of twenty at once, one runs', async () => {
    const request = requestOf()
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => service.begin(retryOf(request))))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('of two processes at once, one runs', async () => {
    if (store.dialect === 'sqlite') return expectSoleOwner()
    const request = requestOf()
    const outcomes = await Promise.allSettled([service.begin(retryOf(request)), later.begin(retryOf(request))])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('of another user with the same key is another request', async () => {
    await ticketOf(requestOf({ key: 'shared' }))
    await ticketOf(requestOf({ key: 'shared' }))
  })

  test.each(['', 'a b', 'a/b', 'ключ', 'k1, k2', '"k"', 'a'.repeat(257)])(
    'is refused with the key %j (H1)',
    async (key) => {
      await expect(service.begin(requestOf({ key }))).rejects.toMatchObject({ code: 'validation_error' })
    },
  )

  test('may have a key of 256 characters, every sign of the alphabet among them (H2)', async () => {
    const key = 'AZaz09-_.:'.padEnd(256, 'x')
    await ticketOf(requestOf({ key }))
  })
})

describe('the answer and its effect', () => {
  test('are both undone when the unit of work fails', async () => {
    const request = requestOf()
    const ticket = await ticketOf(request)
    const failing = store.write(async (tx) => {
      await ticket.keep(tx, { id: 1 })
      throw new Error('after the answer')
    })
    await expect(failing).rejects.toThrow('after the answer')
    expect(ticket.answered()).toBeNull()
    expect(await rowOf(request)).toMatchObject({ status: null, body: null })
    await ticket.release()
    await ticketOf(retryOf(request))
  })

  test('stay when the request fails after them: giving back a key that has an answer does nothing', async () => {
    const request = requestOf()
    let writes = 0
    const writeSoon: typeof store.writeSoon = (unit) => {
      writes += 1
      return store.writeSoon(unit)
    }
    const counting = createIdempotency({ store: { ...store, writeSoon }, clock, masterKey })
    const ticket = await ticketOf(request, counting)
    await store.write((tx) => ticket.keep(tx, { id: 1 }))
    await ticket.release()
    expect(writes).toBe(1)
    expect(await service.begin(retryOf(request))).toMatchObject({ status: 201 })
  })

  test('never come from a request whose key was taken over: its unit of work is undone', async () => {
    const request = requestOf()
    const slow = await ticketOf(request)
    clock.advance(LEASE_MS)
    const heir = await ticketOf(retryOf(request), later)
    await expect(store.write((tx) => slow.keep(tx, { id: 1 }))).rejects.toMatchObject({ code: 'idempotency_conflict' })
    await slow.release()
    await store.write((tx) => heir.keep(tx, { id: 2 }))
    expect(heir.answered()).toContain('"id":2')
  })
})

describe('a process that died in the middle', () => {
  test('blocks nobody for longer than its lease (I11)', async () => {
    const request = requestOf()
    await ticketOf(request)
    if (store.dialect === 'postgres') {
      clock.advance(LEASE_MS - 1)
      await expect(later.begin(retryOf(request))).rejects.toMatchObject({ code: 'idempotency_conflict' })
      clock.advance(1)
    }
    await ticketOf(retryOf(request), later)
  })

  test('keeps nobody waiting when the clock was put back a day meanwhile', async () => {
    if (store.dialect === 'postgres') return
    const request = requestOf()
    await ticketOf(request)
    clock.advance(-24 * 60 * 60_000)
    await ticketOf(retryOf(request), later)
    clock.advance(24 * 60 * 60_000)
  })

  test('is told from one that is slow: leases of what runs are renewed', async () => {
    if (store.dialect === 'sqlite') return expectSoleOwner()
    const request = requestOf()
    await ticketOf(request)
    for (let round = 0; round < 4; round++) {
      clock.advance(LEASE_MS / 2)
      expect(await service.renewLeases()).toBeGreaterThan(0)
    }
    await expect(later.begin(retryOf(request))).rejects.toMatchObject({ code: 'idempotency_conflict' })
  })
})

/** One process has the folder of an SQLite database; there is no second one to be told apart from. */
function expectSoleOwner(): void {
  expect(store.dialect).toBe('sqlite')
}

describe('what is stored', () => {
  test('cannot be read without the master key, nor moved to another row', async () => {
    const request = requestOf()
    const ticket = await ticketOf(request)
    await store.write((tx) => ticket.keep(tx, { key: 'svc_sk_live_secret' }))
    expect(JSON.stringify(await rowOf(request))).not.toContain('secret')
    const stranger = createIdempotency({ store, clock, masterKey: new Uint8Array(32).fill(8) })
    await expect(stranger.begin(retryOf(request))).rejects.toThrow()
    expect(await stranger.verify(store.read)).toEqual([
      expect.stringContaining('cannot be decrypted with secrets.json'),
    ])
    expect(await service.verify(store.read)).toEqual([])
  })

  test('is forgotten after a day, in batches', async () => {
    const ended = [requestOf(), requestOf(), requestOf()]
    clock.advance(24 * 60 * 60_000)
    await inBatches(service.removeExpired)
    for (const request of ended) {
      clock.advance(1)
      const ticket = await ticketOf(request)
      await store.write((tx) => ticket.keep(tx, {}))
    }
    const left = async () => (await Promise.all(ended.map(rowOf))).map((row) => row !== undefined)
    clock.advance(24 * 60 * 60_000 - 1)
    const fresh = requestOf()
    const ticket = await ticketOf(fresh)
    await store.write((tx) => ticket.keep(tx, {}))
    expect(await service.removeExpired(1, 0)).toHaveLength(1)
    expect(await left()).toEqual([false, true, true])
    expect(await service.removeExpired(5, 0)).toHaveLength(1)
    expect(await left()).toEqual([false, false, true])
    expect(await service.removeExpired(5, 0)).toHaveLength(0)
    clock.advance(1)
    expect(await service.removeExpired(5, 0)).toHaveLength(1)
    expect(await left()).toEqual([false, false, false])
    expect(await rowOf(fresh)).toBeDefined()
  })
})

test('two requests are the same by method, path, every byte of the body, and who may ask it', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const ada = keyCaller()
  const print = (caller: TenantCaller, method = 'POST', path = '/api/v1/keys', body = '{"a":1}') =>
    fingerprintOf(caller, method, path, bytes(body))
  const one = print(ada)
  const { userId } = ada
  expect(print({ ...ada, keyId: KeyId.create() })).toBe(one)
  expect(print(sessionCaller({ userId }))).toBe(one)
  const others = [
    print(ada, 'POST', '/api/v1/keys', '{"a": 1}'),
    print(ada, 'POST', '/api/v1/orgs'),
    print(ada, 'PUT'),
    print({ ...ada, scopes: ['billing'] }),
    print({ ...ada, orgId: OrgId.create() }),
  ]
  expect(new Set([one, ...others]).size).toBe(6)
})
