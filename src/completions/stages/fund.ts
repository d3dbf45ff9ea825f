import type { CountedTurn } from '../../agent/schema'
import type { Billing, Prices } from '../../billing'
import { payerOf } from '../../billing/schema'
import { AppError } from '../../kernel/errors'
import { failpoint } from '../../kernel/failpoint'
import type { Store } from '../../kernel/store'
import type { Admitted } from '../run'

type Deps = { store: Store; billing: Billing; prices: Prices }
type Wanted = { promptTokens: number; completionTokens: number }

/** Cost of turns in micro-cents, each at the price of the engine that answered. */
export const costOfTurns = (prices: Prices, turns: readonly CountedTurn[]): number =>
  turns.reduce((sum, turn) => sum + (turn.free ? 0 : prices.costOf(turn.engineId, turn)), 0)

/** Holds money for a run of several turns: the hold covers the first turn and is extended before each further one. */
export function createFund({ store, billing, prices }: Deps) {
  return {
    /**
     * Output tokens that the credit covers in one more turn, at most those wanted. Extends the hold to cover them all;
     * if that fails, returns what the rest of the hold covers.
     */
    async afford(run: Admitted, wanted: Wanted): Promise<number> {
      if (!run.hold) return wanted.completionTokens
      const { engineId } = run
      const spent = costOfTurns(prices, run.spent.turns)
      const forPrompt = prices.costOf(engineId, { promptTokens: wanted.promptTokens })
      const most = (run.ask.bounds?.costMicro ?? Infinity) - spent - forPrompt
      const tokens = Number.isFinite(most)
        ? tokensFor(prices, engineId, most, wanted.completionTokens)
        : wanted.completionTokens
      const lacking = spent + prices.costOf(engineId, { ...wanted, completionTokens: tokens }) - run.hold.amount
      if (lacking <= 0 || (await grow(run, lacking))) return tokens
      return tokensFor(prices, engineId, run.hold.amount - spent - forPrompt, tokens)
    },
  }

  async function grow(run: Admitted, more: number): Promise<boolean> {
    const hold = run.hold!
    try {
      run.hold = await store.write((tx) => billing.extend(tx, hold, payerOf(run.call.caller).caps, more))
      failpoint('hold_grown_before_turn')
      return true
    } catch (error) {
      if (error instanceof AppError && error.kind === 'unpaid') return false
      throw error
    }
  }
}

/** Output tokens that `micro` micro-cents buy, at most `most`. */
export function tokensFor(prices: Prices, engineId: string, micro: number, most: number): number {
  const thousand = prices.costOf(engineId, { completionTokens: 1_000 })
  return thousand === 0 ? most : Math.max(0, Math.min(most, Math.floor((micro * 1_000) / thousand)))
}
