import { describe, expect, test } from 'bun:test'
import { hasFailedTooLong, laneFor, outcomeOf, readSchedule, streakAfter } from '../../src/webhooks/rules'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const [SECOND, HOUR] = [1_000, 3_600_000]
const schedule = readSchedule('0,5,300')
const at = { attempt: 1, schedule, now: NOW, random: 0.5 }
const answered = (status: number, retryAfter: string | null = null) =>
  outcomeOf({ status, retryAfter, failure: null }, at)

describe('an attempt (J26)', () => {
  test.each([200, 201, 204, 226, 299])('%i is success', (status) => {
    expect(answered(status)).toEqual({ ok: true, message: null, next: null, gone: false })
  })

  test.each([0, 100, 300, 301, 302, 307, 308, 408, 425, 429, 500, 502, 503, 599, 600])(
    '%i is tried again',
    (status) => {
      expect(answered(status)).toMatchObject({ ok: false, next: NOW + 5 * SECOND, gone: false })
    },
  )

  test.each([400, 401, 403, 404, 409, 422, 451, 499])('%i is final', (status) => {
    expect(answered(status)).toEqual({ ok: false, message: 'http_4xx', next: null, gone: false })
  })

  test('410 ends the webhook', () => {
    expect(answered(410)).toEqual({ ok: false, message: 'http_4xx', next: null, gone: true })
  })

  test.each([
    ['1', 5 * SECOND],
    ['60', 60 * SECOND],
    ['999999', 12 * HOUR],
    ['99999999999999', 5 * SECOND],
    ['-1', 5 * SECOND],
    ['soon', 5 * SECOND],
    ['', 5 * SECOND],
    ['1.5', 5 * SECOND],
    ['Thu, 01 Jan 2026 00:10:00 GMT', 600 * SECOND],
    ['Thursday, 01-Jan-26 00:10:00 GMT', 600 * SECOND],
    ['Wed, 31 Dec 2025 00:10:00 GMT', 5 * SECOND],
    ['Sat, 01 Jan 2028 00:00:00 GMT', 12 * HOUR],
  ])('Retry-After: %j waits %i ms', (retryAfter, wait) => {
    expect(answered(429, retryAfter).next).toBe(NOW + wait)
    expect(answered(503, retryAfter).next).toBe(NOW + wait)
  })

  test('a Retry-After date that names no zone is in GMT, whatever the zone of the machine', () => {
    const { TZ } = process.env
    process.env.TZ = 'America/New_York'
    try {
      expect(new Date(NOW).getTimezoneOffset()).not.toBe(0)
      expect(answered(429, 'Thu Jan  1 00:10:00 2026').next).toBe(NOW + 600 * SECOND)
    } finally {
      process.env.TZ = TZ ?? 'UTC'
    }
  })

  test.each(['dns', 'connect', 'tls', 'timeout', 'reset', 'not_allowed'] as const)('%s is tried again', (failure) => {
    const verdict = outcomeOf({ status: null, retryAfter: null, failure }, at)
    expect(verdict).toMatchObject({ ok: false, next: NOW + 5 * SECOND })
    expect(verdict.message).toBe(failure === 'not_allowed' ? 'destination not allowed' : failure)
  })

  test('a refused address that is a number is final', () => {
    const verdict = outcomeOf({ status: null, retryAfter: null, failure: 'never_allowed' }, at)
    expect(verdict).toEqual({ ok: false, message: 'destination not allowed', next: null, gone: false })
  })

  test('the last of the schedule is the last, and each wait is moved by a tenth at most', () => {
    const failed = { status: 500, retryAfter: null, failure: null }
    expect(outcomeOf(failed, { ...at, attempt: 3 }).next).toBeNull()
    expect(outcomeOf(failed, { ...at, attempt: 2, random: 0 }).next).toBe(NOW + 270 * SECOND)
    expect(outcomeOf(failed, { ...at, attempt: 2, random: 1 }).next).toBe(NOW + 330 * SECOND)
  })
})

describe('a run of failures', () => {
  const fresh = { failure_count: 0, failing_since: null }
  const failures = (count: number, from: number, everyMs: number) =>
    Array.from({ length: count }, (_, n) => ({ ok: false, at: from + n * everyMs }))

  test('counts since the last success, which ends it', () => {
    expect(streakAfter(fresh, failures(4, NOW, 1))).toEqual({ failure_count: 4, failing_since: NOW })
    const mixed = [...failures(9, NOW, 1), { ok: true, at: NOW + 10 }, ...failures(2, NOW + 20, 1)]
    expect(streakAfter(fresh, mixed)).toEqual({ failure_count: 2, failing_since: NOW + 20 })
  })

  test('ends a webhook after 120 hours and 20 failures, not after one of the two', () => {
    const long = streakAfter(fresh, failures(20, NOW, 6 * HOUR))
    expect(hasFailedTooLong(long, NOW + 119 * HOUR)).toBe(false)
    expect(hasFailedTooLong(long, NOW + 120 * HOUR)).toBe(true)
    expect(hasFailedTooLong(streakAfter(fresh, failures(19, NOW, HOUR)), NOW + 500 * HOUR)).toBe(false)
    expect(hasFailedTooLong(streakAfter(fresh, failures(500, NOW, 1)), NOW + HOUR)).toBe(false)
  })

  test('has its deliveries go apart from three on', () => {
    expect([0, 2, 3, 50].map((failure_count) => laneFor({ failure_count }))).toEqual([
      'steady',
      'steady',
      'slow',
      'slow',
    ])
  })
})
