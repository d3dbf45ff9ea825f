import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { OwnerScope } from '../../src/kernel/caller'
import { KeyId, UserId } from '../../src/kernel/ids'
import { createRollup, createUsageLog } from '../../src/usage'
import { tallyOf } from '../../src/usage/reading'
import { planOf, withWholeEnds } from '../../src/usage/spans'
import { usageCursors, usageRollups } from '../../src/usage/table'
import { fakeClock } from '../support/clock'
import { openTestStore } from '../support/store'
import { type Notice, type Request, reportOf } from './oracle'

const store = await openTestStore()
/** Two calls of a key in an hour make it a busy one, ten of all keys or only two: so reports meet both kinds. */
const [rollBatch, rollBusy] = [40, 8].map((busyRequests) => createRollup({ store, busyRequests })) as [
  ReturnType<typeof createRollup>,
  ReturnType<typeof createRollup>,
]
const HOUR = 3_600_000
const SLOT = HOUR / 12
const START = Date.parse('2026-03-01T00:00:00Z')
/** Every call of a test is before this, and every report is asked for at it. */
const NOW = START + 4 * 24 * HOUR + 1_234_567

const KEYS = [KeyId.create(), KeyId.create(), null]
const SKILLS = ['skill-a', 'skill-b']

const moment = fc.oneof(
  fc.integer({ min: START, max: NOW - 1 }),
  // Calls and ends of reports in the same hours, and in the same minutes.
  fc.integer({ min: START, max: START + 2 * HOUR }),
  fc.integer({ min: START + SLOT, max: START + 2 * SLOT }),
  // The edges of slots, hours and days are where a call is lost or counted twice.
  fc
    .tuple(fc.integer({ min: 0, max: 96 }), fc.constantFrom(0, 1, 11), fc.constantFrom(-1, 0, 1))
    .map(([hours, slots, beside]) => START + hours * HOUR + slots * SLOT + beside),
)

const call = fc.record({
  at: moment,
  keyId: fc.constantFrom(...KEYS),
  mode: fc.constantFrom('auto', 'fast', 'think', null),
  resolvedMode: fc.constantFrom('fast', 'think', 'code', null),
  model: fc.constantFrom('svc-1-flash', 'svc-1-think', null),
  status: fc.constantFrom(200, 200, 200, 402, 404, 500, 503),
  promptTokens: fc.nat(5_000),
  completionTokens: fc.nat(5_000),
  costMicro: fc.nat(1_000_000_000),
  latencyMs: fc.oneof(fc.nat(200), fc.nat(120_000)),
  skills: fc.subarray(SKILLS),
})

const question = fc.record(
  {
    span: fc.tuple(moment, moment).filter(([a, b]) => a !== b),
    keyId: fc.constantFrom(...KEYS.filter((key) => key !== null)),
    mode: fc.constantFrom('auto', 'fast', 'think', 'none'),
    skill: fc.constantFrom(...SKILLS),
  },
  { requiredKeys: ['span'] },
)

const clock = fakeClock()

function notify(owner: OwnerScope, made: Omit<Notice, keyof typeof fixed | 'owner' | 'cached'>): Notice {
  return { ...fixed, ...made, owner, cached: made.status === 200 && made.promptTokens % 3 === 0 }
}
const fixed = { requestId: 'req_1', userId: null, endpoint: '/completions', ttftMs: null, fallbackUsed: false }

async function write(calls: readonly Notice[]): Promise<void> {
  for (const one of calls) {
    const usage = createUsageLog({ clock: { ...clock, now: () => one.at } })
    await store.write((tx) => usage.record(tx, one))
  }
}

const close = (notice: number, exact: number) => Math.abs(notice - exact) <= exact / 100

describe('a report', () => {
  test('is what a scan of all calls says, however many of them are rolled', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(1), call), { maxLength: 60 }),
        fc.array(fc.tuple(fc.constantFrom(rollBatch, rollBusy), fc.integer({ min: 1, max: 40 })), { maxLength: 4 }),
        fc.array(question, { minLength: 1, maxLength: 4 }),
        async (made, batches, questions) => {
          const owners: OwnerScope[] = [`user:${UserId.create()}`, `user:${UserId.create()}`]
          const calls = made.map(([ownerFilter, one]) => notify(owners[ownerFilter]!, one))
          await write(calls)
          for (const [roll, limit] of batches) await roll(limit)
          for (const { span, ...choice } of questions) {
            const request: Request = { ...choice, from: Math.min(...span), to: Math.max(...span) }
            for (const owner of owners) {
              const mine = calls.filter((one) => one.owner === owner)
              const { latency_ms, ...message } = (
                await tallyOf(store.read, { owner, ...choice }, request, NOW)
              ).result()
              const { latency_ms: exact, ...wanted } = reportOf(mine, request)
              expect(message).toEqual(wanted)
              for (const rank of ['p50', 'p95', 'p99'] as const)
                expect({
                  latencyMs: latency_ms[rank],
                  exact: exact[rank],
                  close: close(latency_ms[rank], exact[rank]),
                }).toEqual({ latencyMs: latency_ms[rank], exact: exact[rank], close: true })
            }
          }
        },
      ),
      { numRuns: 60 },
    )
  }, 60_000)

  test.each([
    ['minute', ['day', 'hour', 'slot'], SLOT / 5],
    ['slot', ['day', 'hour', 'slot'], SLOT],
    ['slot', ['day', 'hour'], SLOT],
    ['hour', ['day', 'hour'], HOUR],
  ] as const)(
    'reads at most half of a %s of single calls at each end, and the rest of no other',
    (finest, grains, limit) => {
      fc.assert(
        fc.property(moment, moment, (a, b) => {
          fc.pre(a !== b)
          const span = { from: Math.min(a, b), to: Math.max(a, b) }
          const { rolled, calls, less, whole } = withWholeEnds(planOf(span, NOW, grains), () => finest)
          const length = (spans: { from: number; to: number }[]) =>
            spans.reduce((sum, { from, to }) => sum + to - from, 0)
          expect(length(rolled) + length(calls) - length(less)).toBe(whole.to - whole.from)
          expect(length([...calls, ...less])).toBeLessThanOrEqual(limit)
          for (const rest of less) expect(rest.to <= whole.from || rest.from >= whole.to).toBe(true)
        }),
      )
    },
  )

  test('is the same while others roll and write at the same time', async () => {
    const owner: OwnerScope = `user:${UserId.create()}`
    const one = fc.sample(call, 1)[0]!
    const calls = Array.from({ length: 80 }, (_, n) => notify(owner, { ...one, at: START + n * HOUR }))
    await write(calls)
    const request = { from: START, to: NOW }
    const wanted = reportOf(calls, request).totals
    const rollers = [createRollup({ store }), createRollup({ store }), createRollup({ store })]
    const rolling = Promise.all(
      rollers.map(async (roll) => {
        for (let n = 0; n < 12; n++) await roll(7)
      }),
    )
    for (let n = 0; n < 12; n++) {
      expect((await tallyOf(store.read, { owner }, request, NOW)).result().totals).toEqual(wanted)
    }
    await rolling
    expect((await tallyOf(store.read, { owner }, request, NOW)).result().totals).toEqual(wanted)
  }, 30_000)
})

describe('the rollups', () => {
  test('take each call once, whatever fails on the way', async () => {
    while (!(await rollBatch()).done);
    const owner: OwnerScope = `user:${UserId.create()}`
    const one = fc.sample(call, 1)[0]!
    await write(Array.from({ length: 30 }, (_, n) => notify(owner, { ...one, keyId: null, skills: [], at: START + n })))
    const failing = { ...store, write: async () => Promise.reject(new Error('the disk is full')) }
    await expect(createRollup({ store: failing as typeof store })()).rejects.toThrow('the disk is full')
    while (!(await rollBatch(11)).done);
    const t = store.read.of(usageRollups)
    const mine = (await store.read.select().from(t)).filter((row) => row.owner === owner)
    expect(mine.map(({ grain, requests }) => [grain, requests]).sort()).toEqual([
      ['day', 30],
      ['hour', 30],
      ['minute', 30],
      ['slot', 30],
    ])
    const c = store.read.of(usageCursors)
    expect(await store.read.select({ name: c.name }).from(c)).toEqual([{ name: 'rollups' }])
  })

  if (store.dialect === 'postgres') {
    test('wait for a call that drew its id early and commits late', async () => {
      const owner: OwnerScope = `user:${UserId.create()}`
      const one = notify(owner, { ...fc.sample(call, 1)[0]!, at: START })
      while (!(await rollBatch()).done);
      const [written, may] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const late = store.write(async (tx) => {
        await createUsageLog({ clock }).record(tx, one)
        written.resolve()
        await may.promise
      })
      await written.promise
      await write([one])
      for (let n = 0; n < 3; n++) expect(await rollBatch()).toEqual({ records: 0, done: true })
      may.resolve()
      await late
      let records = 0
      for (let n = 0; n < 5; n++) records += (await rollBatch()).records
      expect(records).toBe(2)
    }, 30_000)
  }

  test('are written a little at a time, however many owners call', async () => {
    while (!(await rollBatch()).done);
    const one = { ...fc.sample(call, 1)[0]!, keyId: null, skills: [] }
    const usage = createUsageLog({ clock })
    await store.write(async (tx) => {
      for (let n = 0; n < 250; n++) await usage.record(tx, notify(`user:${UserId.create()}`, one))
    })
    const batches: number[] = []
    for (let done = false; !done; ) {
      const batch = await rollBatch()
      batches.push(batch.records)
      done = batch.done
    }
    // Of each a day, an hour and a slot.
    expect(batches).toEqual([67, 67, 67, 49])
  }, 30_000)

  test('are left alone when there is nothing new', async () => {
    while (!(await rollBatch()).done);
    expect(await rollBatch()).toEqual({ records: 0, done: true })
  })
})
