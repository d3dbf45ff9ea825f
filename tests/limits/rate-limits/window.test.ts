import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { add, correct, createWindow, resetMs, used, WINDOW_MS, waitFor } from '../../../src/limits/window'

/** The rule in one line, over everything ever admitted. */
type Entry = { at: number; weight: number }
const naiveUse = (entries: Entry[], now: number) =>
  entries.filter(({ at }) => at > now - WINDOW_MS).reduce((sum, { weight }) => sum + weight, 0)

const steps = fc.array(
  fc.record({
    wait: fc.oneof(
      fc.constantFrom(0, 1, 10, 59_899, 59_999, 60_000, 60_001, 200),
      fc.double({ min: 0, max: 70_000, noNaN: true }),
    ),
    weight: fc.integer({ min: 0, max: 40 }),
    correctTo: fc.option(fc.integer({ min: 0, max: 60 })),
  }),
  { maxLength: 120 },
)

describe('the 60-second log', () => {
  test('agrees with the naive model after every step', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 100 }), (schedule, limit) => {
        const window = createWindow()
        const admitted: Entry[] = []
        let now = 0
        for (const { wait, weight, correctTo } of schedule) {
          now += wait
          expect(used(window, now)).toBe(naiveUse(admitted, now))
          const fits = naiveUse(admitted, now) + weight <= limit
          expect(waitFor(window, now, limit, weight) === 0).toBe(fits)
          if (!fits) continue
          const entry = add(window, now, weight)
          const record = { at: now, weight }
          admitted.push(record)
          if (correctTo === null) continue
          correct(window, entry, correctTo)
          record.weight = correctTo
        }
      }),
      { numRuns: 300 },
    )
  })

  test('no half-open minute, wherever it begins, holds more than the limit', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 20 }), (schedule, limit) => {
        const window = createWindow()
        const accepted: number[] = []
        let now = 0
        for (const { wait } of schedule) {
          now += wait
          if (waitFor(window, now, limit, 1) > 0) continue
          add(window, now, 1)
          accepted.push(now)
        }
        for (const start of accepted) {
          expect(accepted.filter((at) => at >= start && at < start + WINDOW_MS).length).toBeLessThanOrEqual(limit)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('the wait it names is the shortest that helps', () => {
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 40 }),
        (schedule, limit, wanted) => {
          const window = createWindow()
          let now = 0
          for (const { wait, weight } of schedule) {
            now += wait
            if (waitFor(window, now, limit, weight) === 0) add(window, now, weight)
          }
          const wait = waitFor(window, now, limit, wanted)
          if (wanted > limit) return expect(wait).toBe(Number.POSITIVE_INFINITY)
          if (wait === 0) return
          expect(waitFor(window, now + wait - 0.5, limit, wanted)).toBeGreaterThan(0)
          expect(waitFor(window, now + wait + 0.01, limit, wanted)).toBe(0)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('a correction reaches its own entry after the ring has grown and turned', () => {
    const window = createWindow()
    const entries = Array.from({ length: 100 }, (_, place) => add(window, place, 1))
    expect(used(window, WINDOW_MS + 49)).toBe(50)
    correct(window, entries[60]!, 11)
    expect(used(window, WINDOW_MS + 49)).toBe(60)
    correct(window, entries[10]!, 1_000)
    expect(used(window, WINDOW_MS + 49)).toBe(60)
    expect(used(window, WINDOW_MS + 60)).toBe(39)
  })

  test('is empty again a minute after its newest entry', () => {
    const window = createWindow()
    expect(resetMs(window, 5)).toBe(0)
    add(window, 1_000, 1)
    add(window, 3_000, 1)
    expect(resetMs(window, 3_000)).toBe(60_000)
    expect(resetMs(window, 62_999)).toBe(1)
    expect(resetMs(window, 63_000)).toBe(0)
  })
})
