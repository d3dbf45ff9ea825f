import type { Clock } from '../kernel/clock'
import { createHelper, HelperFailure } from '../kernel/helper'
import type { MatchAnswer, MatchOrder } from './match.worker'

/** The budget of contract 13. */
const MOST_MS = 50
/** Starting the thread and compiling what is new on it; nobody's patterns run meanwhile. */
const MOST_START_MS = 5_000
const IDLE_MS = 600_000

export type Beside = ReturnType<typeof createBeside>

/**
 * Patterns on a thread beside the event loop: those that could hold it up (I28). One thread, so that what was
 * compiled for it is there when the time is taken.
 */
export function createBeside({ clock }: { clock: Clock }) {
  const helper = createHelper<MatchOrder, MatchAnswer>({
    open: () => new Worker(new URL('./match.worker.ts', import.meta.url).href),
    most: 1,
    idleMs: IDLE_MS,
  })
  /** What the thread has compiled, until when it surely stands. */
  const prepared = new Map<string, number>()

  return {
    /** Which of the patterns match, in their order; null when they had no answer in 50 ms. */
    async match(patterns: readonly string[], text: string, signal: AbortSignal): Promise<readonly boolean[] | null> {
      const key = JSON.stringify(patterns)
      try {
        if ((prepared.get(key) ?? -1) < clock.monotonic()) {
          await helper.do({ patterns, text: null }, { timeoutMs: MOST_START_MS, signal })
          if (prepared.size > 1_000) prepared.clear()
          prepared.set(key, clock.monotonic() + IDLE_MS / 2)
        }
        return await helper.do({ patterns, text }, { timeoutMs: MOST_MS, signal })
      } catch (error) {
        if (!(error instanceof HelperFailure)) throw error
        // The thread was ended, and with it what it had compiled.
        prepared.clear()
        return null
      }
    },
  }
}
