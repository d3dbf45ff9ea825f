import type { Clock } from '../kernel/clock'
import type { SessionId } from '../kernel/ids'
import { type Loop, startLoop } from '../kernel/loop'
import type { Sightings } from '../kernel/sightings'
import type { Store } from '../kernel/store'
import { sessionRepository as rows } from './repository'
import { SESSION_MS } from './sessions'

type Deps = { store: Store; sightings: Sightings<SessionId>; clock: Clock }
type LoopDeps = Deps & { onError(name: string, error: unknown): void }

const IDLE_MS = 30_000
const BATCH = 500
/** Another node may still hold a use it has not written down. */
const GRACE_MS = 10 * 60_000

/** Moves on the end of sessions in use and removes those that are over. */
export const startSessionLoop = ({ onError, ...deps }: LoopDeps): Loop =>
  startLoop({ name: 'sessions', idleMs: IDLE_MS, clock: deps.clock, onError, tick: () => tidySessions(deps) })

/** One batch; says how many rows it removed, so that a backlog is worked off at once. */
export async function tidySessions({ store, sightings, clock }: Deps): Promise<number> {
  const uses = sightings.take()
  for (let from = 0; from < uses.length; from += BATCH) {
    const batch = uses.slice(from, from + BATCH)
    await store.write((tx) => rows.slide(tx, batch, SESSION_MS))
  }
  return store.write((tx) => rows.removeEnded(tx, clock.now() - GRACE_MS, BATCH))
}
