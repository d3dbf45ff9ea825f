import { type Clock, iso } from '../kernel/clock'
import type { Draining, Health, Probe } from './health-schema'

type Deps = {
  clock: Clock
  version: string
  /** Aborted once the server is about to stop. */
  leaving: AbortSignal
  /** Whether an operator takes this node out of the cluster. */
  isDraining(): boolean
  /** Throws when the database cannot be reached. */
  pingDatabase(): Promise<void>
  /** Throws when the database does not keep what is written. */
  confirmWrites(): Promise<void>
  /** Whether the last write that was tried was lost. */
  isFailing(): boolean
  /** Whether some process does each thing that orders need. */
  isServed(): boolean
  /** Whether the clock is so wrong that this process takes no work. */
  isFarOff(): boolean
  /** Null where no Redis is configured. */
  pingRedis: (() => Promise<void>) | null
  /** Probes each subsystem of engines with a real request. */
  probeEngines(): Promise<Record<string, Probe>>
  /** A number that differs once the engines changed since they were probed. */
  engineChanges(): number
}

export type HealthService = ReturnType<typeof createHealth>

/** Results are cached this long, good or bad, so that frequent health checks cost nothing (docs/api.md 21). */
const FRESH_MS = 30_000
/** A database that goes away or comes back shows within two seconds, cached or not: its probe is shared this long. */
const DATABASE_FRESH_MS = 500
const PATIENCE_MS = 1_500
const SLOW_DATABASE_MS = 1_000
/** A write that waits for another program is not waited for: the answer must not take as long. */
const WRITE_PATIENCE_MS = 50

const UNCONFIGURED: Probe = { status: 'unconfigured', latencyMs: null }

/** Reports whether everything answers, by probing it. */
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

  /** What a server says that is about to stop or is drained, at once and without asking anything; else null. */
  const draining = (): Draining | null =>
    leaving.aborted || isDraining() ? { status: 'draining', timestamp: iso(clock.now()), version } : null

  /** The state of the server, and whether it comes from the cache of the last 30 s. */
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

  /**
   * What an engine's breaker did since is not hidden by the cache (docs/api.md 22.3), nor that writes fail or succeed.
   */
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
    // Engines may be slow to answer: news of the database does not wait for theirs.
    const providers = isDown(database) && last ? last.health.providers : await engines
    const health: Health = {
      // A server that can write nothing, or takes no work, is of no more use to a load balancer than one without a
      // database.
      status: keeps && !wasFarOff ? overall(database, redis, providers, isServed()) : 'down',
      timestamp: iso(clock.now()),
      version,
      providers,
      infrastructure: { database, redis },
    }
    last = { health, keeps, at: clock.monotonic(), changes, wasFarOff }
    return { health, keeps }
  }

  /** Whether writes are kept; the last one that was tried tells, where this one must wait. */
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

/** `keeps`: whether the database keeps what is written. */
type Finding = { health: Health; keeps: boolean; cached: boolean }

const isDown = ({ status }: Probe): boolean => status === 'down'

/**
 * `down` without a database; `degraded` when anything else that is configured is slow or does not answer, or nobody
 * runs jobs or deliveries.
 */
function overall(database: Probe, redis: Probe, providers: Record<string, Probe>, served: boolean): Health['status'] {
  if (database.status === 'down') return 'down'
  if (!served) return 'degraded'
  const others = [database, redis, ...Object.values(providers)]
  return others.some(({ status }) => status === 'down' || status === 'degraded') ? 'degraded' : 'healthy'
}
