import { describe, expect, test } from 'bun:test'
import { billingSettings, createPrices } from '../../src/billing'
import { resolveSettings } from '../../src/kernel/config'

describe('prices', () => {
  test('count prompt and completion apart and round up once', () => {
    const { costOf } = createPrices({ own: { promptPer1k: 10, completionPer1k: 1 } })
    expect(costOf('own', { promptTokens: 150, completionTokens: 1 })).toBe(2)
    expect(costOf('own', { promptTokens: 1_000, completionTokens: 1_000 })).toBe(11)
  })

  test('count images, seconds, pages and minutes', () => {
    const { costOf } = createPrices({ own: { perImage: 100, perSecond: 10, perPage: 5, perMinute: 60 } })
    expect(costOf('own', { images: 2, seconds: 3, pages: 4, minutes: 0.5 })).toBe(280)
  })

  test('of the built-in engine are nothing', () => {
    expect(createPrices().costOf('builtin', { promptTokens: 1e6, completionTokens: 1e6 })).toBe(0)
  })

  test('of an engine nobody priced are the default ones', () => {
    const { costOf } = createPrices({ default: { promptPer1k: 7_000 } })
    expect(costOf('my-engine', { promptTokens: 1_000 })).toBe(7_000)
  })

  test('SVC_PRICES changes only the members it names', () => {
    const env = { SVC_PRICES: '{"svc-1-flash":{"promptPer1k":1}}' }
    const { values } = resolveSettings(billingSettings, env, {})
    const before = createPrices().priceOf('svc-1-flash')
    expect(createPrices(values.prices).priceOf('svc-1-flash')).toEqual({ ...before, promptPer1k: 1 })
  })

  test.each(['{"x":{"perToken":1}}', '{"x":{"promptPer1k":-1}}', '{"x":{"promptPer1k":0.5}}', 'cheap'])(
    'SVC_PRICES %s is refused',
    (word) => {
      expect(() => resolveSettings(billingSettings, { SVC_PRICES: word }, {})).toThrow('SVC_PRICES')
    },
  )

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '5' as never, undefined])(
    'an engine that states %p tokens states none',
    (stated) => {
      expect(createPrices().costOf('svc-1-flash', { completionTokens: stated as number })).toBe(0)
    },
  )
})
