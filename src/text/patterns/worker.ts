import type { Clock } from '../../kernel/clock'
import { createWorkerPool, WorkerFailure } from '../../kernel/worker-pool'
import type { PatternTask } from './match.worker.ts'

/** Time limit in milliseconds for the rules on one prompt (docs/api.md 13). */
export const BUDGET_MS = 50
/** Time limit for starting the process and compiling new patterns in it. No pattern is matched in that time. */
const MAX_START_MS = 5_000
const IDLE_MS = 600_000
const MAX_PREPARED = 1_000

/** A process that tries patterns. It ends after `idleMs` without a task. */
export const openPatternPool = <Answer>(idleMs: number) =>
  createWorkerPool<PatternTask, Answer>({
    script: new URL('./match.worker.ts', import.meta.url),
    max: 1,
    idleMs,
  })

/**
 * How long the backtracking engine may exceed its time before its process is killed. It usually stops by itself, but a
 * comparison with a long group is a single step.
 */
const GRACE_MS = 100

export type PatternWorker = ReturnType<typeof createPatternWorker>

/** The owner for whom patterns are tried, and the signal that ends the wait. */
export type Trial = { who: string; signal: AbortSignal }

/**
 * Whether each pattern matches, in order, null for those without remaining time, and the duration in milliseconds.
 * `answers` is null when one pattern alone took too long.
 */
export type Tried = { answers: readonly (boolean | null)[] | null; ms: number }

/**
 * Matches patterns that could block the event loop (docs/promises.md I28) in a process. Linear patterns that exceed the
 * budget end with the process. Backtracking patterns (`stops`) run on an engine that usually stops by itself. There is
 * a single process, so that patterns are already compiled in it when their time is measured. Owners take turns.
 */
export function createPatternWorker({ clock }: { clock: Clock }) {
  const pool = openPatternPool<readonly (boolean | null)[]>(IDLE_MS)
  /** Lists of patterns compiled in the process, each with the time until which the process certainly still runs. */
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
      const answers = await pool.run({ patterns, text, budgetMs }, { timeoutMs, ...trial })
      const ms = clock.monotonic() - from
      return { answers: stops && answers.includes(null) ? null : answers, ms }
    } catch (error) {
      if (!(error instanceof WorkerFailure)) throw error
      // The process was killed, so its compiled patterns are gone.
      prepared.clear()
      return { answers: null, ms: budgetMs }
    }
  }

  async function prepare(patterns: readonly string[], trial: Trial): Promise<void> {
    const key = JSON.stringify(patterns)
    if ((prepared.get(key) ?? -1) >= clock.monotonic()) return
    await pool.run({ patterns, text: null, budgetMs: MAX_START_MS }, { timeoutMs: MAX_START_MS, ...trial })
    if (prepared.size >= MAX_PREPARED) prepared.clear()
    prepared.set(key, clock.monotonic() + IDLE_MS / 2)
  }
}
