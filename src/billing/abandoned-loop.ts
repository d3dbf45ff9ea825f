import type { AuditLog } from '../audit'
import type { Clock } from '../kernel/clock'
import { failpoint } from '../kernel/failpoint'
import { type Loop, startLoop } from '../kernel/loop'
import type { Store, Tx } from '../kernel/store'
import { expiredHolds, foreignHolds } from './repository'
import { type Hold, requestOf } from './schema'

const IDLE_MS = 30_000
const BATCH = 100

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  node: string
  release(tx: Tx, hold: Hold): Promise<boolean>
}

/**
 * Releases one batch of abandoned holds, each with an audit row (G13). On SQLite there is one process, so every hold
 * of another process is abandoned; on Postgres only expired ones are known to be.
 */
export function releaseAbandonedBatch({ store, clock, audit, node, release }: Deps, limit = BATCH): Promise<number> {
  return store.write(async (tx) => {
    const expired = await expiredHolds(tx, { now: clock.now(), limit })
    const rest = limit - expired.length
    const foreign = tx.dialect === 'sqlite' && rest > 0 ? await foreignHolds(tx, { node, limit: rest }) : []
    let released = 0
    for (const hold of [...expired, ...foreign]) {
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

/** Repeats that while the server runs, for nodes of a cluster that die. */
export const startHoldRecovery = (deps: Deps & { onError(name: string, error: unknown): void }): Loop =>
  startLoop({
    name: 'hold-recovery',
    idleMs: IDLE_MS,
    clock: deps.clock,
    onError: deps.onError,
    tick: () => releaseAbandonedBatch(deps),
  })
