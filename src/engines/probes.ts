import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import { addressAdvice } from './addresses'
import { ENGINES, type Subsystem as OfModes } from './catalog'
import { EngineFailure } from './engine'
import type { Target, Targets } from './targets'

/** A line of `providers` in GET /health. */
type Subsystem = OfModes | 'svc-embed'

type ProviderStatus = 'healthy' | 'degraded' | 'down' | 'unconfigured'
/** One line of `providers` in GET /health (docs/api.md 21); `latencyMs` null when nothing was measured. */
export type ProviderHealth = { status: ProviderStatus; latencyMs: number | null }

/** Result of asking one upstream for its models. For operators. */
export type UpstreamState = {
  upstream: string
  address: string
  /** The models that targets use. */
  models: string[]
  up: boolean
  latencyMs: number | null
  /** Why it does not answer; null when it does. */
  problem: string | null
  /** The models it lists; empty if it lists none. */
  listed: string[]
  /** Models that targets use and it does not list; empty if it lists none at all. */
  unlisted: string[]
}

const PATIENCE_MS = 3_000
/** How long GET /health waits for upstreams. */
const HEALTH_PATIENCE_MS = 300
const BETWEEN_MS = 15_000
const SUBSYSTEMS: readonly Subsystem[] = ['svc-core', 'svc-vision', 'svc-search', 'svc-embed']

/**
 * Asks the upstreams whether they answer. Costs nothing and never throws. `embedsAnew`: new vectors do not compare with
 * earlier ones.
 */
export function createProbes(
  targets: Targets,
  clock: Clock,
  lacks: (mode: string) => string | null,
  reembeds: boolean,
) {
  const upstreams = Map.groupBy(new Set([...targets.values()].flat()), ({ upstream }) => upstream)
  const last = new Map<string, UpstreamState>()

  return {
    ask,

    /** The state by subsystem, for GET /health. For a slow upstream it is the last known state. */
    async bySubsystem(): Promise<Record<Subsystem, ProviderHealth>> {
      const patience = new AbortController()
      await Promise.race([ask(), clock.sleep(HEALTH_PATIENCE_MS, patience.signal)])
      patience.abort()
      return Object.fromEntries(SUBSYSTEMS.map((subsystem) => [subsystem, stateOf(subsystem)])) as Record<
        Subsystem,
        ProviderHealth
      >
    },
  }

  /** A subsystem whose engines all lack something else, such as a search server, counts as not configured. */
  function stateOf(subsystem: Subsystem): ProviderHealth {
    if (subsystem === 'svc-embed') {
      const state = sumUp(targets.get('svc-1-embed') ?? [], last)
      return state.status === 'healthy' && reembeds ? { ...state, status: 'degraded' } : state
    }
    const found = sumUp(
      ENGINES.filter(({ engine }) => engine === subsystem).flatMap(({ id }) => targets.get(id) ?? []),
      last,
    )
    const isWhole = ENGINES.some(({ engine, mode }) => engine === subsystem && lacks(mode) === null)
    return found.status === 'healthy' && !isWhole ? { status: 'unconfigured', latencyMs: null } : found
  }

  /** Asks every upstream once, in parallel. */
  function ask(withinMs = PATIENCE_MS): Promise<UpstreamState[]> {
    return Promise.all(
      [...upstreams.values()].map(async (own) => {
        const state = await askOne(own, withinMs)
        // A timeout that is shorter than usual says nothing.
        if (state.up || state.problem !== silenceOf(withinMs) || withinMs >= PATIENCE_MS)
          last.set(state.upstream, state)
        return state
      }),
    )
  }

  async function askOne(own: Target[], withinMs: number): Promise<UpstreamState> {
    const { upstream, address, driver, fit, presence } = own[0]!
    const about = { upstream, address, models: own.map(({ model }) => model) }
    const startedAt = clock.monotonic()
    try {
      const signal = AbortSignal.timeout(withinMs)
      const listed = await driver.probe(signal)
      const better = listed.length ? null : ((await fit?.(signal)) ?? null)
      if (better !== null) throw new EngineFailure('config', addressAdvice(better))
      presence.back()
      for (const target of own) {
        const stated = listed.find(({ id }) => id === target.model)
        if (stated) target.updateAbilities(stated)
      }
      const unlisted = listed.length
        ? about.models.filter((model) => !listed.some(({ id }) => id === model || id.startsWith(`${model}:`)))
        : []
      const latencyMs = Math.round(clock.monotonic() - startedAt)
      return { ...about, up: true, latencyMs, problem: null, listed: listed.map(({ id }) => id), unlisted }
    } catch (error) {
      const problem = error instanceof EngineFailure ? problemOf(error) : silenceOf(withinMs)
      if (error instanceof EngineFailure || withinMs >= PATIENCE_MS) presence.gone(problem)
      return { ...about, up: false, latencyMs: null, problem, listed: [], unlisted: [] }
    }
  }
}

type LoopDeps = {
  engines: { askUpstreams(): Promise<unknown> }
  clock: Clock
  onError(name: string, error: unknown): void
}

/** Asks the upstreams regularly until stopped, so that `GET /models` knows the state of those that nobody calls. */
export function startProbeLoop({ engines, ...own }: LoopDeps): Loop {
  const tick = async () => {
    await engines.askUpstreams()
    return 0
  }
  return startLoop({ name: 'engine-probes', idleMs: BETWEEN_MS, tick, ...own })
}

const silenceOf = (withinMs: number): string => `no answer within ${withinMs / 1_000} s`

function problemOf({ kind, message, cause }: EngineFailure): string {
  if (kind !== 'refused') return message
  const { code } = (cause ?? {}) as { code?: string }
  if (code === 'ENOTFOUND') return 'there is no such host'
  return code === 'ECONNREFUSED' ? 'nothing listens there' : 'no connection'
}

/**
 * A target is up if it is reachable, accepts our key and model, and its breaker is not open. All up is healthy; some
 * up, or not known yet, is degraded; none up is down.
 */
function sumUp(targets: readonly Target[], states: ReadonlyMap<string, UpstreamState>): ProviderHealth {
  if (targets.length === 0) return { status: 'unconfigured', latencyMs: null }
  const up = targets.filter(
    (target) => states.get(target.upstream)?.up && target.breaker.state() !== 'open' && target.fault.why === null,
  )
  const latencies = up.flatMap((target) => states.get(target.upstream)?.latencyMs ?? [])
  const isKnown = targets.every(({ upstream }) => states.has(upstream))
  const status = up.length === targets.length ? 'healthy' : up.length || !isKnown ? 'degraded' : 'down'
  return { status, latencyMs: latencies.length ? Math.max(...latencies) : null }
}
