import type { Store } from '../kernel/store'
import { LEASE_MS, remove, removeEarlier, removeLapsed, renewLease } from './repository'

type Deps = {
  store: Store
  /** Id of this process, new at each start. */
  node: string
  /** Id of the data folder. */
  home: string
}

export type Nodes = ReturnType<typeof createNodes>

/**
 * The lease of this process, and the end of others' (I8). Does nothing on SQLite, where one process holds the file.
 *
 * A node ends others only after it has renewed its own lease without a gap for as long as a lease lasts: when the
 * database or the whole machine was away, every lease has lapsed and none of it tells that a process is dead.
 */
export function createNodes({ store, node, home }: Deps) {
  const isCluster = store.dialect === 'postgres'
  let steadySince = 0
  let renewedAt = Number.NEGATIVE_INFINITY
  let others = 0

  return { isCluster, join, renew, leave, count: () => 1 + others }

  /** Before the first request. Ends the process that used this data folder before. */
  async function join(): Promise<void> {
    if (!isCluster) return
    others = await store.write(async (tx) => {
      await removeEarlier(tx, { id: node, home })
      return (await renewLease(tx, node, home)).others
    })
  }

  /** Renews the lease and ends those of nodes that no longer do. */
  async function renew(): Promise<void> {
    if (!isCluster) return
    const at = await store.write(async (tx) => {
      const { until, lapsed, others } = await renewLease(tx, node, home)
      const now = until - LEASE_MS
      const since = now - renewedAt > LEASE_MS ? now : steadySince
      if (lapsed && now - since > LEASE_MS) await removeLapsed(tx, {})
      return { now, since, others }
    })
    others = at.others
    renewedAt = at.now
    steadySince = at.since
  }

  /** After the last request. */
  async function leave(): Promise<void> {
    if (isCluster) await store.write((tx) => remove(tx, { id: node }))
  }
}
