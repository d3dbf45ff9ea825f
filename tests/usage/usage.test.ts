import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { ownerOf } from '../../src/kernel/caller'
import { KeyId } from '../../src/kernel/ids'
import { createUsageLog, holdSpend, settleSpend, type UsageEntry } from '../../src/usage'
import { usageRecords } from '../../src/usage/table'
import { keyCaller } from '../support/callers'
import { fakeClock } from '../support/clock'
import { openTestStore } from '../support/store'

const store = await openTestStore()
const clock = fakeClock()
const usage = createUsageLog({ clock })

describe('a call', () => {
  const ada = keyCaller()
  const entry: UsageEntry = {
    requestId: 'req_1',
    owner: ownerOf(ada),
    userId: ada.userId,
    keyId: ada.keyId,
    endpoint: '/completions',
    mode: 'auto',
    resolvedMode: 'fast',
    model: 'svc-1-flash',
    status: 200,
    promptTokens: 12,
    completionTokens: 34,
    costMicro: 9_007_199_254_740_991,
    cached: false,
    latencyMs: 12.6,
    ttftMs: null,
    classifiedMs: 0.4567,
    fallbackUsed: true,
  }

  test('leaves one row, every member of it exact', async () => {
    await store.write((tx) => usage.record(tx, entry))
    const t = store.read.of(usageRecords)
    expect(await store.read.select().from(t).where(eq(t.owner, entry.owner))).toEqual([
      {
        id: expect.any(Number),
        owner: entry.owner,
        at: clock.now(),
        request_id: 'req_1',
        user_id: ada.userId,
        api_key_id: ada.keyId,
        endpoint: '/completions',
        mode: 'auto',
        resolved_mode: 'fast',
        model: 'svc-1-flash',
        status: 200,
        prompt_tokens: 12,
        completion_tokens: 34,
        cost_micro: 9_007_199_254_740_991,
        cached: false,
        latency_ms: 13,
        ttft_ms: null,
        classified_us: 457,
        fallback_used: true,
        seq: null,
        event_id: null,
        action: null,
        entity_type: null,
        entity_id: null,
        input: null,
        output: null,
        prev_hash: null,
        hash: null,
        ledger_ref: null,
      },
    ])
  })
})

describe('what a key spent', () => {
  test('is kept by UTC day and summed by UTC month', async () => {
    const key = KeyId.create()
    const at = (iso: string) => Date.parse(iso)
    await store.write(async (tx) => {
      await settleSpend(tx, key, at('2025-12-31T23:59:59.999Z'), 1, 0)
      await settleSpend(tx, key, at('2026-01-01T00:00:00Z'), 10, 0)
      await settleSpend(tx, key, at('2026-01-30T12:00:00Z'), 100, 0)
      await holdSpend(tx, key, at('2026-01-31T23:00:00Z'), 5_000)
      await settleSpend(tx, key, at('2026-01-31T23:00:00Z'), 1_000, 4_000)
    })
    clock.advance(at('2026-01-31T23:30:00Z') - clock.now())
    expect(await usage.spent(store.read, key)).toEqual({
      today: { spent: 1_000, held: 1_000 },
      month: { spent: 1_110, held: 1_000 },
    })
    clock.advance(1_800_000)
    expect(await usage.spent(store.read, key)).toEqual({ today: { spent: 0, held: 0 }, month: { spent: 0, held: 0 } })
  })

  test('adds up under parallel calls', async () => {
    const key = KeyId.create()
    await Promise.all(Array.from({ length: 100 }, () => store.write((tx) => settleSpend(tx, key, clock.now(), 3, 0))))
    expect((await usage.spent(store.read, key)).today.spent).toBe(300)
  })
})
