import type { Clock } from '../kernel/clock'
import type { Subsystem } from './catalog'
import { ENGINES } from './catalog'
import type { Target, Targets } from './targets'

export type ProviderStatus = 'healthy' | 'degraded' | 'down' | 'unconfigured'
/** One line of `providers` in GET /health (contract 21); `latencyMs` null when nothing was measured. */
export type ProviderHealth = { status: ProviderStatus; latencyMs: number | null }

const PROBE_TIMEOUT_MS = 3_000
const SUBSYSTEMS: readonly Subsystem[] = ['svc-core', 'svc-vision', 'svc-search']

type Probe = { up: boolean; latencyMs: number | null }

/** Probes every upstream once, in parallel, and reports by subsystem. Costs nothing and never throws. */
export async function probeAll(targets: Targets, clock: Clock): Promise<Record<Subsystem, ProviderHealth>> {
  const upstreams = new Map([...targets.values()].flat().map((target) => [target.upstream, target]))
  const probed = new Map(
    await Promise.all([...upstreams].map(async ([name, target]) => [name, await probe(target, clock)] as const)),
  )
  const summed = SUBSYSTEMS.map((subsystem) => [subsystem, sumUp(targetsOf(subsystem, targets), probed)])
  return Object.fromEntries(summed) as Record<Subsystem, ProviderHealth>
}

async function probe(target: Target, clock: Clock): Promise<Probe> {
  if (target.kind === 'builtin') return { up: true, latencyMs: 0 }
  const started = clock.monotonic()
  try {
    await target.driver.probe(AbortSignal.timeout(PROBE_TIMEOUT_MS))
    return { up: true, latencyMs: Math.round(clock.monotonic() - started) }
  } catch {
    return { up: false, latencyMs: null }
  }
}

const targetsOf = (subsystem: Subsystem, targets: Targets): Target[] =>
  ENGINES.filter(({ engine }) => engine === subsystem).flatMap(({ id }) => targets.get(id) ?? [])

/** A target is up when it is reachable and its breaker is not open: all up is healthy, some degraded, none down. */
function sumUp(targets: readonly Target[], probed: ReadonlyMap<string, Probe>): ProviderHealth {
  if (targets.length === 0) return { status: 'unconfigured', latencyMs: null }
  const up = targets.filter((target) => probed.get(target.upstream)?.up && target.breaker.state() !== 'open')
  const latencies = up.flatMap((target) => probed.get(target.upstream)?.latencyMs ?? [])
  const status = up.length === targets.length ? 'healthy' : up.length ? 'degraded' : 'down'
  return { status, latencyMs: latencies.length ? Math.max(...latencies) : null }
}
