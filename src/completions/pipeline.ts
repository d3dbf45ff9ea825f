import type { Step, Thought } from '../agent/schema'
import type { HoldBack } from '../guardrails'
import type { Call } from '../kernel/caller'
import { createAloud, type Progress } from './aloud'
import type { Ask } from './ask'
import type { AnswerCache, StoredAnswer } from './cache'
import { createRecall } from './recall'
import type { Admitted, Decided, Opened, Result } from './run'

export type Stages = {
  /** Loads the conversation, memories, skills and policies that the request uses. 404 */
  open(call: Call, ask: Ask, stream: boolean): Promise<Opened>
  /** Checks the rate limit of a mode that the caller named. 429 */
  admitMode(run: Opened): void
  /** Checks that there is credit, before the cache is read. 402 */
  assertFunds(run: Opened): Promise<void>
  /** Applies the caller's guardrail policy to the request. 400 */
  guardInput(run: Opened): Promise<Opened>
  /** Chooses mode, engine and system prompt. 400 */
  decide(run: Opened): Promise<Decided>
  /** Checks mode rate and tokens, and places the hold on money. 429, 402 */
  admit(run: Decided): Promise<Admitted>
  /** The answer in one piece. 503, 504 */
  whole(run: Admitted): Promise<Thought>
  /** The answer step by step, for a stream. */
  aloud(run: Admitted): AsyncGenerator<Step, Thought>
  /** Applies the policy to the answer; `held` is its hold-back when it was streamed. */
  guardOutput(run: Admitted, thought: Thought, held?: HoldBack | null): Promise<Thought>
  /** Holds back streamed text until rules have checked it; null when no rule needs that. */
  holdBack(run: Admitted): HoldBack | null
  /** Resolves when a stream should wait no longer for the engine before its first frame. */
  patience(): Promise<void>
  /** The text so far as a thought, for a run that ends early. */
  partial(run: Admitted, text: string): Thought
  /** Charges, stores and records the answer. `broken`: the error that ended it early, recorded as a failure. */
  finish(run: Admitted, thought: Thought, broken?: unknown): Promise<Result>
  /** Ends an admitted run that failed: charges what was delivered, or releases the hold. */
  abandon(run: Admitted, partial: Thought, error: unknown): Promise<void>
  /** Counts a cached answer towards its mode's rate limit. 429 */
  admitCached(run: Opened, resolvedMode: string): void
  /** Stores and records a cached answer, at no cost. */
  replay(run: Opened, answer: StoredAnswer): Promise<Result>
}

export type Answered = { run: Opened; result: Result }
export type Pipeline = ReturnType<typeof createPipeline>

/** The stages of a completion in order, one line each (design 3). */
export function createPipeline(stages: Stages, cache: AnswerCache) {
  const { remembered, recited } = createRecall(stages, cache)
  const { thoughtAloud } = createAloud(stages)

  /** Answers a prompt in one piece. */
  async function complete(call: Call, ask: Ask): Promise<Answered> {
    const opened = await stages.open(call, ask, false)
    try {
      stages.admitMode(opened)
      await stages.assertFunds(opened)
      const run = opened.guard ? await stages.guardInput(opened) : opened
      return { run, result: await remembered(run, () => think(run)) }
    } finally {
      opened.deadline.end()
    }
  }

  async function think(run: Opened): Promise<Result> {
    const decided = await stages.decide(run)
    const admitted = await stages.admit(decided)
    const thought = await orAbandon(admitted, guardedWhole(admitted))
    return stages.finish(admitted, thought)
  }

  async function guardedWhole(run: Admitted): Promise<Thought> {
    const thought = await stages.whole(run)
    return run.guard ? stages.guardOutput(run, thought) : thought
  }

  /** Answers a prompt as a stream. Refusals are thrown before the first item. */
  async function* stream(call: Call, ask: Ask): AsyncGenerator<Progress> {
    const opened = await stages.open(call, ask, true)
    try {
      stages.admitMode(opened)
      await stages.assertFunds(opened)
      const run = opened.guard ? await stages.guardInput(opened) : opened
      yield* recited(run, () => thinkAloud(run))
    } finally {
      opened.deadline.end()
    }
  }

  async function* thinkAloud(run: Opened): AsyncGenerator<Progress> {
    const decided = await stages.decide(run)
    const admitted = await stages.admit(decided)
    yield* thoughtAloud(admitted)
  }

  async function orAbandon(run: Admitted, thinking: Promise<Thought>): Promise<Thought> {
    try {
      return await thinking
    } catch (error) {
      await stages.abandon(run, stages.partial(run, ''), error)
      throw error
    }
  }

  return { complete, stream }
}
