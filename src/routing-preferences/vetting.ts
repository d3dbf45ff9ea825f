import type { Clock } from '../kernel/clock'
import { defineError } from '../kernel/errors'
import { HelperFailure } from '../kernel/helper'
import { GRACE_MS, openThread, type Trial } from './beside'
import type { Vetted } from './vet'

/** All patterns of one body together, on the thread: 50 that are quick take an eighth of it. */
export const VETTING_BUDGET_MS = 4_000
/** With waiting for others who save; half of what a route has. */
const PATIENCE_MS = 15_000
/** Starting the thread and its engine. */
const MOST_START_MS = 3_000
const IDLE_MS = 30_000

type Tried = { vetted: Vetted; ms: number }

/** Tries a pattern that has to backtrack before it is saved. Throws 503 when others keep it waiting for too long. */
export type Vet = (pattern: string) => Promise<Vetted>

/**
 * Tries patterns on a thread of its own, so that nobody's prompts wait for what somebody saves. One body has
 * {@link VETTING_BUDGET_MS} for all its patterns, and owners have the thread in turns.
 */
export function createVetting({ clock }: { clock: Clock }) {
  const helper = openThread<Tried>(IDLE_MS)

  return function begin(trial: Trial): Vet {
    const until = clock.monotonic() + PATIENCE_MS
    let leftMs = VETTING_BUDGET_MS
    return async (pattern) => {
      if (leftMs <= 0) return { is: 'late' }
      const { vetted, ms } = await inTurn(pattern, leftMs, trial, until - clock.monotonic())
      leftMs -= ms
      return vetted
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
      return await helper.do({ vet: pattern, budgetMs }, { timeoutMs: budgetMs + MOST_START_MS + GRACE_MS, ...trial })
    } catch (error) {
      if (!(error instanceof HelperFailure)) throw error
      return { vetted: { is: 'late' }, ms: budgetMs }
    }
  }
}

const othersFirst = defineError(
  'unavailable',
  'service_unavailable',
  () => 'Too many patterns are being tried at once. Nothing was changed; try again shortly.',
)
