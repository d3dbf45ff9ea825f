import type { Clock } from '../kernel/clock'
import { createSemaphore } from '../kernel/semaphore'
import { EngineFailure } from './engine'

/** Longest wait for a slot; then the next target is asked. */
const WAIT_MS = 30_000

export type ConcurrencySlots = NonNullable<ReturnType<typeof createConcurrencySlots>>

type Deps = { clock: Pick<Clock, 'after'> }

/**
 * Bounds the calls of one upstream (contract 28.4): beyond `concurrency` they wait in the order of their arrival, the
 * owner with the fewest calls first. Null for 0 or nothing, which is no bound.
 */
export function createConcurrencySlots({ concurrency = 0 }: { concurrency?: number }, { clock }: Deps) {
  if (concurrency === 0) return null
  const semaphore = createSemaphore(concurrency)

  return {
    /** Another bound, 0 for none: what runs goes on, and counts. */
    resize: (max: number): void => semaphore.resize(max || Number.POSITIVE_INFINITY),

    /** Has a slot during the work. Throws `throttled` when none was free for 30 s, and the caller's own reason. */
    async hold<T>(owner: string | undefined, caller: AbortSignal, work: () => Promise<T>): Promise<T> {
      const free = await enter(owner, caller)
      try {
        return await work()
      } finally {
        free()
      }
    },

    /** The same until the stream ends or its reader leaves. */
    async *holdStream<T>(owner: string | undefined, caller: AbortSignal, open: () => AsyncGenerator<T>) {
      const free = await enter(owner, caller)
      try {
        yield* open()
      } finally {
        free()
      }
    },
  }

  async function enter(owner: string | undefined, caller: AbortSignal): Promise<() => void> {
    const tired = new AbortController()
    const full = new EngineFailure('throttled', `no slot was free for ${WAIT_MS / 1_000} s`)
    const disarm = clock.after(WAIT_MS, () => tired.abort(full))
    try {
      return await semaphore.enter(owner ?? '', AbortSignal.any([caller, tired.signal]))
    } finally {
      disarm()
    }
  }
}
