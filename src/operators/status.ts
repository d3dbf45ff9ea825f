import type { Call, OperatorCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { Health, Status } from './status-schema'

/** Facts that only the assembled server knows. */
type ServerFacts = {
  version: string
  production: boolean
  /** Null while the app runs inside a command and does not listen. */
  apiUrl: string | null
  publicUrl: string | null
  dataDir: string
  pid: number
  startedAt: number
  database: { dialect: 'sqlite' | 'postgres'; place: string }
}

type Mapping = { targets: { kind: string; breaker: string }[] }[]

type Deps = {
  clock: Clock
  facts(): ServerFacts
  health(): Promise<Pick<Health, 'status' | 'providers' | 'infrastructure'>>
  /** Throws when the database does not respond. */
  schema(): Promise<{ applied: number; known: number }>
  mapping(): Mapping
  /** Null when no Redis is configured. `problem` explains why Redis is unreachable. */
  redis: { problem(): string | null; evicts(): Promise<string | null> } | null
  /** Settings under which the database may lose acknowledged data. */
  risks(): Promise<string[]>
  nodes: {
    count(): number
    list(): Promise<{ state: { clock_ahead_ms: number } | null }[]>
    isServed(role: string): boolean
    hasScatteredFiles(): boolean
    clockAheadMs(): number
  }
  /** Roles that at least one process must serve. */
  needed: readonly string[]
}

/** The status page: the running server, its place and its health (docs/operating.md 2.8). */
export function createStatus({ clock, facts, health, schema, mapping, redis, risks, nodes, needed }: Deps) {
  return async function status({ caller }: Call<OperatorCaller>): Promise<Status> {
    const { version, production, apiUrl, publicUrl, dataDir, pid, startedAt, database } = facts()
    const { status: state, infrastructure } = await health()
    const unknown = { applied: null, known: null }
    // Does not query a database that is known to be down.
    const isDown = infrastructure.database.status === 'down'
    const [{ applied, known }, risky, listed, evicts] = await Promise.all([
      isDown ? unknown : schema().catch(() => unknown),
      isDown ? [] : risks().catch(() => []),
      isDown ? [] : nodes.list().catch(() => []),
      redis?.evicts().catch(() => null) ?? null,
    ])
    const clocks = listed.map((node) => node.state?.clock_ahead_ms ?? 0)
    return {
      object: 'status',
      version,
      mode: production ? 'production' : 'dev',
      health: state,
      api_url: apiUrl,
      public_url: publicUrl,
      data_dir: dataDir,
      pid,
      started_at: iso(startedAt),
      now: iso(clock.now()),
      database: {
        ...database,
        ok: !isDown,
        latency_ms: infrastructure.database.latencyMs,
        migrations_applied: applied,
        migrations_known: known,
        risks: risky,
      },
      redis: redis && {
        ok: infrastructure.redis.status !== 'down',
        latency_ms: infrastructure.redis.latencyMs,
        problem: redis.problem(),
        evicts,
      },
      nodes: {
        count: nodes.count(),
        unserved: needed.filter((role) => !nodes.isServed(role)),
        scattered_files: nodes.hasScatteredFiles(),
        clock_ahead_ms: nodes.clockAheadMs(),
        clocks_apart_ms: clocks.length ? Math.max(...clocks) - Math.min(...clocks) : 0,
      },
      engines: countEngines(mapping()),
      operator: { name: caller.name, role: caller.role },
    }
  }
}

function countEngines(mapping: Mapping): Status['engines'] {
  const [connected, builtin] = [mapping.filter(isConnected), mapping.filter(isBuiltin)]
  const failing = connected.filter(({ targets }) => targets.every(({ breaker }) => breaker === 'open'))
  return { connected: connected.length, builtin: builtin.length, failing: failing.length }
}

const isBuiltin = ({ targets }: Mapping[number]): boolean => targets.some(({ kind }) => kind === 'builtin')
const isConnected = ({ targets }: Mapping[number]): boolean => targets.some(({ kind }) => kind !== 'builtin')
