import { type Consumption, createPrices, type Prices } from '../billing'
import { type Price, PriceTable } from '../billing/schema'
import { type EngineService, type EngineSettings, upstreamPrices } from '../engines'
import type { Call, OperatorCaller } from '../kernel/caller'
import { assertRewritable, readConfigFile, writeConfigFile } from '../kernel/config-file'
import { invalidInput } from '../kernel/errors'
import { microToCents } from '../kernel/money'
import { checker } from '../kernel/schema'
import { setElsewhere } from './engine-config'
import type { EnginePrice, EnginePrices, NewPrices } from './schema-engines'

type Deps = {
  engines: Pick<EngineService, 'mapping'>
  settings: EngineSettings & { prices: PriceTable }
  configFile: string
  setByEnvironment(name: 'prices'): boolean
  record(call: Call<OperatorCaller>, action: string, metadata: Record<string, unknown>): Promise<void>
}

const tableIn = checker(PriceTable)

/** What engines cost, and how an operator sets it (dx 2.18). */
export function createPriceVerbs({ engines, settings, configFile, setByEnvironment, record }: Deps) {
  const ofUpstreams = upstreamPrices(settings)
  return { list, set }

  /** Prices as they are now, each with the cost of a sample request. */
  async function list(_call: Call<OperatorCaller>): Promise<EnginePrices> {
    return { prices: rowsOf(settings.prices, null), saved_to: null }
  }

  /**
   * Merges prices into the configuration file, for the next start, and returns the engines whose price that changes.
   * Throws 400 for an engine that is not there, and 409 when SVC_PRICES is set or the file cannot be rewritten.
   */
  async function set(call: Call<OperatorCaller>, { prices, dry_run }: NewPrices): Promise<EnginePrices> {
    if (setByEnvironment('prices')) throw setElsewhere('SVC_PRICES')
    const known = idsOf(createPrices(settings.prices, ofUpstreams))
    const unknown = Object.keys(prices).find((id) => !known.includes(id))
    if (unknown !== undefined)
      throw invalidInput('prices', `There is no engine "${unknown}". Engines: ${known.join(', ')}.`)
    const before = readConfigFile(configFile)
    const was = tableIn.is(before.config.prices) ? before.config.prices : {}
    const merged = Object.entries(prices).map(([id, price]) => [id, price && { ...was[id], ...price }] as const)
    const after = Object.fromEntries(
      [...Object.entries({ ...was, ...Object.fromEntries(merged) })].filter(([, p]) => p),
    )
    const rows = rowsOf(after as PriceTable, was).filter(
      ({ sample_cents, before_cents }) => sample_cents !== before_cents,
    )
    if (dry_run) return { prices: rows, saved_to: null }
    assertRewritable(before, { prices: after })
    await writeConfigFile(configFile, { ...before.config, prices: after })
    await record(call, 'engine.priced', { ids: Object.keys(prices) })
    return { prices: rows, saved_to: configFile }
  }

  /** Engines, whether or not they have a price of their own; what is built in costs nothing. */
  function idsOf(prices: Prices): string[] {
    const all = new Set([...engines.mapping().map(({ engineId }) => engineId), ...prices.ids()])
    return [...all].filter((id) => id !== 'builtin')
  }

  /** `was`: what to compare with. */
  function rowsOf(now: PriceTable, was: PriceTable | null): EnginePrice[] {
    const [prices, earlier] = [createPrices(now, ofUpstreams), was && createPrices(was, ofUpstreams)]
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
        set_by: Object.hasOwn(now, id) ? 'SVC_PRICES' : Object.hasOwn(ofUpstreams, id) ? 'upstream' : 'built in',
        before_cents: earlier && microToCents(earlier.costOf(id, used)),
      }
    })
  }
}

/** A request that shows what a price means: 1,000 tokens in and 500 out, and of each other thing that it counts some. */
function sampleOf(price: Price): { words: string; used: Consumption } {
  const parts = [
    price.perImage !== undefined && ([{ images: 1 }, '1 image'] as const),
    price.perSecond !== undefined && ([{ seconds: 10 }, '10 s of video'] as const),
    price.perPage !== undefined && ([{ pages: 10 }, '10 pages'] as const),
    price.perMinute !== undefined && ([{ minutes: 1 }, '1 minute of sound'] as const),
    price.promptPer1k !== undefined && ([{ promptTokens: 1000, completionTokens: 500 }, '1,000 + 500 tokens'] as const),
  ].filter((part) => part !== false)
  return { words: parts.map(([, word]) => word).join(', '), used: Object.assign({}, ...parts.map(([one]) => one)) }
}
