import { type Call, type Caller, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { createHelper, HelperFailure } from '../kernel/helper'
import type { MatchOrder } from './match.worker'

/** The budget of contract 13. */
export const BUDGET_MS = 50
/** Starting the thread and compiling what is new on it; nobody's patterns run meanwhile. */
const MOST_START_MS = 5_000
const IDLE_MS = 600_000
const MOST_PREPARED = 1_000

/** A thread that tries patterns, kept for so long when nobody asks. */
export const openThread = <Answer>(idleMs: number) =>
  createHelper<MatchOrder, Answer>({
    open: () => new Worker(new URL('./match.worker.ts', import.meta.url).href),
    most: 1,
    idleMs,
  })

/** What stops by itself may be late by so much before its thread is ended. */
export const GRACE_MS = 500

export type Beside = ReturnType<typeof createBeside>

/** For whom patterns are tried, and for how long anybody waits. */
export type Trial = { who: string; signal: AbortSignal }

export const trialOf = ({ caller, signal }: Pick<Call<Caller>, 'caller' | 'signal'>): Trial => ({
  who: caller.type === 'operator' ? 'operator' : ownerOf(caller),
  signal,
})

/** Which of the patterns match, in their order, and what trying took; null when there was no answer in time. */
export type Tried = { answers: readonly boolean[] | null; ms: number }

/**
 * Patterns on a thread beside the event loop: those that could hold it up (I28), with which the thread is ended, and
 * those that have to backtrack, which are `stops`: an engine runs them that stops by itself. One thread, so that what
 * was compiled for it is there when the time is taken; owners have it in turns.
 */
export function createBeside({ clock }: { clock: Clock }) {
  const helper = openThread<readonly (boolean | null)[]>(IDLE_MS)
  /** What the thread has compiled, and until when it surely stands. */
  const prepared = new Map<string, number>()

  return { match }

  async function match(
    patterns: readonly string[],
    text: string,
    { budgetMs = BUDGET_MS, stops = false, ...trial }: Trial & { budgetMs?: number; stops?: boolean },
  ): Promise<Tried> {
    try {
      await prepare(patterns, trial)
      const from = clock.monotonic()
      const timeoutMs = budgetMs + (stops ? GRACE_MS : 0)
      const answers = await helper.do({ patterns, text, budgetMs }, { timeoutMs, ...trial })
      const ms = clock.monotonic() - from
      return { answers: answers.every((one) => one !== null) ? answers : null, ms }
    } catch (error) {
      if (!(error instanceof HelperFailure)) throw error
      // The thread was ended, and with it what it had compiled.
      prepared.clear()
      return { answers: null, ms: budgetMs }
    }
  }

  async function prepare(patterns: readonly string[], trial: Trial): Promise<void> {
    const key = JSON.stringify(patterns)
    if ((prepared.get(key) ?? -1) >= clock.monotonic()) return
    await helper.do({ patterns, text: null, budgetMs: MOST_START_MS }, { timeoutMs: MOST_START_MS, ...trial })
    if (prepared.size >= MOST_PREPARED) prepared.clear()
    prepared.set(key, clock.monotonic() + IDLE_MS / 2)
  }
}
