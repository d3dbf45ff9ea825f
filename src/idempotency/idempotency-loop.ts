import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { Idempotency } from './service'

type Deps = { idempotency: Idempotency; clock: Clock; onError(name: string, error: unknown): void }

/** A quarter of the lease, so that one late renewal does not lose it. */
const RENEW_MS = 500
const TIDY_MS = 60_000
const BATCH = 500

/** Renews the leases of running requests (Postgres) and deletes expired keys. */
export function startIdempotencyLoop({ idempotency, clock, onError }: Deps): Loop {
  const renewing = startLoop({
    name: 'idempotency-leases',
    idleMs: RENEW_MS,
    clock,
    onError,
    tick: async () => {
      await idempotency.renewLeases()
      return 0
    },
  })
  const tidying = startLoop({
    name: 'idempotency-expiry',
    idleMs: TIDY_MS,
    clock,
    onError,
    tick: async () => ((await idempotency.removeExpired(BATCH)) === BATCH ? BATCH : 0),
  })
  return {
    wake: tidying.wake,
    stop: async () => {
      await Promise.all([renewing.stop(), tidying.stop()])
    },
  }
}
