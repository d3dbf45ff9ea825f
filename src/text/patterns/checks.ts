import type { Clock } from '../../kernel/clock'
import { defineError } from '../../kernel/errors'
import { WorkerFailure } from '../../kernel/worker-pool'
import type { CheckedPattern } from './check'
import { openPatternPool, type Trial } from './worker'

/** CPU time for all patterns of one body. 50 quick ones take a quarter of it. */
export const CHECK_BUDGET_MS = 500
/** Maximum wall-clock time of one pattern, on a busy machine and including the start of its engine. */
const MAX_MS = 3_000
/** The same limit including the wait for other owners. Half of a route's time limit. */
const PATIENCE_MS = 15_000
const IDLE_MS = 30_000

type Tried = { checked: CheckedPattern; ms: number }

/** Tries a backtracking pattern before it is saved. Throws 503 when other owners occupy the process for too long. */
export type PatternCheck = (pattern: string) => Promise<CheckedPattern>

/**
 * Tries patterns in a separate process, so that saving rules does not delay prompts. One body has {@link
 * CHECK_BUDGET_MS} for all its patterns, and owners take turns.
 */
export function createPatternChecks({ clock, budgetMs = CHECK_BUDGET_MS }: { clock: Clock; budgetMs?: number }) {
  const pool = openPatternPool<Tried>(IDLE_MS)

  return function begin(trial: Trial): PatternCheck {
    const until = clock.monotonic() + PATIENCE_MS
    let leftMs = budgetMs
    return async (pattern) => {
      if (leftMs <= 0) return { is: 'late' }
      const { checked, ms } = await inTurn(pattern, leftMs, trial, until - clock.monotonic())
      leftMs -= ms
      return checked
    }
  }

  async function inTurn(pattern: string, budgetMs: number, { who, signal }: Trial, patienceMs: number): Promise<Tried> {
    const { promise: tooLong, reject } = Promise.withResolvers<never>()
    const impatient = new AbortController()
    const disarm = clock.after(patienceMs, () => {
      impatient.abort(othersFirst())
      reject(impatient.signal.reason)
    })
    const trial = { who, signal: AbortSignal.any([signal, impatient.signal]) }
    try {
      return await Promise.race([tried(pattern, budgetMs, trial), tooLong])
    } finally {
      disarm()
    }
  }

  async function tried(pattern: string, budgetMs: number, trial: Trial): Promise<Tried> {
    try {
      return await pool.run({ check: pattern, budgetMs }, { timeoutMs: MAX_MS, ...trial })
    } catch (error) {
      if (!(error instanceof WorkerFailure)) throw error
      return { checked: { is: 'late' }, ms: budgetMs }
    }
  }
}

const othersFirst = defineError(
  'service_unavailable',
  () => 'Too many patterns are being tried at once. Nothing was changed; try again shortly.',
)
