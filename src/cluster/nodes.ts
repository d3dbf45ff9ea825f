import { hostname, loadavg } from 'node:os'
import { and, asc, eq, gt, isNull, lte, ne, notExists, or, type SQL, sql } from 'drizzle-orm'
import { type Clock, systemClock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import { command, postgresNow, query, type Reader, type Store, type Tx } from '../kernel/store'
import { databaseSecrets, type NodeState, nodes } from './table'

const ONLY = 1

/** Which secrets the database was written with, and these secrets where it has them. */
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

/** What the database knows of its secrets; null when it knows of none yet. */
export const secretsOf = async (reader: Reader): Promise<DatabaseSecrets | null> =>
  (await stored(reader, { id: ONLY }))[0] ?? null

/** How long a node is taken to live after it last said so. */
const LEASE_MS = 5_000

/** What a process says of itself: its data folder, its roles, and whether it keeps files there. */
type About = { home: string; roles: string; ownFiles: boolean }

type Renewal = {
  id: string
  home: string | null
  roles: string | null
  own_files: boolean | null
  state: NodeState | null
}

/**
 * Of the others with a lease `serving` do more than one command: their ids, and `roles` of those that do not drain, both
 * comma-separated.
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

/** Removes the nodes that used this data folder before: its lock tells that they have ended. */
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

/** The nodes that serve now, longest first. Rows of commands have no roles. */
const servingNodes = query()((db) => {
  const t = db.of(nodes)
  return db
    .select({ id: t.id, roles: t.roles, since: t.since, drain_at: t.drain_at, state: t.state })
    .from(t)
    .where(and(ne(t.roles, ''), gt(t.lease_until, postgresNow as never)))
    .orderBy(asc(t.since), asc(t.id))
})

export type NodeRow = Awaited<ReturnType<typeof servingNodes>>[number]

/** Asks a node to take no more work, or with `drains` false to take some again. */
export const setDrain = command<{ id: string; drains: boolean }>()((tx, p) => {
  const t = tx.of(nodes)
  const at = sql`case when ${p.drains}::boolean then coalesce(${t.drain_at}, ${postgresNow}) end`
  return tx
    .update(t)
    .set({ drain_at: at as never })
    .where(eq(t.id, p.id))
})

type ServiceDeps = About & {
  /** The release that runs. */
  version?: string
  store: Store
  /** Id of this process, new at each start. */
  node: string
  /** The clock of this machine, as it is. */
  clock?: Clock
  /** Told with each renewal how far that clock is ahead of the database's, in milliseconds; behind is negative. */
  onClock?(aheadMs: number): void
}

/** A clock so far off is said to be; one farther off makes the process take no work. */
export const OFF_MS = 5_000

export const FAR_OFF_MS = 60_000

/** For this long a role may be without a process, as while the only one that has it is restarted. */
const RESTART_MS = 30_000

type Nodes = ReturnType<typeof createNodes>

/** What only the assembled server knows of what a node does. */
type Work = Pick<NodeState, 'address' | 'connections' | 'jobs'>

type Deps = { nodes: Nodes; clock: Clock; onError(name: string, error: unknown): void }

/** A quarter of the lease, so that one late renewal does not end it. */
export const RENEW_MS = 1_500
const ALONE_MS = 60_000

/** Keeps the lease of this process. A database that was away is tried as often as ever: every lease has lapsed then. */
export const startLeaseLoop = ({ nodes, clock, onError }: Deps): Loop =>
  startLoop({
    name: 'node-lease',
    // One process alone has no lease: it would wake for nothing.
    ...(nodes.isCluster ? { idleMs: RENEW_MS, longestNapMs: RENEW_MS } : { idleMs: ALONE_MS }),
    clock,
    onError,
    tick: async () => {
      await nodes.renew()
      return 0
    },
  })

/**
 * The lease of this process, and the end of others' (docs/promises.md I8). Does nothing on SQLite, where one process
 * holds the file.
 *
 * A node ends others only after it has renewed its own lease without a gap for as long as a lease lasts: when the
 * database or the whole machine was away, every lease has lapsed and none of it tells that a process is dead.
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
    isServed,
    list,
    /** Has the process say what it does with each renewal. */
    describe: (read: () => Work) => {
      readWork = read
    },
    /** Which kinds of jobs it takes of these: none while it is told to take no more, or its clock is far off. */
    taking: (takes: (kind: string) => boolean) => (kind: string) => drainAt === null && !isFarOff() && takes(kind),
    /** Whether an operator asked it to take no more work. */
    isDraining: () => drainAt !== null,
    /** Whether one of several nodes keeps files where the others cannot read them. */
    hasScatteredFiles: () => isScattered,
    /** How far the clock of this machine is ahead of the database's, in milliseconds; behind is negative. */
    clockAheadMs: () => aheadMs,
    /** Whether it is so far off that this process takes no work: what is due is told by the clock. */
    isFarOff,
  }

  function isFarOff(): boolean {
    return Math.abs(aheadMs) > FAR_OFF_MS
  }

  function stateNow(): NodeState {
    const machine = { host: hostname(), load: Math.round(loadavg()[0]! * 100) / 100 }
    return { version, pid: process.pid, ...machine, lag_ms: lagMs, clock_ahead_ms: Math.round(aheadMs), ...readWork() }
  }

  /** The nodes that serve, this one as it is now. On SQLite this process is the only one. */
  async function list(): Promise<NodeRow[]> {
    const own = { id: node, roles, since: startedAt, drain_at: drainAt, state: stateNow() }
    if (!isCluster) return roles === '' ? [] : [own]
    return (await servingNodes(store.read, {})).map((row) => (row.id === node ? { ...row, state: own.state } : row))
  }

  /** Whether a process does this, or did a moment ago. On SQLite this one does all (app/roles). */
  function isServed(role: string): boolean {
    return !isCluster || renewedAt - Math.max(seen.get(role) ?? 0, steadySince) <= RESTART_MS
  }

  /** Renews the lease, and compares the clocks: the database looked at its own while it was asked. */
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

  /** Before the first request. Ends the process that used this data folder before. */
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

  /** Renews the lease and ends those of nodes that no longer do. */
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

  /** After the last request. */
  async function leave(): Promise<void> {
    if (isCluster) await store.write((tx) => remove(tx, { id: node }))
  }
}

/**
 * Renews the lease of a node, or begins one. Returns when it ends, by the database's clock, whether there was one that
 * had ended, and what the other nodes with one do. Without `about` what it said before stays. Postgres only.
 */
export async function renewLease(tx: Tx, id: string, about: (About & { state?: NodeState }) | null = null) {
  const { home = null, roles = null, ownFiles: own_files = null, state = null } = about ?? {}
  const [lease] = await renewedRepository(tx, { id, home, roles, own_files, state })
  return lease as Lease
}

/** Whether a node has a lease at this instant; for statements on Postgres. */
export function hasLease(db: Reader, id: unknown): SQL {
  const t = db.of(nodes)
  return sql`EXISTS (SELECT 1 FROM ${t} WHERE ${t.id} = ${id} AND ${t.lease_until} > ${postgresNow})`
}

/** Whether a node is not among those that serve: it has left, or its lease has ended and others saw it. */
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
