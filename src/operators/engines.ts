import type { AuditLog } from '../audit'
import { createEngines, type EngineService, type EngineSettings } from '../engines'
import type { Call, OperatorCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { defineError } from '../kernel/errors'
import type { Log } from '../kernel/log'
import type { Store } from '../kernel/store'
import { saveEngine } from './engine-config'
import type { AddedEngine, EngineTarget, EngineTest, NewEngine } from './schema'

type Deps = {
  store: Store
  audit: AuditLog
  clock: Clock
  log: Log
  engines: Pick<EngineService, 'mapping' | 'test' | 'askUpstreams'>
  settings: EngineSettings
  /** Path of the configuration file, whether or not it exists. */
  configFile: string
  /** SVC_ENGINES is set and would override the file. */
  setByEnvironment: boolean
  dataDir: string
}

const setElsewhere = defineError(
  'conflict',
  'conflict',
  () => 'SVC_ENGINES is set and overrides the configuration file. Add the engine to SVC_ENGINES, or unset it.',
)

/** Settings without any engine, so that testing a candidate calls nothing else. */
const NOTHING: Partial<EngineSettings> = { engineBaseUrl: '', engineApiKey: '', engineBuiltin: false }

const NO_TARGET = { target: null, kind: null, rank: 1, state: 'none', address: null, problem: null } as const

const STATES = { closed: 'ready', 'half-open': 'trying', open: 'failing' } as const

/** What operators do with engines (dx 2.18). Tenants never see these names. */
export function createEngineVerbs(deps: Deps) {
  const { store, audit, engines } = deps
  return { list, test, add }

  /** Every service engine with its targets, in the order they are tried, once each upstream was asked whether it answers. */
  async function list(_call: Call<OperatorCaller>): Promise<EngineTarget[]> {
    const found = new Map((await engines.askUpstreams()).map((state) => [state.upstream, state]))
    return engines.mapping().flatMap(({ engineId: id, mode, targets }): EngineTarget[] => {
      if (!targets.length) return [{ ...NO_TARGET, id, mode }]
      return targets.map(({ target, upstream, kind, breaker }, at) => {
        const { address = null, problem = null } = found.get(upstream) ?? {}
        const state = problem === null ? STATES[breaker] : 'unreachable'
        return { id, mode, target, kind, rank: at + 1, state, address, problem }
      })
    })
  }

  /** Makes real calls to every target of one upstream, or of all. Throws 404 for an unknown upstream. */
  async function test(_call: Call<OperatorCaller>, upstream?: string): Promise<EngineTest[]> {
    return (await engines.test(upstream)).map(toTest)
  }

  /**
   * Tests a new upstream and writes it to the configuration file; it is used from the next start on. Nothing is saved when
   * the test fails. Throws 409 when the name is taken or the file cannot be rewritten.
   */
  async function add(call: Call<OperatorCaller>, engine: NewEngine): Promise<AddedEngine> {
    if (deps.setByEnvironment) throw setElsewhere()
    const candidate = createEngines({ settings: settingsFor(engine), clock: deps.clock, log: deps.log })
    const tests = engine.test ? (await candidate.test(engine.name)).map(toTest) : []
    const failed = tests.some(({ ok }) => !ok)
    if (!failed) {
      await saveEngine({ file: deps.configFile, dataDir: deps.dataDir }, engine)
      await record(call, engine)
    }
    const answered = candidate.mapping().filter(({ targets }) => targets.length)
    return {
      object: 'engine',
      name: engine.name,
      kind: engine.kind,
      models: engine.models,
      modes: answered.map(({ mode }) => mode),
      saved_to: failed ? null : deps.configFile,
      tests,
    }
  }

  function settingsFor({ name, kind, base_url, api_key, models }: NewEngine): EngineSettings {
    const upstream = { kind, ...(base_url ? { baseUrl: base_url } : {}), ...(api_key ? { apiKey: api_key } : {}) }
    const targets = models.map((model) => `${name}:${model}`)
    return { ...deps.settings, ...NOTHING, engines: { upstreams: { [name]: upstream }, models: { '*': targets } } }
  }

  async function record(call: Call<OperatorCaller>, { name, kind, models }: NewEngine): Promise<void> {
    await store.write((tx) =>
      audit.record(tx, call, {
        action: 'engine.created',
        entityType: 'engine',
        entityId: null,
        input: { metadata: { name, kind, models } },
      }),
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
