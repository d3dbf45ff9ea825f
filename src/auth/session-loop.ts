import type { Clock } from '../kernel/clock'
import type { SessionId } from '../kernel/ids'
import { type Loop, startLoop } from '../kernel/loop'
import type { Sightings } from '../kernel/sightings'
import type { Store } from '../kernel/store'
import type { Attempts } from './attempts'
import { sessionRepository as rows } from './repository'
import { SESSION_MS } from './sessions'

type Deps = { store: Store; sightings: Sightings<SessionId>; clock: Clock }
type LoopDeps = Deps & { attempts: Pick<Attempts, 'tidy'>; onError(name: string, error: unknown): void }

const IDLE_MS = 30_000
const BATCH = 500
/** Expired sessions are kept this long, because another node may still have a use it has not written yet. */
const GRACE_MS = 10 * 60_000

/** Extends sessions that were used, and removes expired ones and attempts to sign in that no longer count. */
export const startSessionLoop = ({ onError, attempts, ...deps }: LoopDeps): Loop => {
  const tick = async () => (await tidySessions(deps)) + (await attempts.tidy(BATCH))
  return startLoop({ name: 'sessions', idleMs: IDLE_MS, clock: deps.clock, onError, tick })
}

/** Processes one batch and returns how many rows it removed, so that the loop runs again at once while there are more. */
export async function tidySessions({ store, sightings, clock }: Deps): Promise<number> {
  await writeSessionUses({ store, sightings })
  return store.write((tx) => rows.removeEnded(tx, clock.now() - GRACE_MS, BATCH))
}

/** Extends the sessions that were used since the last call. */
export async function writeSessionUses({ store, sightings }: Omit<Deps, 'clock'>): Promise<void> {
  const uses = sightings.take()
  for (let from = 0; from < uses.length; from += BATCH) {
    const batch = uses.slice(from, from + BATCH)
    await store.write((tx) => rows.slide(tx, batch, SESSION_MS))
  }
}
