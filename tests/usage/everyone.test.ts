import { expect, test } from 'bun:test'
import { capsOfDay } from '../../src/billing'
import { saveLimits } from '../../src/billing/limits'
import type { OwnerScope } from '../../src/kernel/caller'
import { UserId } from '../../src/kernel/ids'
import { createRollup, createUsageLog, usageOfAllOwners } from '../../src/usage'
import { fakeClock } from '../support/clock'
import { openTestStore } from '../support/store'

const store = await openTestStore()
const DAY_MS = 86_400_000
const NOW = 200 * DAY_MS + 5_000_000
const CENT = 1_000_000

const call = {
  ...{ requestId: 'req_1', userId: null, keyId: null, endpoint: '/completions', ttftMs: null, fallbackUsed: false },
  ...{ mode: 'fast', resolvedMode: 'fast', model: null, status: 200, promptTokens: 1, completionTokens: 1 },
  ...{ latencyMs: 100, skills: [], cached: false },
}

test('the day of everyone is summed by the database: who spent most, and how much of all caps is used', async () => {
  const owners = Array.from({ length: 5 }, (): OwnerScope => `user:${UserId.create()}`)
  for (const [at, owner] of owners.entries())
    for (const when of [NOW - 1_000, NOW - DAY_MS]) {
      const usage = createUsageLog({ clock: { ...fakeClock(), now: () => when } })
      await store.write((tx) => usage.record(tx, { ...call, owner, costMicro: (at + 1) * CENT }))
    }
  await createRollup({ store })(100)
  expect(await capsOfDay(store.read, NOW)).toEqual({ cap_cents: null, capped_cents: 0 })
  const limits = { monthly_cap_cents: null, low_balance_threshold_cents: 0, top_up_enabled: false, updated_at: NOW }
  const none = { top_up_threshold_cents: null, top_up_amount_cents: null }
  for (const [at, cap] of [
    [0, 100],
    [4, 500],
    [2, null],
  ] as const)
    await store.write((tx) => saveLimits(tx, { ...limits, ...none, owner: owners[at]!, daily_cap_cents: cap }))
  expect(await capsOfDay(store.read, NOW)).toEqual({ cap_cents: 600, capped_cents: 6 })
  const day = await usageOfAllOwners(store.read, NOW)
  expect(day.cost_cents).toBe(15)
  expect(day.owners).toEqual([4, 3, 2].map((at) => ({ owner: owners[at]!, cost_cents: at + 1 })))
})
