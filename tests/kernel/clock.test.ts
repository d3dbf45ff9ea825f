import { describe, expect, test } from 'bun:test'
import { iso, isoOrNull, systemClock, utcDay } from '../../src/kernel/clock'
import { fakeClock } from '../support/clock'

describe('times on the wire', () => {
  test('are ISO 8601 in UTC', () => {
    expect(iso(0)).toBe('1970-01-01T00:00:00.000Z')
    expect(isoOrNull(null)).toBeNull()
    expect(isoOrNull(1_000)).toBe('1970-01-01T00:00:01.000Z')
  })

  test('a day begins at midnight UTC', () => {
    const midnight = Date.parse('2026-03-01T00:00:00Z')
    expect(utcDay(midnight)).toBe('2026-03-01')
    expect(utcDay(midnight - 1)).toBe('2026-02-28')
  })
})

test('the system clock: sleeps, and wakes early when told', async () => {
  const before = systemClock.monotonic()
  await systemClock.sleep(10)
  expect(systemClock.monotonic() - before).toBeGreaterThanOrEqual(9)
  const stop = new AbortController()
  const sleeping = systemClock.sleep(60_000, stop.signal)
  stop.abort()
  await sleeping
  await systemClock.sleep(60_000, AbortSignal.abort())
})

test('the clock of tests wakes sleepers in their order as it passes them', async () => {
  const clock = fakeClock()
  const woken: number[] = []
  const sleepers = [30, 10, 20].map((ms) => clock.sleep(ms).then(() => woken.push(ms)))
  clock.advance(20)
  await Promise.resolve()
  await Promise.resolve()
  expect(woken).toEqual([10, 20])
  clock.advance(10)
  await Promise.all(sleepers)
  expect(woken).toEqual([10, 20, 30])
  expect(clock.now() - Date.parse('2026-01-01T00:00:00Z')).toBe(30)
})
