import type { AuditLog } from '../audit'
import type { Clock } from '../kernel/clock'
import { failpoint } from '../kernel/failpoint'
import { type Loop, startLoop } from '../kernel/loop'
import type { Store, Tx } from '../kernel/store'
import { RENEW_MS } from '../nodes'
import { anyAbandoned, expiredHolds, openHolds, orphanedHolds } from './repository'
import { type Hold, requestOf } from './schema'

const IDLE_MS = 30_000
const BATCH = 100

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  node: string
  release(tx: Tx, hold: Hold): Promise<boolean>
  /** References of holds whose request could not end them, as when the database was away. */
  unended?: Set<string>
}

/**
 * Releases one batch of abandoned holds, each with an audit row (G13): those that their request could not end, those
 * past their time, and those of processes that have ended.
 */
export async function releaseAbandonedBatch(deps: Deps, limit = BATCH): Promise<number> {
  const { store, clock, audit, node, release, unended = new Set() } = deps
  if (!unended.size && !(await hasAbandoned(deps))) return 0
  return store.write(async (tx) => {
    const refs = [...unended].slice(0, limit)
    const left = refs.length ? await openHolds(tx, refs) : []
    tx.afterCommit(() => {
      for (const ref of refs) unended.delete(ref)
    })
    const expired = await expiredHolds(tx, { node, now: clock.now(), limit })
    const orphaned = await orphanedHolds(tx, { node, limit })
    const found = [...left, ...expired, ...orphaned].slice(0, limit)
    let released = 0
    for (const hold of found) {
      if (!(await release(tx, hold))) continue
      released += 1
      failpoint('recovery_step')
      const about = { scope: hold.owner, requestId: requestOf(hold.ref), keyId: hold.keyId }
      await audit.recordUnattended(tx, about, {
        action: 'completion.interrupted',
        entityType: 'completion',
        entityId: null,
        output: { cost_cents: 0, error_code: 'server_error' },
      })
    }
    return released
  })
}

/** A look without a transaction: nearly always there is none. */
async function hasAbandoned({ store: { read }, clock, node }: Deps): Promise<boolean> {
  return (await anyAbandoned(read, { node, now: clock.now() })).length > 0
}

/** Repeats that while the server runs: in a cluster as often as leases are renewed, for nodes that die (I8). */
export function startHoldRecovery(deps: Deps & { onError(name: string, error: unknown): void }): Loop {
  const { clock, onError } = deps
  const pace = deps.store.dialect === 'postgres' ? { idleMs: RENEW_MS, longestNapMs: RENEW_MS } : { idleMs: IDLE_MS }
  return startLoop({ name: 'hold-recovery', ...pace, clock, onError, tick: () => releaseAbandonedBatch(deps) })
}
