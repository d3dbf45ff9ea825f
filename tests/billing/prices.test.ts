import { describe, expect, test } from 'bun:test'
import { billingSettings, createPrices } from '../../src/billing'
import { resolveSettings } from '../../src/kernel/config'

describe('prices', () => {
  test('count prompt and completion apart and round up once', () => {
    const { costOf } = createPrices({ own: { promptPer1k: 10, completionPer1k: 1 } })
    expect(costOf('own', { promptTokens: 150, completionTokens: 1 })).toBe(2)
    expect(costOf('own', { promptTokens: 1_000, completionTokens: 1_000 })).toBe(11)
  })

  test('count prompt tokens that an upstream had in its cache as the others, or at a price of their own', () => {
    const used = { promptTokens: 1_000, cachedTokens: 400, completionTokens: 0 }
    expect(createPrices({ own: { promptPer1k: 10 } }).costOf('own', used)).toBe(10)
    expect(createPrices({ own: { promptPer1k: 10, cachedPromptPer1k: 1 } }).costOf('own', used)).toBe(7)
    expect(
      createPrices({ own: { promptPer1k: 10, cachedPromptPer1k: 0 } }).costOf('own', { ...used, cachedTokens: 9_000 }),
    ).toBe(0)
  })

  test('count images, seconds, pages and minutes', () => {
    const { costOf } = createPrices({ own: { perImage: 100, perSecond: 10, perPage: 5, perMinute: 60 } })
    expect(costOf('own', { images: 2, seconds: 3, pages: 4, minutes: 0.5 })).toBe(280)
  })

  test.each([0.5, 1, 999, 1_000, 1_001])('of %p of a thing count as that many', (count) => {
    const { costOf } = createPrices({ own: { perMinute: 10, perImage: 1_000 } })
    expect(costOf('own', { minutes: count, images: count })).toBe(Math.ceil(count * 1_010))
  })

  test('of an upstream count before the built-in ones, and those of the operator before both', () => {
    const upstreams = { 'svc-1-flash': { promptPer1k: 5, perPage: 7 } }
    const { priceOf } = createPrices({ 'svc-1-flash': { promptPer1k: 6 } }, upstreams)
    expect(priceOf('svc-1-flash')).toEqual({ promptPer1k: 6, completionPer1k: 80_000, perPage: 7 })
  })

  test('are these when the operator sets none, in micro-cents', () => {
    const text = { promptPer1k: 300_000, completionPer1k: 1_500_000 }
    const quick = { promptPer1k: 20_000, completionPer1k: 80_000 }
    const table = {
      default: text,
      builtin: {},
      'svc-1-flash': quick,
      'svc-1-reason': text,
      'svc-1-code': text,
      'svc-1-research': { ...text, perPage: 500_000 },
      'svc-1-roast': quick,
      'svc-1-genui': text,
      'svc-1-analyze': text,
      'svc-1-extract': { promptPer1k: 40_000, completionPer1k: 160_000 },
      'svc-1-vision': text,
      'svc-1-create': { ...quick, perImage: 4_000_000 },
      'svc-1-voice': { perMinute: 1_500_000 },
      'svc-1-transcribe': { perMinute: 600_000 },
      'svc-1-embed': { promptPer1k: 2_000 },
      'svc-1-embed-local': {},
      'svc-1-motion': { ...quick, perSecond: 10_000_000 },
      ...Object.fromEntries(
        ['photo', 'rapid', 'design', 'studio', 'type'].map((style) => [
          `svc-1-${style}`,
          { ...quick, perImage: 4_000_000 },
        ]),
      ),
    }
    const { priceOf } = createPrices()
    expect(Object.fromEntries(Object.keys(table).map((engine) => [engine, priceOf(engine)]))).toEqual(table)
  })

  test('of the built-in engine are nothing', () => {
    expect(createPrices().costOf('builtin', { promptTokens: 1e6, completionTokens: 1e6 })).toBe(0)
  })

  test('of an engine nobody priced are the default ones', () => {
    expect(createPrices({ default: { promptPer1k: 7_000 } }).costOf('my-engine', { promptTokens: 1_000 })).toBe(7_000)
  })

  test('SVC_PRICES changes only the members it names', () => {
    const env = { SVC_PRICES: '{"svc-1-flash":{"promptPer1k":1}}' }
    const { values } = resolveSettings(billingSettings, env, {})
    const before = createPrices().priceOf('svc-1-flash')
    expect(createPrices(values.prices).priceOf('svc-1-flash')).toEqual({ ...before, promptPer1k: 1 })
  })

  test('and all else of the room have these defaults', () => {
    expect(resolveSettings(billingSettings, {}, {}).values).toEqual({
      creditsInitialCents: 0,
      paymentProvider: 'manual',
      stripeSecretKey: '',
      stripeWebhookSecret: '',
      stripeBaseUrl: '',
      prices: {},
    })
  })

  test('of which each has its own variable, and keys of the processor are secrets', () => {
    const env = {
      SVC_CREDITS_INITIAL_CENTS: '1',
      SVC_PAYMENT_PROVIDER: 'stripe',
      SVC_STRIPE_SECRET_KEY: 'sk',
      SVC_STRIPE_WEBHOOK_SECRET: 'whsec',
      SVC_STRIPE_BASE_URL: 'http://127.0.0.1:1',
    }
    const { values } = resolveSettings(billingSettings, env, {})
    const [creditsInitialCents, paymentProvider] = [1, 'stripe'] as const
    const stripe = { stripeSecretKey: 'sk', stripeWebhookSecret: 'whsec', stripeBaseUrl: 'http://127.0.0.1:1' }
    expect(values).toEqual({ creditsInitialCents, paymentProvider, ...stripe, prices: {} })
    const secrets = Object.entries(billingSettings).filter(([, setting]) => 'secret' in setting && setting.secret)
    expect(secrets.map(([name]) => name)).toEqual(['stripeSecretKey', 'stripeWebhookSecret'])
  })

  test.each([
    ['SVC_CREDITS_INITIAL_CENTS', ['0', '1000000000'], ['-1', '1000000001', '0.5']],
    ['SVC_PAYMENT_PROVIDER', ['manual', 'stripe'], ['cash']],
    ['SVC_STRIPE_SECRET_KEY', ['', 'x'.repeat(512)], ['x'.repeat(513)]],
    ['SVC_STRIPE_WEBHOOK_SECRET', ['', 'x'.repeat(512)], ['x'.repeat(513)]],
    [
      'SVC_STRIPE_BASE_URL',
      ['', 'http://localhost:1', 'https://api.example/'],
      ['ftp://x', 'x', 'https://a.example/v1', 'see http://x', 'http://'],
    ],
    [
      'SVC_PRICES',
      ['{"x":{"perImage":1000000000000}}', '{"x":{"perPage":0}}'],
      ['{"x":{"perImage":1000000000001}}', '[]'],
    ],
  ])('%s takes what it can use, and nothing else', (name, good, bad) => {
    const read = (word: string) => resolveSettings(billingSettings, { [name]: word }, {})
    for (const word of good) expect(() => read(word)).not.toThrow()
    for (const word of bad) expect(() => read(word)).toThrow(name)
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
