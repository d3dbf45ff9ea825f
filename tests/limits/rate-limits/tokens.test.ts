import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRateLimiter, createTiers } from '../../../src/limits'
import { createMemoryWindows } from '../../../src/limits/window'
import { keyCaller, sessionCaller } from '../../support/callers'
import { fakeClock } from '../../support/clock'
import { effortOf } from '../../support/effort'

function setUp() {
  const clock = fakeClock()
  return { clock, limiter: createRateLimiter({ clock, tiers: createTiers() }), caller: keyCaller() }
}

const tries = (attempt: () => void): boolean => {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}

describe('tokens a minute', () => {
  test('fifty parallel calls of 3,000 tokens reserve no more than Free has (I14)', () => {
    const { limiter, caller } = setUp()
    const let_in = Array.from({ length: 50 }, () => tries(() => limiter.reserveTokens(caller, 3_000)))
    expect(let_in.filter(Boolean).length).toBe(33)
  })

  test('a correction downward gives room at once, upward takes it', async () => {
    const { limiter, caller } = setUp()
    const first = await limiter.reserveTokens(caller, 100_000)
    expect(tries(() => limiter.reserveTokens(caller, 1))).toBe(false)
    first.correct(40_000)
    const second = await limiter.reserveTokens(caller, 60_000)
    second.correct(90_000)
    expect(limiter.headers(caller)['x-ratelimit-remaining-tokens']).toBe('0')
  })

  test('a correction after the minute changes nothing', async () => {
    const { clock, limiter, caller } = setUp()
    const ticket = await limiter.reserveTokens(caller, 100_000)
    clock.advance(60_000)
    await limiter.reserveTokens(caller, 100_000)
    ticket.correct(0)
    expect(tries(() => limiter.reserveTokens(caller, 1))).toBe(false)
  })

  test('nonsense from an engine leaves the claim as it was', async () => {
    const { limiter, caller } = setUp()
    const ticket = await limiter.reserveTokens(caller, 100_000)
    ticket.correct(Number.NaN)
    expect(limiter.headers(caller)['x-ratelimit-remaining-tokens']).toBe('0')
  })

  test('in every minute what was reserved fits, whatever the schedule', () => {
    const schedule = fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 40_000 })), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(schedule, (calls) => {
        const { clock, limiter, caller } = setUp()
        const admitted: { at: number; tokens: number }[] = []
        for (const [wait, tokens] of calls) {
          clock.advance(wait)
          if (tries(() => limiter.reserveTokens(caller, tokens))) admitted.push({ at: clock.monotonic(), tokens })
        }
        for (const { at: start } of admitted) {
          const inside = admitted.filter(({ at }) => at >= start && at < start + 60_000)
          expect(inside.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(100_000)
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe('the six headers', () => {
  test('tell the truth while requests and tokens are spent and come back', async () => {
    const { clock, limiter, caller } = setUp()
    expect(limiter.headers(caller)).toEqual({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '60',
      'x-ratelimit-reset-requests': '0s',
      'x-ratelimit-limit-tokens': '100000',
      'x-ratelimit-remaining-tokens': '100000',
      'x-ratelimit-reset-tokens': '0s',
    })
    for (let sent = 1; sent <= 60; sent++) {
      await limiter.admitRequest(caller)
      expect(limiter.headers(caller)['x-ratelimit-remaining-requests']).toBe(String(60 - sent))
    }
    expect(tries(() => limiter.admitRequest(caller))).toBe(false)
    await limiter.reserveTokens(caller, 1_200)
    clock.advance(2_500)
    expect(limiter.headers(caller)).toMatchObject({
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '58s',
      'x-ratelimit-remaining-tokens': '98800',
      'x-ratelimit-reset-tokens': '58s',
    })
    clock.advance(57_500)
    expect(limiter.headers(caller)['x-ratelimit-remaining-requests']).toBe('60')
  })

  test('an address without a credential is counted and warned, and never refused', () => {
    const { limiter } = setUp()
    const notices = Array.from({ length: 70 }, () => limiter.anonymousHeaders('203.0.113.9'))
    expect(notices[0]).toMatchObject({ 'x-ratelimit-limit-requests': '60', 'x-ratelimit-remaining-requests': '59' })
    expect(notices[69]?.['x-ratelimit-remaining-requests']).toBe('0')
    expect(limiter.anonymousHeaders('203.0.113.10')['x-ratelimit-remaining-requests']).toBe('59')
  })
})

describe('GET /rate-limits', () => {
  test('shows tier, limits, what is left and the own limits of the key', async () => {
    const { limiter } = setUp()
    const caller = keyCaller({ tier: 'pro', rpmLimit: 500 })
    await limiter.admitRequest(caller)
    await limiter.admitMode(caller, 'research')
    await limiter.reserveTokens(caller, 10)
    expect(await limiter.status(caller)).toEqual({
      tier: 'pro',
      window_seconds: 60,
      limits: { rpm: 500, tpm: 2_000_000 },
      mode_limits: { text: 1_000, stealth: 500, image: 333, research: 250, video: 166 },
      usage: {
        requests: { limit: 500, remaining: 499, reset: '60s' },
        tokens: { limit: 2_000_000, remaining: 1_999_990, reset: '60s' },
        modes: {
          text: { limit: 1_000, remaining: 1_000, reset: '0s' },
          stealth: { limit: 500, remaining: 500, reset: '0s' },
          image: { limit: 333, remaining: 333, reset: '0s' },
          research: { limit: 250, remaining: 249, reset: '60s' },
          video: { limit: 166, remaining: 166, reset: '0s' },
        },
      },
      key_overrides: { rpm_limit: 500, tpm_limit: null },
    })
  })

  test('shows a session its 120', async () => {
    const { limiter } = setUp()
    expect(await limiter.status(sessionCaller())).toMatchObject({ tier: 'free', limits: { rpm: 120, tpm: 100_000 } })
  })
})

describe('memory', () => {
  test('subjects that went quiet are forgotten, and those that did not are kept', () => {
    const clock = fakeClock()
    const windows = createMemoryWindows(clock)
    for (let subject = 0; subject < 5_000; subject++) windows.of(`k${subject}`, clock.monotonic())
    const busy = windows.of('busy', clock.monotonic())
    for (let minute = 0; minute < 3; minute++) {
      clock.advance(60_000)
      expect(windows.of('busy', clock.monotonic())).toBe(busy)
    }
    expect(windows.size).toBe(1)
  })

  test('a flood of addresses stays bounded', () => {
    const clock = fakeClock()
    const windows = createMemoryWindows(clock, 100)
    for (let address = 0; address < 10_000; address++) windows.of(`a${address}`, clock.monotonic())
    expect(windows.size).toBeLessThanOrEqual(200)
  })

  test('ten thousand addresses are distinguished, and older ones dropped in a flood', () => {
    const { limiter } = setUp()
    const leftOf = (address: string) => Number(limiter.anonymousHeaders(address)['x-ratelimit-remaining-requests'])
    expect({ first: leftOf('first'), second: leftOf('first') }).toEqual({ first: 59, second: 58 })
    for (let address = 0; address < 9_999; address++) leftOf(`a${address}`)
    expect(leftOf('first')).toBe(57)
    for (let address = 0; address < 19_999; address++) leftOf(`b${address}`)
    expect(leftOf('first')).toBe(59)
  })

  test('a preflight is answered and not counted', () => {
    const { limiter } = setUp()
    expect(limiter.anonymousHeaders('a', false)['x-ratelimit-remaining-requests']).toBe('60')
    expect(limiter.anonymousHeaders('a')['x-ratelimit-remaining-requests']).toBe('59')
    expect(limiter.anonymousHeaders('a', false)['x-ratelimit-remaining-requests']).toBe('59')
  })

  test('a rejection costs less than 0.2 ms, with a full window of 5,000', async () => {
    const { limiter } = setUp()
    const caller = keyCaller({ tier: 'enterprise' })
    for (let sent = 0; sent < 5_000; sent++) await limiter.admitRequest(caller)
    const effort = await effortOf(() => {
      for (let flood = 0; flood < 2_000; flood++) tries(() => limiter.admitRequest(caller))
    })
    expect(effort / 2_000).toBeLessThan(0.2)
  })
})
