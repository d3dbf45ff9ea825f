import { describe, expect, test } from 'bun:test'
import { AppError } from '../../../src/kernel/errors'
import { UserId } from '../../../src/kernel/ids'
import { createRateLimiter, createTiers, type TokenTicket } from '../../../src/limits'
import { keyCaller, sessionCaller } from '../../support/callers'
import { fakeClock } from '../../support/clock'

function setUp(overrides = {}) {
  const clock = fakeClock()
  return { clock, limiter: createRateLimiter({ clock, tiers: createTiers(overrides) }) }
}

/** The refusal, or null when let in. */
function refusal(attempt: () => unknown): AppError | null {
  try {
    attempt()
    return null
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

const admitted = (times: number, attempt: () => unknown): number =>
  Array.from({ length: times }, () => refusal(attempt)).filter((refused) => refused === null).length

describe('requests a minute', () => {
  test.each([
    ['free', 60],
    ['starter', 300],
    ['pro', 1_000],
    ['enterprise', 5_000],
  ] as const)('tier %s lets %i in and no more', (tier, rpm) => {
    const { limiter } = setUp()
    const caller = keyCaller({ tier })
    expect(admitted(rpm + 40, () => limiter.admitRequest(caller))).toBe(rpm)
  })

  test('a burst at the edge of a minute does not buy a second one', () => {
    const { clock, limiter } = setUp()
    const caller = keyCaller()
    const at = (ms: number) => {
      clock.advance(ms - clock.monotonic())
      return admitted(60, () => limiter.admitRequest(caller))
    }
    expect({
      withinTheMinute: at(59_900),
      afterIt: at(60_100),
      atThirtySecondsMore: at(89_900),
      atTheEnd: at(119_800),
      afterTheEnd: at(119_900),
    }).toEqual({ withinTheMinute: 60, afterIt: 0, atThirtySecondsMore: 0, atTheEnd: 0, afterTheEnd: 60 })
  })

  test('a flood of rejected requests does not put off the next admission', () => {
    const { clock, limiter } = setUp()
    const caller = keyCaller()
    admitted(60, () => limiter.admitRequest(caller))
    for (let step = 0; step < 599; step++) {
      clock.advance(100)
      expect(admitted(5, () => limiter.admitRequest(caller))).toBe(0)
    }
    clock.advance(100)
    expect(admitted(100, () => limiter.admitRequest(caller))).toBe(60)
  })

  test('the wall clock going back an hour changes nothing', () => {
    const clock = fakeClock()
    let shift = 0
    const shifted = { ...clock, now: () => clock.now() + shift }
    const limiter = createRateLimiter({ clock: shifted, tiers: createTiers() })
    const caller = keyCaller()
    admitted(60, () => limiter.admitRequest(caller))
    shift = -3_600_000
    clock.advance(60_000)
    expect(admitted(61, () => limiter.admitRequest(caller))).toBe(60)
  })

  test('a key may lower its tier and never raise it', () => {
    const { limiter } = setUp()
    expect(admitted(20, () => limiter.admitRequest(KEY_OF_TEN))).toBe(10)
    expect(admitted(99, () => limiter.admitRequest(KEY_OF_A_THOUSAND))).toBe(60)
  })

  test('sessions of one user share 120, whatever they sign in with', () => {
    const { limiter } = setUp()
    const userId = UserId.create()
    let turn = 0
    const [transcript, phone] = [sessionCaller({ userId }), sessionCaller({ userId })]
    expect(admitted(200, () => limiter.admitRequest(turn++ % 2 ? transcript : phone))).toBe(120)
  })

  test('keys do not share', () => {
    const { limiter } = setUp()
    const userId = UserId.create()
    expect(admitted(61, () => limiter.admitRequest(keyCaller({ userId })))).toBe(61)
  })

  const KEY_OF_TEN = keyCaller({ rpmLimit: 10 })
  const KEY_OF_A_THOUSAND = keyCaller({ rpmLimit: 1_000 })
})

describe('what a refusal says', () => {
  test('Retry-After is the first full second after which a retry succeeds', async () => {
    const { clock, limiter } = setUp()
    for (let round = 0; round < 200; round++) {
      const caller = keyCaller()
      for (let sent = 0; sent < 60; sent++) {
        await limiter.admitRequest(caller)
        clock.advance((round * 37 + sent * 13) % 1_000)
      }
      const refused = refusal(() => limiter.admitRequest(caller))
      if (!refused) continue
      expect(refused.retryAfterS).toBeWithin(1, 61)
      clock.advance((refused.retryAfterS! - 1) * 1_000)
      expect(refusal(() => limiter.admitRequest(caller))?.code).toBe('rate_limit_exceeded')
      clock.advance(1_000)
      expect(refusal(() => limiter.admitRequest(caller))).toBeNull()
    }
  })

  test.each([
    {
      what: 'requests',
      send: (limiter: Limiter) => limiter.admitRequest(KEY),
      code: 'rate_limit_exceeded',
      says: 'This key allows 60 requests a minute on tier free, and this is number 61. Try again in 53 s.',
    },
    {
      what: 'a mode of its own',
      send: (limiter: Limiter) => limiter.admitMode(KEY, 'image'),
      code: 'mode_rate_limit_exceeded',
      says: 'Mode "image" allows 20 requests a minute on tier free, and this is number 21. Other modes still work. Try again in 53 s.',
    },
    {
      what: 'modes that share',
      send: (limiter: Limiter) => limiter.admitMode(KEY, 'stealth_text'),
      code: 'mode_rate_limit_exceeded',
      says: 'The stealth modes together allow 30 requests a minute on tier free, and this is number 31. Other modes still work. Try again in 53 s.',
    },
    {
      what: 'tokens',
      send: (limiter: Limiter) => limiter.reserveTokens(KEY, 3_000),
      code: 'token_limit_exceeded',
      says: '100000 tokens a minute are allowed on tier free, 1000 of them are left and this call counts 3000. Try again in 53 s.',
    },
  ])('$what: limit, source, count and wait', ({ send, code, says }) => {
    const { clock, limiter } = setUp()
    clock.advance(1)
    send(limiter)
    clock.advance(7_000)
    let refused: AppError | null = null
    while (!refused) refused = refusal(() => send(limiter))
    expect(refused).toMatchObject({ kind: 'throttled', code, message: says, retryAfterS: 53 })
  })

  test('what a call is expected to answer is cut to the limit, so one call fits an empty window (docs/api.md 1.6)', () => {
    const { limiter } = setUp()
    const remaining = () => limiter.headers(KEY)['x-ratelimit-remaining-tokens']
    const ticket = limiter.reserveTokens(KEY, 99_500, 4_000) as TokenTicket
    expect(remaining()).toBe('0')
    ticket.correct(99_600)
    expect(remaining()).toBe('400')
    void limiter.reserveTokens(KEY, 100, 200)
    expect(remaining()).toBe('100')
    expect(refusal(() => limiter.reserveTokens(KEY, 50, 2_000))?.message).toContain('this call counts 1074')
  })

  test('a prompt over the whole limit learns that waiting does not help', () => {
    const { limiter } = setUp()
    const refused = refusal(() => limiter.reserveTokens(KEY, 100_001))
    expect(refused).toMatchObject({ code: 'token_limit_exceeded', retryAfterS: 60 })
    expect(refused?.message).toContain('can never fit')
  })

  type Limiter = ReturnType<typeof setUp>['limiter']
  const KEY = keyCaller()
})

describe('modes', () => {
  test('a full mode leaves the others and the key free', () => {
    const { limiter } = setUp()
    const caller = keyCaller()
    expect(admitted(25, () => limiter.admitMode(caller, 'image'))).toBe(20)
    expect(admitted(10, () => limiter.admitMode(caller, 'video'))).toBe(10)
    expect(admitted(15, () => limiter.admitMode(caller, 'research'))).toBe(15)
    expect(admitted(60, () => limiter.admitRequest(caller))).toBe(60)
  })

  test('text modes count together', () => {
    const { limiter } = setUp()
    const caller = keyCaller()
    const modes = ['fast', 'think', 'code', 'roast', 'genui', 'auto', 'domain_analysis', 'data_extraction', 'vision']
    let turn = 0
    expect(admitted(70, () => limiter.admitMode(caller, modes[turn++ % modes.length]!))).toBe(60)
  })
})
