import type { Clock } from '../kernel/clock'
import { type Loop, startLoop } from '../kernel/loop'
import type { Store } from '../kernel/store'
import type { Refusals } from './refusals'

const IDLE_MS = 10_000

type Options = { refusals: Refusals; store: Store; clock: Clock; onError(name: string, error: unknown): void }

/** Adds refused calls to the rollups every ten seconds, and the rest when the server stops. */
export function startRefusalLoop({ refusals, store, clock, onError }: Options): Loop {
  const name = 'usage-refusals'
  const loop = startLoop({ name, idleMs: IDLE_MS, clock, onError, tick: () => refusals.flush(store) })
  const flushAll = async () => {
    while ((await refusals.flush(store)) > 0);
  }
  return {
    wake: loop.wake,
    stop: async () => {
      await loop.stop()
      await flushAll().catch((error) => onError(name, error))
    },
  }
}
