import { recurring } from '../jobs'
import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { Idempotency } from './service'

type Deps = { idempotency: Idempotency; clock: Clock; onError(name: string, error: unknown): void }

/** A quarter of the lease, so that one late renewal does not lose it. */
const RENEW_MS = 500
const EXPIRY_MS = 60_000
const BATCH = 500

/** Renews the leases of the requests that run in this process (Postgres). */
export const startIdempotencyLoop = ({ idempotency, clock, onError }: Deps): Loop =>
  startLoop({
    name: 'idempotency-leases',
    // On SQLite there are no leases: it would wake for nothing.
    idleMs: idempotency.hasLeases ? RENEW_MS : EXPIRY_MS,
    clock,
    onError,
    tick: async () => {
      await idempotency.renewLeases()
      return 0
    },
  })

/** Job that deletes expired keys. */
export const expiredKeys = (idempotency: Pick<Idempotency, 'removeExpired'>) =>
  recurring('idempotency.expiry', EXPIRY_MS, async () => {
    while ((await idempotency.removeExpired(BATCH)) === BATCH);
  })
