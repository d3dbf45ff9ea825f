import type { Billing, Prices } from '../../billing'
import { type Hold, payerOf, refOf } from '../../billing/schema'
import type { EngineService } from '../../engines'
import type { Clock } from '../../kernel/clock'
import { AppError } from '../../kernel/errors'
import { failpoint } from '../../kernel/failpoint'
import type { Store, Tx } from '../../kernel/store'
import type { RateLimiter } from '../../rate-limits'
import { overBounds } from '../errors'
import type { Admitted, Decided, Opened } from '../run'
import { tokensFor } from './fund'

type Deps = {
  store: Store
  clock: Clock
  limiter: RateLimiter
  billing: Billing
  prices: Prices
  engines: EngineService
}

/** Output tokens that admission reserves; corrected to the true number when the call ends (contract 1.6). */
const EXPECTED_OUTPUT_TOKENS = 1_024

export function createAdmit({ store, clock, limiter, billing, prices, engines }: Deps) {
  return {
    /** Checks the rate limit of a mode that the caller named, before anything else (contract 1.5). Throws 429. */
    admitMode(run: Opened): void {
      if (run.ask.mode !== 'auto') limiter.admitMode(run.call.caller, run.ask.mode)
    },

    /** Throws 402 without credit or at a cap. Skipped without cache and guard, as `admit` then soon places the hold. */
    async assertFunds(run: Opened): Promise<void> {
      if (run.cacheKey || run.guard) await billing.assertFunds(store.read, run.call)
    },

    /** A cached answer counts towards its mode's rate, not towards tokens (contract 1.6). Throws 429. */
    admitCached(run: Opened, resolvedMode: string): void {
      if (run.ask.mode === 'auto') limiter.admitMode(run.call.caller, resolvedMode)
    },

    /** Checks the mode's rate limit, reserves tokens and places the hold, in this order. Throws 429, 429, 503, 402. */
    async admit(run: Decided): Promise<Admitted> {
      const { caller } = run.call
      if (run.ask.mode === 'auto') limiter.admitMode(caller, run.resolvedMode)
      const ticket = limiter.reserveTokens(
        caller,
        run.promptTokens + Math.min(EXPECTED_OUTPUT_TOKENS, run.maxOutputTokens),
      )
      try {
        const maxOutputTokens = answerWithin(run)
        const hold = await reserve({ ...run, maxOutputTokens })
        return {
          ...run,
          maxOutputTokens,
          hold,
          spent: { turns: [], uses: [], said: 0 },
          correctTokens: (actual) => ticket.correct(actual),
        }
      } catch (error) {
        ticket.correct(0)
        throw error
      }
    },
  }

  /** Output tokens that the run's cost limit allows. Throws 402 when it allows none. */
  function answerWithin({ ask, engineId, promptTokens, maxOutputTokens }: Decided): number {
    if (!ask.bounds || engines.isFree(engineId)) return maxOutputTokens
    const left = ask.bounds.costMicro - prices.costOf(engineId, { promptTokens })
    const tokens = tokensFor(prices, engineId, left, maxOutputTokens)
    if (tokens === 0) throw overBounds()
    return tokens
  }

  /**
   * Holds the most that the answer can cost; a free one needs only a balance. Before a stream, and while writes fail,
   * waits until the disk has it: what could not be recorded must not be said, nor an engine asked for it. Throws 503
   * `storage_unavailable`.
   */
  async function reserve(run: Decided): Promise<Hold | null> {
    const { promptTokens, maxOutputTokens: completionTokens } = run
    const amount = engines.isFree(run.engineId) ? 0 : prices.costOf(run.engineId, { promptTokens, completionTokens })
    const surely = run.stream || store.failing()
    if (amount === 0) {
      await billing.assertFunds(store.read, run.call)
      if (surely) await store.confirm()
      return null
    }
    const { caller, requestId } = run.call
    const wanted = { ...payerOf(caller), ref: refOf(requestId, clock.now()), amount }
    const place = (tx: Tx) => billing.reserve(tx, wanted)
    const hold = await (surely ? store.write(place) : store.writeSoon(place)).catch((error: unknown) => {
      // The commit may have reached a database that could not say so any more.
      if (error instanceof AppError && error.kind === 'unavailable') billing.releaseLater(wanted.ref)
      throw error
    })
    failpoint('after_hold_commit')
    return hold
  }
}
