import { type Static, strictObject, t } from '../kernel/schema'

const MicroCents = t.Integer({ minimum: 0, maximum: 1_000_000_000_000 })

/**
 * Micro-cents per 1,000 tokens, image, second of video, page or minute of audio. A missing member is free; without
 * `cachedPromptPer1k`, prompt tokens that an upstream had in its cache cost as much as the others.
 */
export const Price = strictObject({
  promptPer1k: t.Optional(MicroCents),
  cachedPromptPer1k: t.Optional(MicroCents),
  completionPer1k: t.Optional(MicroCents),
  perImage: t.Optional(MicroCents),
  perSecond: t.Optional(MicroCents),
  perPage: t.Optional(MicroCents),
  perMinute: t.Optional(MicroCents),
})
export type Price = Static<typeof Price>

export const PriceTable = t.Record(t.String(), Price)
export type PriceTable = Static<typeof PriceTable>

/** Quantities a call used. Anything but a finite number above zero counts as zero (docs/attacks.md G7). */
export type Consumption = {
  promptTokens?: number
  /** Prompt tokens that an upstream read from its cache. */
  cachedTokens?: number | undefined
  completionTokens?: number
  images?: number
  seconds?: number
  pages?: number
  minutes?: number
}

const tokens = (promptPer1k: number, completionPer1k: number): Price => ({ promptPer1k, completionPer1k })

/** Prices by the service's own engine ids (docs/api.md 5.1). 1 cent = 1,000,000. */
const BUILT_IN: PriceTable = {
  default: tokens(300_000, 1_500_000),
  builtin: {},
  'svc-1-flash': tokens(20_000, 80_000),
  'svc-1-reason': tokens(300_000, 1_500_000),
  'svc-1-code': tokens(300_000, 1_500_000),
  'svc-1-research': { ...tokens(300_000, 1_500_000), perPage: 500_000 },
  'svc-1-roast': tokens(20_000, 80_000),
  'svc-1-genui': tokens(300_000, 1_500_000),
  'svc-1-analyze': tokens(300_000, 1_500_000),
  'svc-1-extract': tokens(40_000, 160_000),
  'svc-1-vision': tokens(300_000, 1_500_000),
  'svc-1-create': { ...tokens(20_000, 80_000), perImage: 4_000_000 },
  'svc-1-voice': { perMinute: 1_500_000 },
  'svc-1-transcribe': { perMinute: 600_000 },
  'svc-1-embed': { promptPer1k: 2_000 },
  'svc-1-embed-local': {},
  'svc-1-motion': { ...tokens(20_000, 80_000), perSecond: 10_000_000 },
}

for (const id of ['photo', 'rapid', 'design', 'studio', 'type']) BUILT_IN[`svc-1-${id}`] = BUILT_IN['svc-1-create']!

export type Prices = ReturnType<typeof createPrices>

/** The price table with the prices of upstreams and then the operator's own merged in, member by member. */
export function createPrices(overrides: PriceTable = {}, ofUpstreams: PriceTable = {}) {
  const table = new Map(Object.entries(BUILT_IN))
  for (const [engineId, price] of [...Object.entries(ofUpstreams), ...Object.entries(overrides)]) {
    table.set(engineId, { ...table.get(engineId), ...price })
  }
  const priceOf = (engineId: string): Price => table.get(engineId) ?? table.get('default')!

  return {
    priceOf,
    /** Every engine that has a price of its own, and `default`. */
    ids: (): string[] => [...table.keys()],
    /** Whole micro-cents; the sum is rounded up once. The built-in engine (`builtin`) is free. */
    costOf: (engineId: string, used: Consumption): number => cost(priceOf(engineId), used),
  }
}

type Tables = { configured: PriceTable; ofUpstreams: PriceTable }

/** Uses the price tables that were current when the running request or job began. */
export function followPrices(registry: { version(): { prices: Tables } }): Prices {
  const made = new WeakMap<object, Prices>()
  const now = (): Prices => {
    const current = registry.version().prices
    const prices = made.get(current) ?? createPrices(current.configured, current.ofUpstreams)
    made.set(current, prices)
    return prices
  }
  return {
    priceOf: (engineId) => now().priceOf(engineId),
    ids: () => now().ids(),
    costOf: (engineId, used) => now().costOf(engineId, used),
  }
}

function cost(price: Price, used: Consumption): number {
  const { promptPer1k = 0, cachedPromptPer1k = promptPer1k } = price
  const prompt = counted(used.promptTokens)
  const cached = Math.min(prompt, counted(used.cachedTokens))
  const perThousand =
    promptPer1k * (prompt - cached) +
    cachedPromptPer1k * cached +
    (price.completionPer1k ?? 0) * counted(used.completionTokens)
  const rest =
    (price.perImage ?? 0) * counted(used.images) +
    (price.perSecond ?? 0) * counted(used.seconds) +
    (price.perPage ?? 0) * counted(used.pages) +
    (price.perMinute ?? 0) * counted(used.minutes)
  return Math.ceil(perThousand / 1000 + rest)
}

const counted = (value: number | undefined): number =>
  value !== undefined && Number.isFinite(value) && value > 0 ? value : 0
