import type { AuditLog } from '../audit'
import { type Consumption, createPrices, type Prices } from '../billing'
import type { Price, PriceTable } from '../billing/schema'
import type { EngineRegistry, EngineService, EngineVersion } from '../engines'
import type { Call, OperatorCaller } from '../kernel/caller'
import { invalidInput } from '../kernel/errors'
import { microToCents } from '../kernel/money'
import type { Tx } from '../kernel/store'
import type { EnginePrice, EnginePrices, NewPrices } from './schema-engines'

type Deps = {
  engines: Pick<EngineService, 'mapping'>
  engineRegistry: Pick<EngineRegistry, 'newest' | 'change' | 'with'>
  settings: { prices: PriceTable }
  record(
    tx: Tx,
    call: Call<OperatorCaller>,
    action: string,
    metadata: Record<string, unknown>,
  ): ReturnType<AuditLog['record']>
}

/** What engines cost, and how an operator sets it (dx 2.18). */
export function createPriceVerbs({ engines, engineRegistry, settings, record }: Deps) {
  return { list, set }

  /** Prices as they are now, each with the cost of a sample request. */
  async function list(_call: Call<OperatorCaller>): Promise<EnginePrices> {
    return { prices: rowsOf(engineRegistry.newest(), null), saved_to: null }
  }

  /**
   * Merges prices into those that operators set, for calls that begin from now on, and returns the engines whose price
   * that changes. Throws 400 for an engine that is not there.
   */
  async function set(call: Call<OperatorCaller>, { prices, dry_run }: NewPrices): Promise<EnginePrices> {
    if (dry_run) return { prices: changes(engineRegistry.newest(), prices).rows, saved_to: null }
    return engineRegistry.change(async (tx, before) => {
      const { kept, rows } = changes(before, prices)
      await record(tx, call, 'engine.priced', { ids: Object.keys(prices) })
      return { kept, answer: { prices: rows, saved_to: 'database' } }
    })
  }

  function changes(before: EngineVersion, given: NewPrices['prices']) {
    const known = idsOf(createPrices(before.prices.own, before.prices.ofUpstreams))
    const unknown = Object.keys(given).find((id) => !known.includes(id))
    if (unknown !== undefined)
      throw invalidInput('prices', `There is no engine "${unknown}". Engines: ${known.join(', ')}.`)
    const was = before.kept.prices
    const merged = Object.entries(given).map(([id, price]) => [id, price && { ...was[id], ...price }] as const)
    const after = Object.entries({ ...was, ...Object.fromEntries(merged) }).filter(([, price]) => price)
    const kept = { ...before.kept, prices: Object.fromEntries(after) as PriceTable }
    const rows = rowsOf(engineRegistry.with(kept), before).filter((row) => row.sample_cents !== row.before_cents)
    return { kept, rows }
  }

  /** Engines, whether or not they have a price of their own; what is built in costs nothing. */
  function idsOf(prices: Prices): string[] {
    const all = new Set([...engines.mapping().map(({ engineId }) => engineId), ...prices.ids()])
    return [...all].filter((id) => id !== 'builtin')
  }

  /** `was`: what to compare with. */
  function rowsOf(now: EngineVersion, was: EngineVersion | null): EnginePrice[] {
    const [prices, earlier] = [pricesOf(now), was && pricesOf(was)]
    const modes = new Map(engines.mapping().map(({ engineId, mode }) => [engineId, mode]))
    return idsOf(prices).map((id) => {
      const price = prices.priceOf(id)
      const { words, used } = sampleOf(price)
      return {
        ...{
          id,
          mode: modes.get(id) ?? null,
          price,
          sample: words,
          sample_cents: microToCents(prices.costOf(id, used)),
        },
        set_by: setBy(now, id),
        before_cents: earlier && microToCents(earlier.costOf(id, used)),
      }
    })
  }

  function setBy({ kept, prices }: EngineVersion, id: string): EnginePrice['set_by'] {
    if (Object.hasOwn(kept.prices, id)) return 'here'
    if (Object.hasOwn(settings.prices, id)) return 'SVC_PRICES'
    return Object.hasOwn(prices.ofUpstreams, id) ? 'upstream' : 'built in'
  }
}

const pricesOf = ({ prices }: EngineVersion): Prices => createPrices(prices.own, prices.ofUpstreams)

/** A request that shows what a price means: 1,000 tokens in and 500 out, and of each other thing that it counts some. */
function sampleOf(price: Price): { words: string; used: Consumption } {
  const parts = [
    price.perImage !== undefined && ([{ images: 1 }, '1 image'] as const),
    price.perSecond !== undefined && ([{ seconds: 10 }, '10 s of video'] as const),
    price.perPage !== undefined && ([{ pages: 10 }, '10 pages'] as const),
    price.perMinute !== undefined && ([{ minutes: 1 }, '1 minute of audio'] as const),
    price.promptPer1k !== undefined && ([{ promptTokens: 1000, completionTokens: 500 }, '1,000 + 500 tokens'] as const),
  ].filter((part) => part !== false)
  return { words: parts.map(([, word]) => word).join(', '), used: Object.assign({}, ...parts.map(([one]) => one)) }
}
