import { describe, expect, test } from 'bun:test'
import { releaseAbandonedBatch } from '../../src/billing'
import { openTestStore } from '../support/store'
import { createWorld } from './world'

const store = await openTestStore()

describe('holds nobody will end', () => {
  test('are released once their time is over, charged nothing, and recorded (G13)', async () => {
    const { account, clock, start, audit } = createWorld(store)
    const ada = await account(1_000)
    await ada.reserve(300, 'x1.req_lost')
    const survivor = start('node-a')
    clock.advance(659_999)
    expect(await survivor.releaseAbandoned()).toBe(0)
    clock.advance(1)
    expect(await survivor.releaseAbandoned()).toBe(1)
    expect(await survivor.releaseAbandoned()).toBe(0)
    expect(await ada.balance()).toEqual({ balance: 1_000, held: 0, available: 1_000 })
    expect((await audit.list(store.read, ada.owner, { limit: 10 })).items).toMatchObject([
      { action: 'completion.interrupted', requestId: 'req_lost', apiKeyId: ada.caller.keyId, inputSummary: {} },
    ])
  })

  test('of another process are released at boot where there is only one process, and left alone in a cluster', async () => {
    const { account, start } = createWorld(store)
    const ada = await account(1_000)
    await ada.reserve(300)
    expect(await start('node-b').releaseAbandoned()).toBe(store.dialect === 'sqlite' ? 1 : 0)
    expect(await ada.balance()).toMatchObject({ held: store.dialect === 'sqlite' ? 0 : 300 })
  })

  test('are released in batches, and a late settlement finds nothing to charge', async () => {
    const { account, clock, start, settle, verify, billing, audit } = createWorld(store)
    const ada = await account(1_000)
    const refs = await Promise.all(Array.from({ length: 7 }, () => ada.reserve(100)))
    clock.advance(700_000)
    const deps = { store, clock, audit, node: 'node-a', release: billing.release }
    expect(await releaseAbandonedBatch(deps, 3)).toBe(3)
    expect(await start('node-a').releaseAbandoned()).toBeGreaterThanOrEqual(4)
    expect(await settle(refs[0]!, 100)).toBe(0)
    expect(await ada.balance()).toEqual({ balance: 1_000, held: 0, available: 1_000 })
    expect(await verify()).toEqual([])
  })
})
