import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { OwnerScope } from '../../src/kernel/caller'
import { KeyId, UserId } from '../../src/kernel/ids'
import { createRollup, createUsageLog, peakOf } from '../../src/usage'
import { fakeClock } from '../support/clock'
import { openTestStore } from '../support/store'

const store = await openTestStore()
const roll = createRollup({ store })
const HOUR = 3_600_000
const NOW = Date.parse('2026-03-08T09:30:00Z')

type Notice = { at: number; keyId: KeyId; tokens: number }

async function record(owner: OwnerScope, calls: Notice[]) {
  for (const { at, keyId, tokens } of [...calls].sort((one, other) => one.at - other.at)) {
    const usage = createUsageLog({ clock: fakeClock(new Date(at).toISOString()) })
    await store.write((tx) =>
      usage.record(tx, {
        owner,
        keyId,
        userId: UserId.create(),
        requestId: 'req_x',
        endpoint: '/api/v1/completions',
        mode: 'fast',
        resolvedMode: 'fast',
        model: null,
        status: 200,
        costMicro: 0,
        cached: false,
        latencyMs: 1,
        promptTokens: tokens,
        completionTokens: 1,
        ttftMs: null,
        classifiedMs: null,
        fallbackUsed: false,
      }),
    )
  }
}

/** The slow way: every minute of every key. */
function busiest(calls: Notice[], keyId: KeyId | null) {
  const minutes = new Map<string, { requests: number; tokens: number }>()
  for (const call of calls) {
    if (keyId !== null && call.keyId !== keyId) continue
    const name = `${call.keyId} ${Math.floor(call.at / 60_000)}`
    const { requests, tokens } = minutes.get(name) ?? { requests: 0, tokens: 0 }
    minutes.set(name, { requests: requests + 1, tokens: tokens + call.tokens + 1 })
  }
  const max = (of: 'requests' | 'tokens') => Math.max(0, ...[...minutes.values()].map((one) => one[of]))
  return { requests: max('requests'), tokens: max('tokens') }
}

const KEYS = [KeyId.create(), KeyId.create()]
const notice = fc.record({
  at: fc
    .tuple(fc.constantFrom(0, 1, 2, 30, 100), fc.nat(3), fc.nat(59_999))
    .map(([hours, minutes, ms]) => NOW - hours * HOUR - minutes * 60_000 - ms),
  keyId: fc.constantFrom(...KEYS),
  tokens: fc.nat(500),
})

test('the busiest minute is the one that counting every minute finds, of a key and of all', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(notice, { maxLength: 25 }), fc.boolean(), async (calls, rolled) => {
      const owner: OwnerScope = `user:${UserId.create()}`
      await record(owner, calls)
      if (rolled) while (!(await roll()).done);
      for (const keyId of [null, ...KEYS]) {
        const known = rolled ? calls : calls.filter(({ at }) => at >= Math.floor(NOW / HOUR) * HOUR - HOUR)
        expect(await peakOf(store.read, { owner, keyId }, NOW)).toEqual(busiest(known, keyId))
      }
    }),
    { numRuns: 25 },
  )
}, 60_000)
