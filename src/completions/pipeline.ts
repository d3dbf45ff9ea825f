import type { Step, Thought } from '../agent/schema'
import type { HoldBack } from '../guardrails'
import type { Call } from '../kernel/caller'
import { createAloud, type Progress } from './aloud'
import type { Ask } from './ask'
import type { AnswerCache, StoredAnswer } from './cache'
import type { Near } from './near'
import { createRecall } from './recall'
import type { Admitted, Decided, Opened, Result } from './run'

export type Stages = {
  /** Reads what the request builds on. 404 */
  open(call: Call, ask: Ask, stream: boolean): Promise<Opened>
  /** The rate of a mode that was named. 429 */
  admitMode(run: Opened): void
  /** Before a remembered answer is looked for. 402 */
  assertFunds(run: Opened): Promise<void>
  /** The request as the caller's guardrail policy leaves it. 400 */
  guardInput(run: Opened): Promise<Opened>
  /** Mode, engine and system prompt. 400 */
  decide(run: Opened): Promise<Decided>
  /** Mode rate, tokens, and the hold on money. 429, 402 */
  admit(run: Decided): Promise<Admitted>
  /** The answer in one piece. 503, 504 */
  whole(run: Admitted): Promise<Thought>
  /** The answer as it comes. */
  aloud(run: Admitted): AsyncGenerator<Step, Thought>
  /** The answer as the policy leaves it; `held` is its hold-back when it was streamed. */
  guardOutput(run: Admitted, thought: Thought, held?: HoldBack | null): Promise<Thought>
  /** For an answer that is streamed; null when no rule can hold it back. */
  holdBack(run: Admitted): HoldBack | null
  /** How long a stream may wait for the engine before it says that it has begun. */
  patience(): Promise<void>
  /** What was said so far, as a thought of its own. */
  partial(run: Admitted, text: string): Thought
  /** Settles, keeps and records. `broken`: what ended it early; it is paid for and recorded as failed. */
  finish(run: Admitted, thought: Thought, broken?: unknown): Promise<Result>
  /** Ends what was let in and did not finish: paid for as far as it came, or given back. */
  abandon(run: Admitted, partial: Thought, error: unknown): Promise<void>
  /** A remembered answer counts for its mode's rate. 429 */
  admitCached(run: Opened, resolvedMode: string): void
  /** Keeps and records a remembered answer, at no cost. */
  replay(run: Opened, answer: StoredAnswer): Promise<Result>
}

export type Answered = { run: Opened; result: Result }
export type Pipeline = ReturnType<typeof createPipeline>

/** The way of a completion (design 3): each stage one line, in order. */
export function createPipeline(stages: Stages, cache: AnswerCache, near: Near | null) {
  const { remembered, recited } = createRecall(stages, cache, near)
  const { thoughtAloud } = createAloud(stages)

  /** A prompt in, an answer out. */
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

  /** The same, read as it happens. Refusals come before the first item. */
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
