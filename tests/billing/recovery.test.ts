import { describe, expect, test } from 'bun:test'
import { expiredCredit, releaseAbandonedBatch, startHoldRecovery } from '../../src/billing'
import { RENEW_MS } from '../../src/cluster'
import { openTestStore } from '../support/store'
import { createWorld } from './world'

const store = await openTestStore()
const settle = () => Bun.sleep(0)

describe('holds that their request could not end', () => {
  async function lost(count: number) {
    const world = createWorld(store)
    const ada = await world.account(1_000)
    const refs: string[] = []
    for (let made = 0; made < count; made++) refs.push(await ada.reserve(100))
    const { clock, audit, billing } = world
    const deps = { store, clock, audit, node: 'node-a', release: billing.release, unended: new Set(refs) }
    return { ...world, ada, deps }
  }

  test('are released at once, a batch at a time, each on the record as interrupted', async () => {
    const { ada, deps, audit, verify } = await lost(3)
    expect(await releaseAbandonedBatch(deps, 2)).toBe(2)
    expect({ unended: deps.unended.size, held: (await ada.balance()).held }).toEqual({ unended: 1, held: 100 })
    expect(await releaseAbandonedBatch(deps, 2)).toBe(1)
    expect({ unended: deps.unended.size, held: (await ada.balance()).held }).toEqual({ unended: 0, held: 0 })
    expect(await releaseAbandonedBatch(deps, 2)).toBe(0)
    const { items } = await audit.list(store.read, ada.owner, { limit: 10 })
    expect(items).toHaveLength(3)
    for (const item of items) {
      expect(item).toMatchObject({
        ...{ action: 'completion.interrupted', entityType: 'completion', entityId: null },
        ...{ requestId: 'req_test', apiKeyId: ada.caller.keyId },
        outputSummary: { cost_cents: 0, error_code: 'server_error' },
      })
    }
    expect(await verify()).toEqual([])
  })

  test('are not forgotten while they could not be released', async () => {
    const { ada, deps } = await lost(1)
    const away = { ...deps, release: () => Promise.reject(new Error('away')) }
    await expect(releaseAbandonedBatch(away)).rejects.toThrow('away')
    expect({ unended: deps.unended.size, held: (await ada.balance()).held }).toEqual({ unended: 1, held: 100 })
    expect(await releaseAbandonedBatch(deps)).toBe(1)
  })

  test('that had ended after all are forgotten, and nothing is recorded', async () => {
    const { ada, deps, release, audit } = await lost(1)
    for (const ref of deps.unended) await release(ref)
    expect(await releaseAbandonedBatch(deps)).toBe(0)
    expect(deps.unended.size).toBe(0)
    expect((await audit.list(store.read, ada.owner, { limit: 10 })).items).toEqual([])
  })

  test('are released a hundred at a time, and at a start to the last one', async () => {
    const { ada, start, clock, deps } = await lost(0)
    await store.write(async (tx) => {
      const billing = start('node-a')
      const reservation = { owner: ada.owner, keyId: null, caps: { daily: null, monthly: null }, amount: 1 }
      for (let made = 0; made < 230; made++) await billing.reserve(tx, { ...reservation, ref: `many.req_${made}` })
    })
    clock.advance(660_000)
    expect(await releaseAbandonedBatch(deps)).toBe(100)
    expect(await start('node-a').releaseAbandoned()).toBe(130)
    expect((await ada.balance()).held).toBe(0)
  })

  test('are looked for every 30 seconds by a process that is alone, and as often as leases end in a cluster', async () => {
    const { clock, deps } = await lost(1)
    const every = store.dialect === 'sqlite' ? 30_000 : RENEW_MS
    let looked = 0
    const errors: string[] = []
    const counting = {
      ...store,
      write: (async () => {
        looked += 1
        if (looked > 1) throw new Error('away')
        return 0
      }) as typeof store.write,
    }
    const onError = (name: string, error: unknown) => void errors.push(`${name}: ${(error as Error).message}`)
    const loop = startHoldRecovery({ ...deps, store: counting, onError })
    await settle()
    expect(looked).toBe(1)
    clock.advance(every - 1)
    await settle()
    expect(looked).toBe(1)
    clock.advance(1)
    await settle()
    expect({ looked, errors }).toEqual({ looked: 2, errors: ['hold-recovery: away'] })
    // After a failure a process that is alone waits twice as long; a node that waited would be too late for others.
    clock.advance(store.dialect === 'sqlite' ? 59_999 : RENEW_MS - 1)
    await settle()
    expect(looked).toBe(2)
    clock.advance(1)
    await settle()
    expect(looked).toBe(3)
    await loop.stop()
  })
})

test('expired credit is looked for every five seconds, until none is left', async () => {
  let left = 3
  const kind = expiredCredit({ expireDue: async () => left--, dueAt: async () => null })
  expect(kind).toMatchObject({ name: 'billing.expiry', everyMs: 5_000 })
  await kind.run({} as never)
  expect(left).toBe(-1)
})
