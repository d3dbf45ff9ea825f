import { type Clock, iso } from '../kernel/clock'
import type { Draining, Health, Probe } from './status-schema'

type Deps = {
  clock: Clock
  version: string
  /** Aborted once the server is about to stop. */
  leaving: AbortSignal
  /** Whether an operator is taking this node out of the cluster. */
  isDraining(): boolean
  /** Throws when the database cannot be reached. */
  pingDatabase(): Promise<void>
  /** Throws when the database does not persist writes. */
  confirmWrites(): Promise<void>
  /** Whether the last attempted write was lost. */
  isFailing(): boolean
  /** Whether some process serves each role that jobs need. */
  isServed(): boolean
  /** Whether the clock is so wrong that this process accepts no work. */
  isFarOff(): boolean
  /** Null when no Redis is configured. */
  pingRedis: (() => Promise<void>) | null
  /** Probes each engine subsystem with a real request. */
  probeEngines(): Promise<Record<string, Probe>>
  /** A number that changes when the state of the engines has changed since they were probed. */
  engineChanges(): number
}

export type HealthService = ReturnType<typeof createHealth>

/** Results are cached this long, good or bad, so that frequent health checks are cheap (docs/api.md 21). */
const FRESH_MS = 30_000
/** How long a database probe is shared. A lost or recovered database shows within two seconds. */
const DATABASE_FRESH_MS = 500
const PATIENCE_MS = 1_500
const SLOW_DATABASE_MS = 1_000
/** How long to wait for a write that another program blocks, so that the response does not take as long. */
const WRITE_PATIENCE_MS = 50

const UNCONFIGURED: Probe = { status: 'unconfigured', latencyMs: null }

/** Reports the health of the server by probing its dependencies. */
export function createHealth(deps: Deps) {
  const {
    clock,
    version,
    leaving,
    isDraining,
    pingDatabase,
    confirmWrites,
    isFailing,
    isServed,
    isFarOff,
    pingRedis,
    probeEngines,
    engineChanges,
  } = deps
  let last: (Omit<Finding, 'cached'> & { at: number; changes: number; wasFarOff: boolean }) | null = null
  let pinged: { database: Probe; at: number } | null = null
  let finding: Promise<Finding> | null = null

  /** The response of a server that is about to stop or is drained, without probing anything. Else null. */
  const draining = (): Draining | null =>
    leaving.aborted || isDraining() ? { status: 'draining', timestamp: iso(clock.now()), version } : null

  /** The health of the server, and whether it comes from the 30 s cache. */
  async function check(): Promise<Finding> {
    finding ??= find().finally(() => {
      finding = null
    })
    return finding
  }

  async function find(): Promise<Finding> {
    const database = databaseNow()
    if (last && isFresh(last)) {
      const known = last.health.infrastructure.database
      if (isDown(await database) === isDown(known)) return { health: last.health, keeps: last.keeps, cached: true }
    }
    return { ...(await ask(database)), cached: false }
  }

  async function databaseNow(): Promise<Probe> {
    if (pinged && clock.monotonic() - pinged.at < DATABASE_FRESH_MS) return pinged.database
    const database = await probe(pingDatabase)
    pinged = { database, at: clock.monotonic() }
    return database
  }

  /** Whether the cached result is current. Breaker changes (docs/api.md 22.3) and write state changes invalidate it. */
  function isFresh({ at, changes, keeps, wasFarOff }: NonNullable<typeof last>): boolean {
    const isSame = changes === engineChanges() && keeps === !isFailing() && wasFarOff === isFarOff()
    return isSame && clock.monotonic() - at < FRESH_MS
  }

  async function ask(databaseProbe: Promise<Probe>): Promise<Omit<Finding, 'cached'>> {
    const [changes, wasFarOff] = [engineChanges(), isFarOff()]
    const engines = probeEngines()
    const redisProbe = pingRedis ? probe(pingRedis) : UNCONFIGURED
    const [answering, keeps, redis] = await Promise.all([databaseProbe, probeWrites(), redisProbe])
    const database: Probe = keeps || isDown(answering) ? answering : { ...answering, status: 'degraded' }
    // Engines may respond slowly, so a lost database is reported without waiting for them.
    const providers = isDown(database) && last ? last.health.providers : await engines
    const health: Health = {
      // A load balancer must also avoid a server that cannot write or accepts no work.
      status: keeps && !wasFarOff ? overall(database, redis, providers, isServed()) : 'down',
      timestamp: iso(clock.now()),
      version,
      providers,
      infrastructure: { database, redis },
    }
    last = { health, keeps, at: clock.monotonic(), changes, wasFarOff }
    return { health, keeps }
  }

  /** Whether writes persist. If this write must wait, the result of the last attempted write decides. */
  async function probeWrites(): Promise<boolean> {
    const patience = new AbortController()
    const tired = clock.sleep(WRITE_PATIENCE_MS, patience.signal)
    await Promise.race([confirmWrites().catch(() => undefined), tired])
    patience.abort()
    return !isFailing()
  }

  async function probe(ping: () => Promise<void>): Promise<Probe> {
    const startedAt = clock.monotonic()
    const patience = new AbortController()
    const tired = clock.sleep(PATIENCE_MS, patience.signal).then(() => 'down' as const)
    try {
      const outcome = await Promise.race([
        ping().then(
          () => 'up' as const,
          () => 'down' as const,
        ),
        tired,
      ])
      const latencyMs = Math.round((clock.monotonic() - startedAt) * 100) / 100
      if (outcome === 'down') return { status: 'down', latencyMs: null }
      return { status: latencyMs > SLOW_DATABASE_MS ? 'degraded' : 'healthy', latencyMs }
    } finally {
      patience.abort()
    }
  }

  return { check, draining }
}

/** `keeps` is whether the database persists writes. */
type Finding = { health: Health; keeps: boolean; cached: boolean }

const isDown = ({ status }: Probe): boolean => status === 'down'

/**
 * `down` without a database. `degraded` when another configured dependency is slow or does not respond, or no process
 * runs jobs or deliveries.
 */
function overall(database: Probe, redis: Probe, providers: Record<string, Probe>, served: boolean): Health['status'] {
  if (database.status === 'down') return 'down'
  if (!served) return 'degraded'
  const others = [database, redis, ...Object.values(providers)]
  return others.some(({ status }) => status === 'down' || status === 'degraded') ? 'degraded' : 'healthy'
}
