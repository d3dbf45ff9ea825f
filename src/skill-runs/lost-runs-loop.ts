import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { SkillRuns } from './service'

type Deps = { runs: SkillRuns; clock: Clock; onError(name: string, error: unknown): void }

const IDLE_MS = 60_000

/** Marks runs of dead processes as failed. Stopping the loop waits for the runs of this process. */
export function startLostRunsLoop({ runs, clock, onError }: Deps): Loop {
  const loop = startLoop({ name: 'skill-runs', idleMs: IDLE_MS, clock, onError, tick: () => runs.endLost() })
  return {
    wake: loop.wake,
    stop: async () => {
      await loop.stop()
      await runs.settled()
    },
  }
}
