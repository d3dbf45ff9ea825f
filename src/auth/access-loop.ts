import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { AccessWatch } from './access-watch'

type Deps = { access: AccessWatch; clock: Clock; onError(name: string, error: unknown): void }

/** An answer must end within 5 s of its caller's access, so that two looks fit in. */
const IDLE_MS = 2_000
/** While none runs: one that begins meanwhile is looked at in time all the same. */
const NONE_RUNS_MS = 4_000

/** Looks at the access of all running answers until stopped. */
export function startAccessLoop({ access, clock, onError }: Deps): Loop {
  let failing = false
  // Failures are not passed on to the loop, which would then wait longer and longer while the database is away.
  const tick = async () => {
    try {
      await access.check()
      failing = false
    } catch (error) {
      if (!failing) onError('access', error)
      failing = true
    }
    return 0
  }
  return startLoop({ name: 'access', idleMs: () => (access.isIdle() ? NONE_RUNS_MS : IDLE_MS), clock, onError, tick })
}
