import type { AuditLog } from '../audit'
import type { PriceTable } from '../billing/schema'
import { createBuiltinDriver } from '../builtin'
import {
  createEngines,
  type EngineService,
  type EngineSettings,
  type EnginesFile,
  engineOfMode,
  findEngine,
  type UpstreamConfig,
} from '../engines'
import type { Call, OperatorCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import { invalidInput, notFound } from '../kernel/errors'
import type { Log } from '../kernel/log'
import type { Store } from '../kernel/store'
import {
  changedUpstream,
  mapEngine,
  removeEngine,
  saveEngine,
  setElsewhere,
  toUpstream,
  updateEngine,
  withMapping,
} from './engine-config'
import { createPriceVerbs } from './engine-prices'
import type {
  AddedEngine,
  EnginePatch,
  EngineTarget,
  EngineTest,
  EngineTestQuery,
  MappedEngine,
  NewEngine,
  RemovedEngine,
} from './schema-engines'

type Deps = {
  store: Store
  audit: AuditLog
  clock: Clock
  log: Log
  engines: Pick<EngineService, 'mapping' | 'test' | 'askUpstreams'>
  settings: EngineSettings & { prices: PriceTable }
  /** Path of the configuration file, whether or not it exists. */
  configFile: string
  /** A variable says this setting, and would override the file. */
  setByEnvironment(name: 'engines' | 'prices'): boolean
  dataDir: string
}

/** Settings without any engine, so that testing a candidate calls nothing else. */
const NOTHING: Partial<EngineSettings> = { engineBaseUrl: '', engineApiKey: '', engineBuiltin: false }

const NO_TARGET = { target: null, kind: null, rank: 1, state: 'none', address: null, problem: null } as const

const STATES = { closed: 'ready', 'half-open': 'trying', open: 'failing' } as const

/** What operators do with engines (dx 2.18). Tenants never see these names. */
export function createEngineVerbs(deps: Deps) {
  const { store, audit, engines } = deps
  const place = { file: deps.configFile, dataDir: deps.dataDir }
  return { list, test, add, update, remove, map, prices: createPriceVerbs({ ...deps, record }) }

  /** Every service engine with its targets, in the order they are tried, once each upstream was asked whether it answers. */
  async function list(_call: Call<OperatorCaller>): Promise<EngineTarget[]> {
    const found = new Map((await engines.askUpstreams()).map((state) => [state.upstream, state]))
    return [
      ...engines.mapping().flatMap(({ engineId: id, mode, targets }): EngineTarget[] => {
        if (!targets.length) return [{ ...NO_TARGET, id, mode }]
        return targets.map(({ target, upstream, kind, breaker }, at) => {
          const { address = null, problem = null } = found.get(upstream) ?? {}
          const state = problem === null ? STATES[breaker] : 'unreachable'
          return { id, mode, target, kind, rank: at + 1, state, address, problem }
        })
      }),
      ...switchedOff(),
    ]
  }

  /** Targets of upstreams that are switched off: nothing is asked of them, and an operator looks for them here. */
  function switchedOff(): EngineTarget[] {
    const { upstreams, models } = deps.settings.engines
    return Object.entries(models).flatMap(([id, targets]) =>
      targets.flatMap((target, at): EngineTarget[] => {
        const upstream = upstreams[target.slice(0, target.indexOf(':'))]
        if (!upstream?.off) return []
        const mode = findEngine(id)?.mode ?? id
        return [{ ...NO_TARGET, id, mode, target, kind: upstream.kind, rank: at + 1, state: 'off' }]
      }),
    )
  }

  /** Makes real calls to every target of one upstream, of one mode, or of all. Throws 404 where there is none. */
  async function test(_call: Call<OperatorCaller>, { upstream, mode }: EngineTestQuery): Promise<EngineTest[]> {
    return (await engines.test(upstream, mode === undefined ? undefined : idOf(mode))).map(toTest)
  }

  /**
   * Tests a new upstream and writes it to the configuration file; it is used from the next start on. Nothing is saved when
   * the test fails. Throws 409 when the name is taken or the file cannot be rewritten.
   */
  async function add(call: Call<OperatorCaller>, engine: NewEngine): Promise<AddedEngine> {
    if (deps.setByEnvironment('engines')) throw setElsewhere('SVC_ENGINES')
    const { name, kind, models, api_key: apiKey } = engine
    const upstream = { ...toUpstream(engine, ''), apiKey, apiKeyFile: undefined }
    return tried({ name, upstream, models, test: engine.test }, async () => {
      await saveEngine(place, engine)
      await record(call, 'engine.created', { name, kind, models })
    })
  }

  /**
   * Changes an upstream of the configuration file once it was tested as it will be. Throws 404, and otherwise as
   * {@link add} does.
   */
  async function update(call: Call<OperatorCaller>, name: string, patch: EnginePatch): Promise<AddedEngine> {
    if (deps.setByEnvironment('engines')) throw setElsewhere('SVC_ENGINES')
    const { upstream, apiKey, models } = changedUpstream(place, name, patch)
    const candidate = apiKey ? { ...upstream, apiKey, apiKeyFile: undefined } : upstream
    return tried({ name, upstream: candidate, models, test: patch.test && models.length > 0 }, async () => {
      await updateEngine(place, name, patch)
      const changed = Object.keys({ ...patch.settings, ...patch }).filter(
        (word) => !['settings', 'test'].includes(word),
      )
      await record(call, 'engine.updated', { name, changed })
    })
  }

  /** Removes an upstream from the configuration file. Throws 409 when an engine would be left without any. */
  async function remove(call: Call<OperatorCaller>, name: string, force: boolean): Promise<RemovedEngine> {
    if (deps.setByEnvironment('engines')) throw setElsewhere('SVC_ENGINES')
    await removeEngine(place, name, force)
    await record(call, 'engine.deleted', { name })
    return { object: 'engine', name, removed_from: deps.configFile }
  }

  /** Sets what answers a mode, or with `*` every text mode. Throws 404 for an unknown mode, 400 for unknown targets. */
  async function map(call: Call<OperatorCaller>, mode: string, targets: readonly string[]): Promise<MappedEngine> {
    if (deps.setByEnvironment('engines')) throw setElsewhere('SVC_ENGINES')
    const id = mode === '*' ? mode : idOf(mode)
    opened(withMapping(place, id, targets))
    await mapEngine(place, id, targets)
    await record(call, 'engine.mapped', { id, targets })
    return { object: 'engine_map', id, targets: [...targets], saved_to: deps.configFile }
  }

  function idOf(mode: string): string {
    const id = (engineOfMode(mode) ?? findEngine(mode))?.id
    if (!id) throw notFound('mode')
    return id
  }

  type Candidate = { name: string; upstream: Partial<UpstreamConfig>; models: readonly string[]; test: boolean }

  /** Tests an upstream as it will be and saves it unless a test failed. */
  async function tried({ name, upstream, models, test: tests }: Candidate, save: () => Promise<void>) {
    // Switched off, it is tested as it will be once it is on.
    const given = Object.fromEntries(
      Object.entries(upstream).filter(([member, value]) => value !== undefined && member !== 'off'),
    )
    const targets = models.map((model) => `${name}:${model}`)
    const candidate = opened({
      upstreams: { [name]: given as UpstreamConfig },
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
      saved_to: failed ? null : deps.configFile,
      tests: results,
    }
  }

  /** These engines alone, so that testing them calls nothing else. Throws 400 for settings that contradict each other. */
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

  async function record(call: Call<OperatorCaller>, action: string, metadata: Record<string, unknown>): Promise<void> {
    await store.write((tx) =>
      audit.record(tx, call, { action, entityType: 'engine', entityId: null, input: { metadata } }),
    )
  }
}

type Trial = Awaited<ReturnType<EngineService['test']>>[number]

const toTest = ({ target, kind, checks }: Trial): EngineTest => ({
  id: target,
  kind,
  ok: checks.every(({ ok }) => ok),
  checks: checks.map(({ check, ok, latencyMs, detail }) => ({ check, ok, latency_ms: latencyMs, detail })),
})
