import { recurring } from '../../jobs'
import type { Clock } from '../../kernel/clock'
import type { SessionId } from '../../kernel/ids'
import { type Loop, startLoop } from '../../kernel/loop'
import type { Store } from '../../kernel/store'
import type { LastSeenBuffer } from '../last-seen-buffer'
import type { Attempts } from './attempts'
import type { SignInLinks } from './links'
import { sessionRepository as rows } from './repository'
import { SESSION_MS } from './sessions'

type Deps = { store: Store; sightings: LastSeenBuffer<SessionId> }
type LoopDeps = Deps & { clock: Clock; onError(name: string, error: unknown): void }

const IDLE_MS = 30_000
const TIDY_EVERY_MS = 600_000
const BATCH = 500
/** Expired sessions are kept this long, because another node may still have a use it has not written yet. */
const GRACE_MS = 10 * 60_000

/** Extends sessions that were used. */
export const startSessionLoop = ({ clock, onError, ...deps }: LoopDeps): Loop =>
  startLoop({
    name: 'sessions',
    idleMs: IDLE_MS,
    clock,
    onError,
    tick: async () => {
      await writeSessionUses(deps)
      return 0
    },
  })

type Expiring = Pick<LoopDeps, 'store' | 'clock'>

type Tidied = Expiring & { attempts: Pick<Attempts, 'tidy'>; signInLinks: Pick<SignInLinks, 'tidy'> }

/** Job that removes expired sessions and sign-in links, and attempts to sign in that no longer count. */
export const expiredSessions = ({ attempts, signInLinks, ...deps }: Tidied) =>
  recurring('auth.sessions', TIDY_EVERY_MS, async () => {
    while ((await removeExpiredSessions(deps)) === BATCH);
    while ((await attempts.tidy(BATCH)) === BATCH);
    while ((await signInLinks.tidy(BATCH)) === BATCH);
  })

/** Removes one batch. Returns how many. */
export const removeExpiredSessions = ({ store, clock }: Expiring): Promise<number> =>
  store.write((tx) => rows.removeEnded(tx, clock.now() - GRACE_MS, BATCH))

/** Extends the sessions that were used since the last call. */
export async function writeSessionUses({ store, sightings: lastSeenBuffer }: Deps): Promise<void> {
  const uses = lastSeenBuffer.take()
  for (let from = 0; from < uses.length; from += BATCH) {
    const batch = uses.slice(from, from + BATCH)
    await store.write((tx) => rows.slide(tx, batch, SESSION_MS))
  }
}
