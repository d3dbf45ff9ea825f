import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { Checkpoints } from './checkpoints'

const LOOK_EVERY_MS = 5_000
/** After a pass the loop rests 50 times as long as the pass took, so that many chains cost at most 2 % of the time. */
const REST = 50

type Deps = { checkpoints: Checkpoints; clock: Clock; onError(name: string, error: unknown): void }

/** Signs due checkpoints every few seconds, and at shutdown signs every chain that has changed (contract 19). */
export function startCheckpointLoop({ checkpoints, clock, onError }: Deps): Loop {
  const name = 'audit checkpoints'
  let restUntil = 0
  const tick = async () => {
    const began = clock.monotonic()
    if (began < restUntil) return 0
    await checkpoints.signDue()
    const ended = clock.monotonic()
    restUntil = ended + (ended - began) * REST
    return 0
  }
  const loop = startLoop({ name, tick, idleMs: LOOK_EVERY_MS, clock, onError })
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop()
      await checkpoints.signDue({ all: true }).catch((error) => onError(name, error))
    },
  }
}
