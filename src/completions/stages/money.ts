import type { Billing, Prices } from '../../billing'
import { payerOf } from '../../billing/schema'
import type { Holds } from '../../charging'
import type { EngineService } from '../../engines'
import { AppError } from '../../kernel/errors'
import { failpoint } from '../../kernel/failpoint'
import type { Store } from '../../kernel/store'
import type { VideoService } from '../../media'
import type { ResearchService } from '../../research'
import type { CountedTurn } from '../agent-schema'
import { overBounds } from '../errors'
import { workOf } from '../rules'
import type { Run } from '../run'
import { isHandedOver, isVideo } from './video'

type Deps = {
  store: Store
  holds: Holds
  billing: Billing
  prices: Prices
  engines: EngineService
  research: Pick<ResearchService, 'max'>
  video: Pick<VideoService, 'max'>
}
type Wanted = { promptTokens: number; completionTokens: number }

/** Cost of turns in micro-cents, each at the price of the engine that answered. */
export const costOfTurns = (prices: Prices, turns: readonly CountedTurn[]): number =>
  turns.reduce((sum, turn) => sum + (turn.free ? 0 : prices.costOf(turn.engineId, turn)), 0)

/** The one place where a run asks for money: before the cache is read, before the first turn, before each further one. */
export function createMoney({ store, holds, billing, prices, engines, research, video }: Deps) {
  return { assertCredit, reserve, afford }

  /** Throws 402 without credit or at a cap. Skipped without cache and guard, as `reserve` then soon places the hold. */
  async function assertCredit(run: Run): Promise<void> {
    if (run.cacheKey || run.guard) await billing.assertFunds(store.read, run.call)
  }

  /**
   * Holds the most that the answer can cost; a free one needs only a balance. Before a stream, and while writes fail,
   * waits until the disk has it: what could not be recorded must not be said, nor an engine asked for it. Throws 503
   * `storage_unavailable`, 402.
   */
  async function reserve(run: Run): Promise<void> {
    // Throws 402 when the run's cost limit does not allow it.
    // A job holds its own price. Throws 402 when the run's cost limit does not allow it.
    const amount = isPicture(run)
      ? within(
          run.request,
          engines.drawsItself(run.pictureEngineId) ? 0 : prices.costOf(run.pictureEngineId, { images: 1 }),
        )
      : isVideo(run)
        ? isHandedOver(run)
          ? 0
          : within(run.request, video.max({ seconds: run.request.videoSeconds }))
        : priceOfText(run)
    const surely = run.write !== null || store.failing()
    if (amount === 0) {
      await billing.assertFunds(store.read, run.call)
      if (surely) await store.confirm()
      return
    }
    run.hold = await holds.place(run.call.caller, run.call.requestId, amount, surely)
  }

  function within({ bounds }: Run['request'], price: number): number {
    if (bounds && price > bounds.costMicro) throw overBounds()
    return price
  }

  function priceOfText(run: Run): number {
    if (engines.isFree(run.engineId)) return 0
    run.maxOutputTokens = answerWithin(run)
    const { engineId, promptTokens, maxOutputTokens: completionTokens } = run
    return Math.max(
      prices.costOf(engineId, { promptTokens, completionTokens }),
      run.researchRun
        ? prices.costOf(run.engineId, research.max(run.researchRun.depth, run.researchRun.maxSources))
        : 0,
    )
  }

  /** Output tokens that the run's cost limit allows. Throws 402 when it allows none. */
  function answerWithin({ request, engineId, promptTokens, maxOutputTokens }: Run): number {
    if (!request.bounds) return maxOutputTokens
    const left = request.bounds.costMicro - prices.costOf(engineId, { promptTokens })
    const tokens = tokensFor(prices, engineId, left, maxOutputTokens)
    if (tokens === 0) throw overBounds()
    return tokens
  }

  /**
   * Output tokens that the credit covers in one more turn, at most those wanted. The hold covers the first turn and is
   * extended to cover this one too; if that fails, returns what the rest of the hold covers.
   */
  async function afford(run: Run, wanted: Wanted): Promise<number> {
    if (!run.hold) return wanted.completionTokens
    const { engineId } = run
    const spent = costOfTurns(prices, run.spent.turns)
    const forPrompt = prices.costOf(engineId, { promptTokens: wanted.promptTokens })
    const max = (run.request.bounds?.costMicro ?? Infinity) - spent - forPrompt
    const tokens = Number.isFinite(max)
      ? tokensFor(prices, engineId, max, wanted.completionTokens)
      : wanted.completionTokens
    const lacking = spent + prices.costOf(engineId, { ...wanted, completionTokens: tokens }) - run.hold.amount
    if (lacking <= 0 || (await grow(run, lacking))) return tokens
    return tokensFor(prices, engineId, run.hold.amount - spent - forPrompt, tokens)
  }

  async function grow(run: Run, more: number): Promise<boolean> {
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

/** Whether the answer of a run is a picture. */
export const isPicture = ({ resolvedMode }: Run): boolean => workOf(resolvedMode) === 'image'

/** Output tokens that `micro` micro-cents buy, at most `most`. */
function tokensFor(prices: Prices, engineId: string, micro: number, max: number): number {
  const thousand = prices.costOf(engineId, { completionTokens: 1_000 })
  return thousand === 0 ? max : Math.max(0, Math.min(max, Math.floor((micro * 1_000) / thousand)))
}
