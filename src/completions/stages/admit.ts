import { expectedTokens, type RateLimiter } from '../../rate-limits'
import type { Run } from '../run'
import type { createMoney } from './money'

type Deps = { limiter: RateLimiter; money: Pick<ReturnType<typeof createMoney>, 'reserve'> }

/** The limits of a run: the rate of its mode, its tokens, and its money. */
export function createAdmit({ limiter, money }: Deps) {
  return {
    /**
     * Counts the run towards the rate of its mode, once and as soon as the mode is known: of a mode that the caller
     * named before anything else (contract 1.5), of `auto` when it is decided or the cached answer found (contract 1.6).
     * Throws 429.
     */
    countMode(run: Run): void | Promise<void> {
      if (run.isCounted || run.resolvedMode === 'auto') return
      run.isCounted = true
      return limiter.admitMode(run.call.caller, run.resolvedMode)
    },

    /** Reserves tokens and then money. Throws 429, 503, 402. */
    async admit(run: Run): Promise<void> {
      const expected = expectedTokens(run.promptTokens, run.maxOutputTokens)
      run.ticket = await limiter.reserveTokens(run.call.caller, expected)
      try {
        await money.reserve(run)
      } catch (error) {
        run.ticket.correct(0)
        throw error
      }
    },
  }
}
