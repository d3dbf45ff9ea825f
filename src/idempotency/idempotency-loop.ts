import { recurring } from '../jobs'
import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { Idempotency } from './service'

type Deps = { idempotency: Idempotency; clock: Clock; onError(name: string, error: unknown): void }

/** A quarter of the lease, so that one late renewal does not lose it. */
const RENEW_MS = 500
/** Half the lease: one that begins meanwhile is renewed in time all the same. */
const NONE_RUNS_MS = 1_000
const EXPIRY_MS = 60_000
const BATCH = 500

/** Renews the leases of the requests that run in this process (Postgres). */
export function startIdempotencyLoop({ idempotency, clock, onError }: Deps): Loop {
  let running = 0
  // On SQLite there are no leases: it would wake for nothing.
  const napMs = () => (running ? RENEW_MS : NONE_RUNS_MS)
  return startLoop({
    name: 'idempotency-leases',
    idleMs: idempotency.hasLeases ? napMs : EXPIRY_MS,
    clock,
    onError,
    tick: async () => {
      running = await idempotency.renewLeases()
      return 0
    },
  })
}

/** Job that deletes expired keys. */
export const expiredKeys = ({ removeExpired, dueAt }: Pick<Idempotency, 'removeExpired' | 'dueAt'>) => {
  const work = async () => {
    while ((await removeExpired(BATCH)) === BATCH);
  }
  return recurring('idempotency.expiry', EXPIRY_MS, work, { dueAt })
}
