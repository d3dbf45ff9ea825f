import { describe, expect, test } from 'bun:test'
import { resolveSettings } from '../../../src/kernel/config'
import { createTiers, rateLimitSettings } from '../../../src/limits'
import { groupOf } from '../../../src/limits/limiter'

describe('the tier table', () => {
  test.each([
    ['free', 60, 100_000, [60, 30, 20, 15, 10]],
    ['starter', 300, 500_000, [300, 150, 100, 75, 50]],
    ['pro', 1_000, 2_000_000, [1_000, 500, 333, 250, 166]],
    ['enterprise', 5_000, 10_000_000, [5_000, 2_500, 1_666, 1_250, 833]],
  ] as const)('%s is the row of docs/api.md 1.6', (tier, rpm, tpm, [text, stealth, image, research, video]) => {
    expect(createTiers().limitsOf(tier)).toEqual({ rpm, tpm, modes: { text, stealth, image, research, video } })
  })

  test('SVC_TIERS moves one tier, its modes along with the RPM unless they are set', () => {
    const env = { SVC_TIERS: '{"enterprise":{"rpm":100000000,"tpm":100000000000,"image":7}}' }
    const tiers = createTiers(resolveSettings(rateLimitSettings, env, {}).values.tiers)
    expect(tiers.limitsOf('enterprise')).toMatchObject({ rpm: 1e8, tpm: 1e11, modes: { text: 1e8, image: 7 } })
    expect(tiers.limitsOf('free').rpm).toBe(60)
    expect(tiers.changedOf('enterprise')).toEqual(['rpm', 'tpm', 'text', 'stealth', 'image', 'research', 'video'])
    expect(tiers.changedOf('free')).toEqual([])
    expect(createTiers({ pro: { image: 7, rpm: 1_000 } }).changedOf('pro')).toEqual(['image'])
  })

  test('SVC_TIERS sets every limit of every tier, from one to a trillion', () => {
    const limits = ['rpm', 'tpm', 'text', 'stealth', 'image', 'research', 'video'] as const
    for (const tier of ['free', 'starter', 'pro', 'enterprise'] as const) {
      for (const limit of limits) {
        const of = (value: number) => {
          const env = { SVC_TIERS: JSON.stringify({ [tier]: { [limit]: value } }) }
          const { modes, ...rest } = createTiers(resolveSettings(rateLimitSettings, env, {}).values.tiers).limitsOf(
            tier,
          )
          return { ...rest, ...modes }[limit]
        }
        expect({ one: of(1), large: of(1e12) }).toEqual({ one: 1, large: 1e12 })
        expect(() => of(1e12 + 1)).toThrow('SVC_TIERS')
        expect(() => of(0)).toThrow('SVC_TIERS')
      }
    }
    expect(resolveSettings(rateLimitSettings, {}, {}).values).toEqual({ tiers: {} })
  })

  test('a tier of few requests has one of every mode', () => {
    expect(createTiers({ free: { rpm: 2 } }).limitsOf('free').modes).toEqual({
      ...{ text: 2, stealth: 1, image: 1, research: 1, video: 1 },
    })
  })

  test.each(['{"gold":{"rpm":1}}', '{"free":{"rpm":0}}', '{"free":{"rps":9}}', 'free=9'])(
    'SVC_TIERS %s is refused',
    (word) => {
      expect(() => resolveSettings(rateLimitSettings, { SVC_TIERS: word }, {})).toThrow('SVC_TIERS')
    },
  )
})

test.each([
  ...['fast', 'think', 'code', 'roast', 'genui', 'auto', 'domain_analysis', 'data_extraction', 'vision', 'tts'].map(
    (mode) => [mode, 'text'],
  ),
  ['image', 'image'],
  ['research', 'research'],
  ['video', 'video'],
  ['stealth_text', 'stealth'],
  ['stealth_image', 'stealth'],
  ['stealth_video', 'stealth'],
])('mode %s counts as %s', (mode, group) => {
  expect(groupOf(mode)).toBe(group as never)
})
