import type { AuditLog } from '../audit'
import { type Consumption, createPrices, type Prices } from '../billing'
import type { Price, PriceTable } from '../billing/schema'
import {
  createBuiltinDriver,
  createEngines,
  type EngineRegistry,
  type EngineService,
  type EngineSettings,
  type EnginesFile,
  type EngineVersion,
  findEngine,
  type HealthWindow,
  mappedEngine,
  type UpstreamConfig,
  type UpstreamHealth,
} from '../engines'
import type { Call, OperatorCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import { invalidInput, notFound } from '../kernel/errors'
import type { Log } from '../kernel/log'
import { microToCents } from '../kernel/money'
import type { Tx } from '../kernel/store'
import {
  acceptVectors,
  assertNameFree,
  assertStillAnswered,
  changedUpstream,
  chosenFrom,
  createPlaces,
  toUpstream,
  withAdded,
  withChanged,
  withMapping,
  withRemoved,
} from './engine-config'
import type {
  AddedEngine,
  EngineAlias,
  EngineHealth,
  EnginePatch,
  EnginePrice,
  EnginePrices,
  EngineTarget,
  EngineTest,
  EngineTestQuery,
  MappedEngine,
  NewEngine,
  NewEngineAlias,
  NewPrices,
  RemovedEngine,
} from './schema-engines'

type EnginePricesDeps = {
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

const pricesOf = ({ prices }: EngineVersion): Prices => createPrices(prices.configured, prices.ofUpstreams)

type Deps = {
  audit: AuditLog
  clock: Clock
  log: Log
  engines: Pick<EngineService, 'mapping' | 'test' | 'askUpstreams' | 'statuses'>
  engineRegistry: Pick<EngineRegistry, 'newest' | 'change' | 'with'>
  upstreamHealth: Pick<UpstreamHealth, 'of'>
  settings: EngineSettings & { prices: PriceTable }
  /** Path of the configuration file, even if it does not exist. */
  configFile: string
  /** Whether an environment variable, and not the file, defines this setting. */
  setByEnvironment(name: keyof EngineSettings): boolean
}

/** Settings without any engine, so that testing a candidate calls nothing else. */
const NOTHING: Partial<EngineSettings> = { engineBaseUrl: '', engineApiKey: '', engineBuiltin: false }

const NO_TARGET = { target: null, kind: null, rank: 1, state: 'none', address: null, problem: null } as const

const STATES = { closed: 'ready', 'half-open': 'trying', open: 'failing' } as const

/** The model requested from an upstream that lists no models. Many upstreams serve one model under any name. */
const UNNAMED = 'default'

/** Where changes by operators are stored. */
const DATABASE = 'database'

/** The engine verbs of operators (docs/operating.md 2.18). Tenants never see these names. */
export function createEngineVerbs(deps: Deps) {
  const { audit, engines, engineRegistry } = deps
  const placesOf = createPlaces(deps)
  return {
    list,
    /** The call statistics of an upstream, per bucket. Throws 404 for an unknown upstream. */
    async health(_call: Call<OperatorCaller>, name: string, window: HealthWindow): Promise<EngineHealth> {
      if (!engineRegistry.newest().config.upstreams.has(name)) throw notFound('upstream')
      return deps.upstreamHealth.of(name, window)
    },
    test,
    add,
    update,
    remove,
    map,
    prices: createPriceVerbs({ ...deps, record }),
    aliases: { list: listAliases, set: setAlias, remove: removeAlias },
    acceptVectors: (call: Call<OperatorCaller>) => acceptVectors({ engineRegistry, record }, call),
  }

  /**
   * Every service engine with its targets in order of use, after probing each upstream. `status` is the status that
   * `GET /models` then reports.
   */
  async function list(_call: Call<OperatorCaller>): Promise<EngineTarget[]> {
    const found = new Map((await engines.askUpstreams()).map((state) => [state.upstream, state]))
    const statuses = engines.statuses()
    return [
      ...engines.mapping().flatMap(({ engineId: id, mode, targets }): EngineTarget[] => {
        const current = statuses.get(id)!
        const about = { id, mode, ...current }
        if (!targets.length) return [{ ...NO_TARGET, ...about, in_flight: null, ...sourceOf(null) }]
        return targets.map(({ target, upstream, kind, breaker, in_flight }, at) => {
          const { address = null, problem = null } = found.get(upstream) ?? {}
          const state = problem === null ? STATES[breaker] : 'unreachable'
          return { ...about, target, kind, rank: at + 1, state, address, problem, in_flight, ...sourceOf(upstream) }
        })
      }),
      ...switchedOff(statuses),
    ]
  }

  /** Where an upstream is configured, and another place with an unused configuration of the same name. */
  function sourceOf(upstream: string | null): Pick<EngineTarget, 'source' | 'overrides' | 'editable'> {
    const [first, second] = upstream === null ? [] : placesOf(engineRegistry.newest(), upstream)
    const source = first?.source ?? null
    return { source, editable: source === 'here', overrides: second?.source ?? null }
  }

  /** Targets of disabled upstreams. They are never called, but operators expect them in this list. */
  function switchedOff(statuses: ReturnType<EngineService['statuses']>): EngineTarget[] {
    const { off, upstreams } = engineRegistry.newest().config
    return [...off].flatMap(([id, refs]) =>
      refs.map(({ upstream, model }, at): EngineTarget => {
        const { kind } = upstreams.get(upstream)!
        const about = { id, mode: findEngine(id)?.mode ?? id, target: `${upstream}:${model}`, kind, rank: at + 1 }
        const { status = null } = statuses.get(id) ?? {}
        const rest = { in_flight: null, ...sourceOf(upstream) }
        return { ...NO_TARGET, ...about, state: 'off', status, why: 'it is disabled', ...rest }
      }),
    )
  }

  /** Makes real calls to every target of one upstream, of one mode, or of all. Throws 404 when there is none. */
  async function test(_call: Call<OperatorCaller>, { upstream, mode }: EngineTestQuery): Promise<EngineTest[]> {
    return (await engines.test(upstream, mode === undefined ? undefined : idOf(mode))).map(toTest)
  }

  /**
   * Tests a new upstream and stores it. Later requests use it, on other nodes within a second. Stores nothing when the
   * test fails. Throws 409 when the name is taken.
   */
  async function add(call: Call<OperatorCaller>, engine: NewEngine): Promise<AddedEngine> {
    const { name, kind } = engine
    assertNameFree(engineRegistry.newest(), placesOf, name)
    const upstream = toUpstream(engine)
    const models = engine.models ?? (await listedBy(name, upstream))
    return tried({ name, upstream, models, test: engine.test }, () =>
      engineRegistry.change(async (tx, before) => {
        await record(tx, call, 'engine.created', { name, kind, models })
        return { kept: withAdded(before, placesOf, { ...engine, models }), answer: null }
      }),
    )
  }

  /** The models that a new upstream lists, or `default` when it lists none. Throws 400 when it lists too many. */
  async function listedBy(name: string, upstream: UpstreamConfig): Promise<string[]> {
    const [state] = await opened({
      upstreams: { [name]: upstream },
      models: { '*': [`${name}:${UNNAMED}`] },
    }).askUpstreams()
    return chosenFrom(name, state?.listed.length ? state.listed : [UNNAMED])
  }

  /**
   * Changes an upstream after testing the new configuration. Running calls keep the old one. Throws 404, and 409 for an
   * upstream of the file or environment without `copy`.
   */
  async function update(call: Call<OperatorCaller>, name: string, patch: EnginePatch): Promise<AddedEngine> {
    const { upstream, models } = changedUpstream(engineRegistry.newest(), placesOf, name, patch)
    const changed = Object.keys({ ...patch.settings, ...patch }).filter((word) => !['settings', 'test'].includes(word))
    return tried({ name, upstream, models, test: patch.test && models.length > 0 }, () =>
      engineRegistry.change(async (tx, before) => {
        await record(tx, call, 'engine.updated', { name, changed })
        return { kept: withChanged(before, placesOf, name, patch), answer: null }
      }),
    )
  }

  /** Removes an upstream with its targets and its key. Throws 404, and 409 when an engine would have no target left. */
  async function remove(call: Call<OperatorCaller>, name: string, force: boolean): Promise<RemovedEngine> {
    return engineRegistry.change(async (tx, before) => {
      const stored = withRemoved(before, placesOf, name)
      if (!force) assertStillAnswered(name, before, engineRegistry.with(stored))
      await record(tx, call, 'engine.deleted', { name })
      return { kept: stored, answer: { object: 'engine' as const, name, removed_from: DATABASE } }
    })
  }

  /** Sets the targets of a mode, or with `*` of all text modes. Throws 404 for an unknown mode, 400 for bad targets. */
  async function map(call: Call<OperatorCaller>, mode: string, targets: readonly string[]): Promise<MappedEngine> {
    const id = mode === '*' ? mode : idOf(mode)
    return engineRegistry.change(async (tx, before) => {
      const unknown = targets.find((target) => !before.config.upstreams.has(target.slice(0, target.indexOf(':'))))
      if (unknown !== undefined) throw invalidInput('targets', `"${unknown}": there is no such upstream.`)
      await record(tx, call, 'engine.mapped', { id, targets })
      return {
        kept: withMapping(before, id, targets),
        answer: { object: 'engine_map' as const, id, targets: [...targets], saved_to: DATABASE },
      }
    })
  }

  async function listAliases(_call: Call<OperatorCaller>): Promise<EngineAlias[]> {
    const { config, stored } = engineRegistry.newest()
    return Object.entries(config.aliases).map(([name, { engine, listed = false }]) => ({
      name,
      engine,
      listed,
      set_in: stored.aliases && Object.hasOwn(stored.aliases, name) ? DATABASE : 'modelAliases',
    }))
  }

  /** Defines another name for an engine. Throws 400 for an unknown engine, and for too many aliases. */
  function setAlias(call: Call<OperatorCaller>, { name, engine, listed = false }: NewEngineAlias) {
    return engineRegistry.change(async (tx, { stored }) => {
      await record(tx, call, 'engine.aliased', { name, engine })
      const aliases = { ...stored.aliases, [name]: { engine, ...(listed ? { listed } : {}) } }
      return { kept: { ...stored, aliases }, answer: { name, engine, listed, set_in: DATABASE } }
    })
  }

  /** Removes an alias that was defined here. Throws 404. */
  function removeAlias(call: Call<OperatorCaller>, name: string): Promise<RemovedEngine> {
    return engineRegistry.change(async (tx, { stored }) => {
      const { [name]: _, ...aliases } = stored.aliases ?? {}
      if (!Object.hasOwn(stored.aliases ?? {}, name)) throw notFound('alias')
      await record(tx, call, 'engine.alias_removed', { name })
      return { kept: { ...stored, aliases }, answer: { object: 'engine' as const, name, removed_from: DATABASE } }
    })
  }

  function idOf(mode: string): string {
    const id = mappedEngine(mode)?.id
    if (!id) throw notFound('mode')
    return id
  }

  type Candidate = { name: string; upstream: Partial<UpstreamConfig>; models: readonly string[]; test: boolean }

  /** Tests the new configuration of an upstream and saves it unless a test failed. */
  async function tried({ name, upstream, models, test: tests }: Candidate, save: () => Promise<unknown>) {
    // A disabled upstream is tested as if it were enabled.
    const options = Object.fromEntries(
      Object.entries(upstream).filter(([member, value]) => value !== undefined && member !== 'off'),
    )
    const targets = models.map((model) => `${name}:${model}`)
    const candidate = opened({
      upstreams: { [name]: options as UpstreamConfig },
      models: targets.length ? { '*': targets } : {},
    })
    const results = tests ? (await candidate.test(name)).map(toTest) : []
    const failed = results.some(({ ok }) => !ok)
    if (!failed) await save()
    return {
      object: 'engine' as const,
      name,
      kind: upstream.kind!,
      models: [...models],
      modes: upstream.off ? [] : candidate.mapping().flatMap((one) => (one.targets.length ? one.mode : [])),
      saved_to: failed ? null : DATABASE,
      tests: results,
    }
  }

  /** An engine service with these engines only, so that testing calls nothing else. Throws 400 for invalid settings. */
  function opened(file: EnginesFile): EngineService {
    try {
      const settings = { ...deps.settings, ...NOTHING, engines: file }
      return createEngines({
        settings,
        clock: deps.clock,
        log: deps.log,
        builtin: createBuiltinDriver({ clock: deps.clock }),
      })
    } catch (error) {
      throw error instanceof ConfigError ? invalidInput('engines', error.problems.join(' ')) : error
    }
  }

  function record(tx: Tx, call: Call<OperatorCaller>, action: string, metadata: Record<string, unknown>) {
    return audit.record(tx, call, { action, entityType: 'engine', entityId: null, input: { metadata } })
  }
}

const toTest = ({ target, kind, checks }: Awaited<ReturnType<EngineService['test']>>[number]): EngineTest => ({
  id: target,
  kind,
  ok: checks.every(({ ok }) => ok),
  checks: checks.map(({ check, ok, latencyMs, detail }) => ({ check, ok, latency_ms: latencyMs, detail })),
})

/** The prices of engines, which operators can change (docs/operating.md 2.18). */
function createPriceVerbs({ engines, engineRegistry, settings, record }: EnginePricesDeps) {
  return { list, set }

  /** The current prices, each with the cost of a sample request. */
  async function list(_call: Call<OperatorCaller>): Promise<EnginePrices> {
    return { prices: rowsOf(engineRegistry.newest(), null), saved_to: null }
  }

  /**
   * Merges prices into those that operators set. They apply to calls that begin later. Returns the engines whose price
   * changes. Throws 400 for an unknown engine.
   */
  async function set(call: Call<OperatorCaller>, { prices, dry_run }: NewPrices): Promise<EnginePrices> {
    if (dry_run) return { prices: changes(engineRegistry.newest(), prices).rows, saved_to: null }
    return engineRegistry.change(async (tx, before) => {
      const { kept: stored, rows } = changes(before, prices)
      await record(tx, call, 'engine.priced', { ids: Object.keys(prices) })
      return { kept: stored, answer: { prices: rows, saved_to: 'database' } }
    })
  }

  function changes(before: EngineVersion, newPrices: NewPrices['prices']) {
    const known = idsOf(createPrices(before.prices.configured, before.prices.ofUpstreams))
    const unknown = Object.keys(newPrices).find((id) => !known.includes(id))
    if (unknown !== undefined)
      throw invalidInput('prices', `There is no engine "${unknown}". Engines: ${known.join(', ')}.`)
    const was = before.stored.prices
    const merged = Object.entries(newPrices).map(([id, price]) => [id, price && { ...was[id], ...price }] as const)
    const after = Object.entries({ ...was, ...Object.fromEntries(merged) }).filter(([, price]) => price)
    const stored = { ...before.stored, prices: Object.fromEntries(after) as PriceTable }
    const rows = rowsOf(engineRegistry.with(stored), before).filter((row) => row.sample_cents !== row.before_cents)
    return { kept: stored, rows }
  }

  /** All engines, with or without their own price. The built-in engine is free. */
  function idsOf(prices: Prices): string[] {
    const all = new Set([...engines.mapping().map(({ engineId }) => engineId), ...prices.ids()])
    return [...all].filter((id) => id !== 'builtin')
  }

  /** `was` is the version to compare with. */
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

  function setBy({ stored, prices }: EngineVersion, id: string): EnginePrice['set_by'] {
    if (Object.hasOwn(stored.prices, id)) return 'here'
    if (Object.hasOwn(settings.prices, id)) return 'SVC_PRICES'
    return Object.hasOwn(prices.ofUpstreams, id) ? 'upstream' : 'built in'
  }
}

/** A request that illustrates a price: 1,000 tokens in, 500 out, and an amount of each other priced unit. */
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
