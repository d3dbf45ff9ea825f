import { type Clock, systemClock } from '../kernel/clock'
import type { Store } from '../kernel/store'
import { type About, LEASE_MS, type Lease, remove, removeEarlier, removeLapsed, renewLease } from './repository'

type Deps = About & {
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

export type Nodes = ReturnType<typeof createNodes>

/**
 * The lease of this process, and the end of others' (I8). Does nothing on SQLite, where one process holds the file.
 *
 * A node ends others only after it has renewed its own lease without a gap for as long as a lease lasts: when the
 * database or the whole machine was away, every lease has lapsed and none of it tells that a process is dead.
 */
export function createNodes(deps: Deps) {
  const { store, node, home, roles, ownFiles, clock = systemClock, onClock = () => undefined } = deps
  const about = { home, roles, ownFiles }
  const isCluster = store.dialect === 'postgres'
  let steadySince = 0
  let renewedAt = Number.NEGATIVE_INFINITY
  let serving = { count: 1, rank: 0 }
  let isScattered = false
  let aheadMs = 0
  /** When a living process last had a role, by the database's clock. */
  const seen = new Map<string, number>()

  return {
    isCluster,
    join,
    renew,
    leave,
    /** How many nodes serve, this one included, and how many of them have an id that sorts before its own. */
    serving: () => serving,
    isServed,
    /** Whether one of several nodes keeps files where the others cannot read them. */
    hasScatteredFiles: () => isScattered,
    /** How far the clock of this machine is ahead of the database's, in milliseconds; behind is negative. */
    clockAheadMs: () => aheadMs,
    /** Whether it is so far off that this process takes no work. */
    isFarOff: () => Math.abs(aheadMs) > FAR_OFF_MS,
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
    serving = { count: 1 + lease.serving, rank: lease.before }
    const own = roles === '' ? { serving: 0, folders: 0 } : { serving: 1, folders: Number(ownFiles) }
    isScattered = lease.serving + own.serving > 1 && lease.own_folders + own.folders > 0
    for (const role of `${roles},${lease.roles}`.split(',')) seen.set(role, lease.until - LEASE_MS)
  }

  /** Before the first request. Ends the process that used this data folder before. */
  async function join(): Promise<void> {
    if (!isCluster) return
    const lease = await renewed(() =>
      store.write(async (tx) => {
        await removeEarlier(tx, { id: node, home })
        return renewLease(tx, node, about)
      }),
    )
    heard(lease)
  }

  /** Renews the lease and ends those of nodes that no longer do. */
  async function renew(): Promise<void> {
    if (!isCluster) return
    const lease = await renewed(() => store.writeOne((tx) => renewLease(tx, node, about)))
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
