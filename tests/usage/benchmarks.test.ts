import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { OwnerScope } from '../../src/kernel/caller'
import { UserId } from '../../src/kernel/ids'
import { createBenchmarks, createRollup, createUsageLog, type UsageEntry } from '../../src/usage'
import { cellOf, noCalls, percentiles } from '../../src/usage/buckets'
import { callOf, keyCaller } from '../support/callers'
import { fakeClock } from '../support/clock'
import { openTestStore } from '../support/store'

const store = await openTestStore()
const rollBatch = createRollup({ store })
const HOUR = 3_600_000
const THEN = '2026-03-15T12:34:56.789Z'
const NOW = Date.parse(THEN)
const clock = fakeClock(THEN)

type Made = Pick<UsageEntry, 'mode' | 'resolvedMode' | 'status' | 'latencyMs' | 'ttftMs' | 'fallbackUsed'> & {
  classifiedMs: number | null
  hoursAgo: number
}
const made = fc.record<Made>({
  mode: fc.constantFrom('auto', 'fast', 'think', null),
  resolvedMode: fc.constantFrom('fast', 'think', 'code', null),
  status: fc.constantFrom(200, 200, 200, 402, 503),
  latencyMs: fc.oneof(fc.nat(300), fc.nat(90_000)),
  ttftMs: fc.option(fc.nat(4_000)),
  classifiedMs: fc.option(fc.double({ min: 0.001, max: 3_000, noNaN: true })),
  fallbackUsed: fc.boolean(),
  // The edges of the three windows are where a call is lost.
  hoursAgo: fc.constantFrom(0, 0.5, 1, 22, 23, 23.5, 24, 25, 100, 166, 167, 168, 500, 718, 719, 720, 721),
})

/** Calls of one new owner, written down at their time. */
async function record(owner: OwnerScope, calls: readonly Made[]): Promise<void> {
  for (const { hoursAgo, ...call } of calls) {
    const at = { ...clock, now: () => NOW - hoursAgo * HOUR }
    const entry = { ...call, ...FIXED, owner, userId: null, keyId: null }
    await store.write((tx) => createUsageLog({ clock: at }).record(tx, entry))
  }
}
const FIXED = {
  requestId: 'req_1',
  endpoint: '/completions',
  model: 'm',
  promptTokens: 3,
  completionTokens: 4,
  costMicro: 500_000,
  cached: false,
}

const rankOf = (values: readonly number[], rank: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(rank * values.length) - 1]!

const groups = (calls: readonly Made[]) =>
  Map.groupBy(calls, ({ mode, resolvedMode }) => resolvedMode ?? mode ?? 'none')

/** What the answer has to be, from the calls themselves. */
function expected(window: keyof typeof HOURS, all: readonly Made[]) {
  const start = Math.floor(NOW / HOUR) * HOUR - (HOURS[window] - 1) * HOUR
  const calls = all.filter(({ hoursAgo }) => NOW - hoursAgo * HOUR >= start)
  const answered = calls.filter(({ status }) => status < 400)
  const latency = [...groups(answered)].map(([mode, of]) => [mode, of.map(({ latencyMs }) => latencyMs)] as const)
  const ttft = [...groups(calls.filter(({ ttftMs }) => ttftMs !== null))]
  const classified = calls.flatMap(({ classifiedMs }) => classifiedMs ?? [])
  return {
    window,
    latency_by_mode: Object.fromEntries(
      latency.map(([mode, ms]) => [
        mode,
        {
          p50: stored(rankOf(ms, 0.5)),
          p95: stored(rankOf(ms, 0.95)),
          p99: stored(rankOf(ms, 0.99)),
          count: ms.length,
        },
      ]),
    ),
    ttft_by_mode: Object.fromEntries(
      ttft.map(([mode, of]) => {
        const ms = of.map(({ ttftMs }) => ttftMs!)
        return [mode, { p50: stored(rankOf(ms, 0.5)), p95: stored(rankOf(ms, 0.95)), count: ms.length }]
      }),
    ),
    classification: classified.length
      ? { p50: storedUs(rankOf(classified, 0.5)), p95: storedUs(rankOf(classified, 0.95)), count: classified.length }
      : null,
    counters: {
      total: calls.length,
      failover_count: calls.filter(({ fallbackUsed }) => fallbackUsed).length,
      routing_accuracy: 1,
      total_tokens: 7 * calls.length,
      total_cost_cents: calls.length / 2,
      by_mode: Object.fromEntries([...groups(calls)].map(([mode, of]) => [mode, of.length])),
    },
    bucket: '2026-03-15T12',
  }
}
const HOURS = { '24h': 24, '7d': 168, '30d': 720 }
/** A whole number as a histogram gives it back, which is less than 1 % off. */
function stored(value: number): number {
  const alone = noCalls()
  alone[cellOf(value)] = 1
  return percentiles(alone, [1])[0]!
}
const storedUs = (ms: number): number => stored(Math.round(ms * 1_000)) / 1_000

const untouched = async () => 0

describe('benchmarks (docs/api.md 21)', () => {
  test('are those of the calls, wherever the rollups have come to', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(made, { maxLength: 30 }),
        fc.array(made, { maxLength: 10 }),
        fc.boolean(),
        async (one, two, rolls) => {
          const userId = UserId.create()
          const owner = `user:${userId}` as const
          await record(owner, one)
          if (rolls) while (!(await rollBatch()).done);
          await record(owner, two)
          const benchmarks = createBenchmarks({ store, clock, wronglyChosenIn: untouched })
          for (const window of ['24h', '7d', '30d'] as const)
            expect(await benchmarks.read(callOf(keyCaller({ userId })), window)).toEqual(
              expected(window, [...one, ...two]) as never,
            )
        },
      ),
      { numRuns: 40 },
    )
  })

  test('count a corrected choice against the answered calls that were left to choose', async () => {
    const userId = UserId.create()
    const auto: Made = {
      mode: 'auto',
      resolvedMode: 'fast',
      status: 200,
      latencyMs: 1,
      ttftMs: null,
      fallbackUsed: false,
      classifiedMs: 1,
      hoursAgo: 1,
    }
    await record(`user:${userId}`, [auto, auto, auto, { ...auto, status: 503 }, { ...auto, mode: 'fast' }])
    const requests: unknown[] = []
    const accuracyWith = async (corrected: number) => {
      const benchmarks = createBenchmarks({
        store,
        clock,
        wronglyChosenIn: async (_, ...about) => {
          requests.push(about)
          return corrected
        },
      })
      return (await benchmarks.read(callOf(keyCaller({ userId })), '24h')).counters.routing_accuracy
    }
    expect(await accuracyWith(0)).toBe(1)
    expect(await accuracyWith(1)).toBe(0.6667)
    expect(await accuracyWith(9)).toBe(0)
    const to = Date.parse('2026-03-15T13:00:00Z')
    expect(requests[0]).toEqual([`user:${userId}`, { from: to - 24 * HOUR, to }])
  })

  test('are looked up once in five seconds, and again at once after a failure', async () => {
    const userId = UserId.create()
    const call = callOf(keyCaller({ userId }))
    const auto: Made = {
      mode: 'auto',
      resolvedMode: 'fast',
      status: 200,
      latencyMs: 1,
      ttftMs: null,
      fallbackUsed: false,
      classifiedMs: 1,
      hoursAgo: 1,
    }
    let fails = true
    const wronglyChosenIn = async () => {
      if (fails) throw new Error('the database is away')
      return 0
    }
    const mine = fakeClock(THEN)
    const benchmarks = createBenchmarks({ store, clock: mine, wronglyChosenIn })
    await record(`user:${userId}`, [auto])
    await expect(benchmarks.read(call, '24h')).rejects.toThrow('away')
    fails = false
    expect((await benchmarks.read(call, '24h')).counters.total).toBe(1)
    await record(`user:${userId}`, [auto])
    mine.advance(4_999)
    expect((await benchmarks.read(call, '24h')).counters.total).toBe(1)
    expect((await benchmarks.read(call, '7d')).counters.total).toBe(2)
    mine.advance(1)
    expect((await benchmarks.read(call, '24h')).counters.total).toBe(2)
  })
})
