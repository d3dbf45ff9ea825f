import { hostname, loadavg } from 'node:os'
import { and, asc, eq, gt, isNull, lte, ne, notExists, or, type SQL, sql } from 'drizzle-orm'
import { type Clock, systemClock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import { command, postgresNow, query, type Reader, type Store, type Tx } from '../kernel/store'
import { databaseSecrets, type NodeState, nodes } from './table'

const ONLY = 1

/** Identifies the secrets that the database was written with, and holds them if they are stored there. */
type DatabaseSecrets = { fingerprint: string; wrapped: string | null; wrapped_by: string | null }

const stored = query<{ id: number }>()((db, p) => {
  const t = db.of(databaseSecrets)
  const columns = { fingerprint: t.fingerprint, wrapped: t.wrapped, wrapped_by: t.wrapped_by }
  return db.select(columns).from(t).where(eq(t.id, p.id))
})

const keep = command<DatabaseSecrets & { id: number }>()((tx, p) => {
  const t = tx.of(databaseSecrets)
  return tx
    .insert(t)
    .values({ id: p.id, fingerprint: p.fingerprint, wrapped: p.wrapped, wrapped_by: p.wrapped_by })
    .onConflictDoUpdate({
      target: t.id,
      set: {
        fingerprint: sql`excluded.fingerprint`,
        wrapped: sql`excluded.wrapped`,
        wrapped_by: sql`excluded.wrapped_by`,
      },
    })
})

/** The stored secrets; null for a new database. */
export const secretsOf = async (reader: Reader): Promise<DatabaseSecrets | null> =>
  (await stored(reader, { id: ONLY }))[0] ?? null

/** How long a node counts as alive after it renewed its lease. */
const LEASE_MS = 5_000

/** What a process reports: its data folder, its roles, and whether it stores files in that folder. */
type About = { home: string; roles: string; ownFiles: boolean }

type Renewal = {
  id: string
  home: string | null
  roles: string | null
  own_files: boolean | null
  state: NodeState | null
}

/**
 * A renewed lease. `serving`: ids of the other nodes with a lease, without commands. `roles`: the roles of those that
 * do not drain. Both are comma-separated.
 */
type Lease = {
  until: number
  lapsed: boolean
  serving: string
  roles: string
  own_folders: number
  drain_at: number | null
}

const renewedRepository = command<Renewal>()((tx, p) => {
  const t = tx.of(nodes)
  const until = sql`${postgresNow} + ${LEASE_MS}::bigint`
  const ofOthers = (what: SQL) =>
    sql`(select ${what} from ${t} as each where each.id <> ${p.id} and each.lease_until > ${postgresNow})`
  return tx
    .insert(t)
    .values({
      ...{ id: p.id, home: p.home, roles: p.roles, own_files: p.own_files, state: p.state },
      ...{ lease_until: until, since: postgresNow, drain_at: null },
    } as never)
    .onConflictDoUpdate({
      target: t.id,
      set: {
        lease_until: until,
        home: sql`coalesce(excluded.home, ${t.home})`,
        roles: sql`coalesce(excluded.roles, ${t.roles})`,
        own_files: sql`coalesce(excluded.own_files, ${t.own_files})`,
        state: sql`coalesce(excluded.state, ${t.state})`,
      } as never,
    })
    .returning({
      until: t.lease_until,
      lapsed: sql<boolean>`exists (select 1 from ${t} as each where each.lease_until <= ${postgresNow})`,
      serving: sql<string>`${ofOthers(sql`coalesce(string_agg(each.id, ',') filter (where each.roles <> ''), '')`)}`,
      roles: sql<string>`${ofOthers(sql`coalesce(string_agg(each.roles, ',') filter (where each.roles <> '' and each.drain_at is null), '')`)}`,
      drain_at: t.drain_at,
      own_folders: sql<number>`${ofOthers(sql`(count(*) filter (where each.own_files and each.roles <> ''))::int`)}`,
    })
})

/** Removes nodes whose lease has ended. */
const removeLapsed = command()((tx) => {
  const t = tx.of(nodes)
  return tx.delete(t).where(lte(t.lease_until, postgresNow))
})

/** Removes nodes that used this data folder before. This process has the folder's lock, so they have ended. */
const removeEarlier = command<{ id: string; home: string }>()((tx, p) => {
  const t = tx.of(nodes)
  return tx.delete(t).where(and(eq(t.home, p.home), ne(t.id, p.id)))
})

const remove = command<{ id: string }>()((tx, p) => {
  const t = tx.of(nodes)
  return tx.delete(t).where(eq(t.id, p.id))
})

const others = query<{ home: string }>()((db, p) => {
  const t = db.of(nodes)
  const isOther = or(isNull(t.home), ne(t.home, p.home))
  return db
    .select({ id: t.id })
    .from(t)
    .where(and(isOther, sql`${t.lease_until} > ${postgresNow}`))
    .limit(1)
})

/** Whether processes of other data folders serve this database now; never on SQLite. */
export const hasOtherNodes = async ({ dialect, read }: Store, home: string): Promise<boolean> =>
  dialect === 'postgres' && (await others(read, { home })).length > 0

/** The serving nodes, oldest first. Rows of commands have no roles. */
const servingNodes = query()((db) => {
  const t = db.of(nodes)
  return db
    .select({ id: t.id, roles: t.roles, since: t.since, drain_at: t.drain_at, state: t.state })
    .from(t)
    .where(and(ne(t.roles, ''), gt(t.lease_until, postgresNow as never)))
    .orderBy(asc(t.since), asc(t.id))
})

export type NodeRow = Awaited<ReturnType<typeof servingNodes>>[number]

/** Tells a node to take no more work, or with `drains` false to take work again. */
export const setDrain = command<{ id: string; drains: boolean }>()((tx, p) => {
  const t = tx.of(nodes)
  const at = sql`case when ${p.drains}::boolean then coalesce(${t.drain_at}, ${postgresNow}) end`
  return tx
    .update(t)
    .set({ drain_at: at as never })
    .where(eq(t.id, p.id))
})

type ServiceDeps = About & {
  /** The running release. */
  version?: string
  store: Store
  /** Id of this process, new at each start. */
  node: string
  /** The uncorrected clock of this machine. */
  clock?: Clock
  /** Called with each renewal: how far that clock is ahead of the database's, in milliseconds; negative if behind. */
  onClock?(aheadMs: number): void
}

/** A clock that differs more than this is reported; beyond `FAR_OFF_MS` the process takes no work. */
export const OFF_MS = 5_000

export const FAR_OFF_MS = 60_000

/** How long a role may have no process, for example while its only one restarts. */
const RESTART_MS = 30_000

/** The part of a node's state that only the assembled server knows. */
type Work = Pick<NodeState, 'address' | 'connections' | 'jobs'>

type Deps = { nodes: ReturnType<typeof createNodes>; clock: Clock; onError(name: string, error: unknown): void }

/** Less than a third of the lease, so that a late renewal does not end it. */
export const RENEW_MS = 1_500
const ALONE_MS = 60_000

/** Renews the lease of this process. Does not back off while the database is down, because all leases lapse then. */
export const startLeaseLoop = ({ nodes, clock, onError }: Deps): Loop =>
  startLoop({
    name: 'node-lease',
    // A single process has no lease to renew.
    ...(nodes.isCluster ? { idleMs: RENEW_MS, longestNapMs: RENEW_MS } : { idleMs: ALONE_MS }),
    clock,
    onError,
    tick: async () => {
      await nodes.renew()
      return 0
    },
  })

/**
 * Keeps the lease of this process, and removes nodes whose lease has ended (docs/promises.md I8). Does nothing on
 * SQLite, where one process holds the file.
 *
 * A node removes others only after it has renewed its own lease without a gap for the length of a lease. After an
 * outage of the database or of the machine all leases have lapsed, which does not mean that a process is dead.
 */
export function createNodes(deps: ServiceDeps) {
  const { store, node, home, roles, ownFiles, version = '', clock = systemClock, onClock = () => undefined } = deps
  const about = { home, roles, ownFiles }
  const isCluster = store.dialect === 'postgres'
  let steadySince = 0
  let renewedAt = Number.NEGATIVE_INFINITY
  let others: ReadonlySet<string> = new Set()
  let isScattered = false
  let drainAt: number | null = null
  let lagMs = 0
  const startedAt = clock.now()
  let readWork = (): Work => ({ address: null, connections: 0, jobs: 0 })
  let aheadMs = 0
  /** When a living process last had a role, by the database's clock. */
  const seen = new Map<string, number>()

  return {
    isCluster,
    join,
    renew,
    leave,
    /** Ids of the other nodes that serve, as of the last renewal. */
    others: () => others,
    /** How many nodes serve, as of the last renewal. A command is none. */
    count: () => Number(roles !== '') + others.size,
    isServed,
    list,
    /** Sets the function that each renewal calls for the current work of the process. */
    describe: (read: () => Work) => {
      readWork = read
    },
    /** Wraps a filter of job kinds: takes none while the node drains or its clock is far off. */
    taking: (takes: (kind: string) => boolean) => (kind: string) => drainAt === null && !isFarOff() && takes(kind),
    /** Whether an operator told this node to take no more work. */
    isDraining: () => drainAt !== null,
    /** Whether some node of several stores files where the others cannot read them. */
    hasScatteredFiles: () => isScattered,
    /** How far the clock of this machine is ahead of the database's, in milliseconds; negative if behind. */
    clockAheadMs: () => aheadMs,
    /** Whether the clock is too far off to take work, because due times depend on it. */
    isFarOff,
  }

  function isFarOff(): boolean {
    return Math.abs(aheadMs) > FAR_OFF_MS
  }

  function stateNow(): NodeState {
    const machine = { host: hostname(), load: Math.round(loadavg()[0]! * 100) / 100 }
    return { version, pid: process.pid, ...machine, lag_ms: lagMs, clock_ahead_ms: Math.round(aheadMs), ...readWork() }
  }

  /** The serving nodes, with this node's current state. On SQLite only this process. */
  async function list(): Promise<NodeRow[]> {
    const own = { id: node, roles, since: startedAt, drain_at: drainAt, state: stateNow() }
    if (!isCluster) return roles === '' ? [] : [own]
    return (await servingNodes(store.read, {})).map((row) => (row.id === node ? { ...row, state: own.state } : row))
  }

  /** Whether some process has the role, or had it a moment ago. On SQLite this process has all roles. */
  function isServed(role: string): boolean {
    return !isCluster || renewedAt - Math.max(seen.get(role) ?? 0, steadySince) <= RESTART_MS
  }

  /** Renews the lease and compares the clocks. The database read its own clock between the two local readings. */
  async function renewed(ask: () => Promise<Lease>): Promise<Lease> {
    const before = clock.now()
    const lease = await ask()
    const after = clock.now()
    const now = lease.until - LEASE_MS
    aheadMs = Math.max(before - now, 0) + Math.min(after - now, 0)
    onClock(aheadMs)
    return lease
  }

  function heard(lease: Lease): void {
    others = new Set(lease.serving.split(',').filter(Boolean))
    const own = roles === '' ? { serving: 0, folders: 0 } : { serving: 1, folders: Number(ownFiles) }
    isScattered = others.size + own.serving > 1 && lease.own_folders + own.folders > 0
    drainAt = lease.drain_at
    for (const role of `${drainAt === null ? roles : ''},${lease.roles}`.split(','))
      seen.set(role, lease.until - LEASE_MS)
  }

  /** Call before the first request. Removes the process that used this data folder before. */
  async function join(): Promise<void> {
    if (!isCluster) return
    const lease = await renewed(() =>
      store.write(async (tx) => {
        await removeEarlier(tx, { id: node, home })
        return renewLease(tx, node, { ...about, state: stateNow() })
      }),
    )
    heard(lease)
  }

  /** Renews the lease, and removes nodes that no longer renew theirs. */
  async function renew(): Promise<void> {
    if (!isCluster) return
    const before = clock.monotonic()
    await new Promise<void>((resolve) => setImmediate(resolve))
    lagMs = Math.round((clock.monotonic() - before) * 100) / 100
    const lease = await renewed(() => store.writeOne((tx) => renewLease(tx, node, { ...about, state: stateNow() })))
    const now = lease.until - LEASE_MS
    if (now - renewedAt > LEASE_MS) steadySince = now
    renewedAt = now
    heard(lease)
    if (lease.lapsed && now - steadySince > LEASE_MS) await store.writeOne((tx) => removeLapsed(tx, {}))
  }

  /** Call after the last request. */
  async function leave(): Promise<void> {
    if (isCluster) await store.write((tx) => remove(tx, { id: node }))
  }
}

/**
 * Renews the lease of a node, or begins one. Returns when it ends by the database's clock, whether any lease has
 * lapsed, and what the other live nodes do. Without `about` the stored report stays. Postgres only.
 */
export async function renewLease(tx: Tx, id: string, about: (About & { state?: NodeState }) | null = null) {
  const { home = null, roles = null, ownFiles: own_files = null, state = null } = about ?? {}
  const [lease] = await renewedRepository(tx, { id, home, roles, own_files, state })
  return lease as Lease
}

/** SQL condition: the node has a lease now. Postgres only. */
export function hasLease(db: Reader, id: unknown): SQL {
  const t = db.of(nodes)
  return sql`EXISTS (SELECT 1 FROM ${t} WHERE ${t.id} = ${id} AND ${t.lease_until} > ${postgresNow})`
}

/** SQL condition: the node has no row, because it left or others removed it after its lease ended. */
export function isGone(db: Reader, id: SQL.Aliased | SQL | Parameters<typeof eq>[1]): SQL {
  const t = db.of(nodes)
  return notExists(
    db
      .select({ id: t.id })
      .from(t)
      .where(eq(t.id, id as never)),
  )
}

export async function keepSecrets(tx: Tx, secrets: DatabaseSecrets): Promise<void> {
  await keep(tx, { id: ONLY, ...secrets })
}
