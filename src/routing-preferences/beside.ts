import { type Call, type Caller, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { createHelper, HelperFailure } from '../kernel/helper'
import type { MatchAnswer, MatchOrder } from './match.worker'

/** The budget of contract 13. */
export const BUDGET_MS = 50
/** When a pattern is saved; below the half second after which the runtime gives up and says that nothing matches. */
const VETTING_MS = 300
/** Starting the thread and compiling what is new on it; nobody's patterns run meanwhile. */
const MOST_START_MS = 5_000
const IDLE_MS = 600_000
const MOST_PREPARED = 1_000

export type Beside = ReturnType<typeof createBeside>

/** For whom patterns are tried, and for how long anybody waits. */
export type Trial = { who: string; signal: AbortSignal }

export const trialOf = ({ caller, signal }: Pick<Call<Caller>, 'caller' | 'signal'>): Trial => ({
  ...{ who: caller.type === 'operator' ? 'operator' : ownerOf(caller), signal },
})

/** Which of the patterns match, in their order, and what trying took; null when there was no answer in time. */
export type Tried = { answers: readonly boolean[] | null; ms: number }

/**
 * Patterns on a thread beside the event loop: those that could hold it up (I28), and those that may never end, with
 * which the thread is ended. One thread, so that what was compiled for it is there when the time is taken; owners
 * have it in turns.
 */
export function createBeside({ clock }: { clock: Clock }) {
  const helper = createHelper<MatchOrder, MatchAnswer>({
    open: () => new Worker(new URL('./match.worker.ts', import.meta.url).href),
    most: 1,
    idleMs: IDLE_MS,
  })
  /** What the thread has compiled, and until when it surely stands. */
  const prepared = new Map<string, number>()

  return { match, attackOn }

  async function match(
    patterns: readonly string[],
    text: string,
    { budgetMs = BUDGET_MS, ...trial }: Trial & { budgetMs?: number },
  ): Promise<Tried> {
    try {
      await prepare(patterns, trial)
      const from = clock.monotonic()
      const answers = await helper.do({ patterns, text }, { timeoutMs: budgetMs, ...trial })
      return { answers, ms: clock.monotonic() - from }
    } catch (error) {
      if (!(error instanceof HelperFailure)) throw error
      // The thread was ended, and with it what it had compiled.
      prepared.clear()
      return { answers: null, ms: budgetMs }
    }
  }

  /** A text on which a pattern has no answer, not even in more time than it has; null when none is found. */
  async function attackOn(pattern: string, trial: Trial): Promise<string | null> {
    for (const text of probesFor(pattern)) {
      if (await isStuck(pattern, text, trial)) return text
    }
    return null
  }

  /** Twice, for a machine that is busy is no fault of the pattern. */
  async function isStuck(pattern: string, text: string, trial: Trial): Promise<boolean> {
    for (let attempt = 0; attempt < 2; attempt++) {
      const { answers } = await match([pattern], text, { ...trial, budgetMs: VETTING_MS })
      if (answers) return false
    }
    return true
  }

  async function prepare(patterns: readonly string[], trial: Trial): Promise<void> {
    const key = JSON.stringify(patterns)
    if ((prepared.get(key) ?? -1) >= clock.monotonic()) return
    await helper.do({ patterns, text: null }, { timeoutMs: MOST_START_MS, ...trial })
    if (prepared.size >= MOST_PREPARED) prepared.clear()
    prepared.set(key, clock.monotonic() + IDLE_MS / 2)
  }
}

/** Long enough for what takes twice as long with each character, and for what takes its square. */
const REPEATS = [32, 6_000]
const MOST_PIECES = 8

/** What patterns that backtrack stumble over: their own letters and words, again and again, with an end that spoils it. */
function probesFor(pattern: string): string[] {
  const letters = pattern.replace(/\\./g, '').match(/[\p{L}\p{N} _-]/gu) ?? []
  const words = pattern.match(/\p{L}{2,}/gu) ?? []
  const pieces = [...new Set(['a', '0', ' ', ...letters.slice(0, MOST_PIECES), ...words.slice(0, MOST_PIECES)])]
  return pieces.flatMap((piece) => REPEATS.map((times) => `${piece.repeat(Math.ceil(times / piece.length))}\u0001`))
}
