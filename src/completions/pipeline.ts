import type { Step, Thought } from '../agent/schema'
import type { Call } from '../kernel/caller'
import type { Ask } from './ask'
import type { AnswerCache, StoredAnswer } from './cache'
import { clientLeft } from './errors'
import type { Admitted, Decided, Opened, Result } from './run'

export type Stages = {
  open(call: Call, ask: Ask, stream: boolean): Promise<Opened>
  admitExplicitMode(run: Opened): void
  assertFunds(run: Opened): Promise<void>
  admitCached(run: Opened, resolvedMode: string): void
  decide(run: Opened): Promise<Decided>
  admit(run: Decided): Promise<Admitted>
  whole(run: Admitted): Promise<Thought>
  aloud(run: Admitted): AsyncGenerator<Step, Thought>
  /** How long a stream may wait for the engine before it says that it has begun. */
  patience(): Promise<void>
  /** What was said so far, as a thought of its own. */
  partial(run: Admitted, text: string): Thought
  /** `broken`: what ended it early; it is paid for and recorded as failed. */
  finish(run: Admitted, thought: Thought, broken?: unknown): Promise<Result>
  fail(run: Admitted, error: unknown): Promise<void>
  replay(run: Opened, answer: StoredAnswer): Promise<Result>
}

/** What a reader of a stream sees, in order: one `began`, texts, one `ended`. */
export type Progress =
  | { type: 'began'; run: Pick<Decided, 'id' | 'ask' | 'call' | 'resolvedMode' | 'model' | 'routing'> }
  | { type: 'text'; text: string }
  | { type: 'ended'; run: Opened; result: Result }

export type Pipeline = ReturnType<typeof createPipeline>

/** The way of a completion (design 3): each stage one line, in order. */
export function createPipeline(stages: Stages, cache: AnswerCache) {
  return { complete, stream }

  async function complete(call: Call, ask: Ask): Promise<{ run: Opened; result: Result }> {
    const run = await stages.open(call, ask, false)
    try {
      stages.admitExplicitMode(run)
      if (run.cacheKey) await stages.assertFunds(run)
      const known = recall(run)
      const remembered = known instanceof Promise ? await known : known
      const result = remembered ? replay(run, remembered) : leading(run, () => think(run))
      return { run, result: await result }
    } finally {
      run.deadline.end()
    }
  }

  async function think(run: Opened): Promise<Result> {
    const decided = await stages.decide(run)
    const admitted = await stages.admit(decided)
    const thought = await failing(admitted, () => stages.whole(admitted))
    return stages.finish(admitted, thought)
  }

  async function* stream(call: Call, ask: Ask): AsyncGenerator<Progress> {
    const run = await stages.open(call, ask, true)
    try {
      stages.admitExplicitMode(run)
      if (run.cacheKey) await stages.assertFunds(run)
      const remembered = await recall(run)
      yield* remembered ? recite(run, remembered) : thinkAloud(run)
    } finally {
      run.deadline.end()
    }
  }

  async function* thinkAloud(run: Opened): AsyncGenerator<Progress> {
    const decided = await stages.decide(run)
    const admitted = await stages.admit(decided)
    const steps = stages.aloud(admitted)
    let text = ''
    // Until something else is known, whoever stops reading is the reason it ends.
    let broken: unknown = clientLeft()
    try {
      const opening = steps.next()
      // An engine that refuses at once is an ordinary error with its status (contract 3); the catch is for
      // readers who leave before anyone looks.
      opening.catch(() => null)
      await Promise.race([opening, stages.patience()])
      yield { type: 'began', run: decided }
      let step = await opening
      for (; !step.done; step = await steps.next()) {
        text += step.value.text
        yield step.value
      }
      broken = null
      yield { type: 'ended', run, result: await stages.finish(admitted, step.value) }
    } catch (error) {
      broken = broken === null || run.call.signal.aborted ? broken : error
      throw error
    } finally {
      if (broken) await stopEarly(admitted, steps, text, broken)
    }
  }

  async function* recite(run: Opened, answer: StoredAnswer): AsyncGenerator<Progress> {
    const result = await replay(run, answer)
    yield {
      type: 'began',
      run: { ...run, id: answer.id, resolvedMode: answer.resolvedMode, model: answer.model, routing: answer.routing },
    }
    yield { type: 'text', text: answer.content }
    yield { type: 'ended', run, result }
  }

  /** Tokens already delivered are paid for; without any, nothing is (contract 2.4, P7). */
  async function stopEarly(
    run: Admitted,
    steps: AsyncGenerator<Step, Thought>,
    text: string,
    broken: unknown,
  ): Promise<void> {
    if (text) await stages.finish(run, stages.partial(run, text), broken)
    else await stages.fail(run, broken)
    await steps.return(stages.partial(run, text))
  }

  /**
   * An answer remembered, or one that an identical request is making right now (contract 22.1). Null comes
   * at once and not as a promise: nobody may slip in between looking and leading.
   */
  function recall({ cacheKey, ask }: Opened): StoredAnswer | null | Promise<StoredAnswer | null> {
    if (!cacheKey || ask.cache === 'refresh') return null
    return cache.get(cacheKey) ?? cache.pending(cacheKey) ?? null
  }

  async function replay(run: Opened, answer: StoredAnswer): Promise<Result> {
    stages.admitCached(run, answer.resolvedMode)
    return stages.replay(run, answer)
  }

  async function leading(run: Opened, work: () => Promise<Result>): Promise<Result> {
    if (!run.cacheKey) return work()
    const settle = cache.lead(run.cacheKey)
    try {
      const result = await work()
      settle(result.answer)
      return result
    } catch (error) {
      settle(null)
      throw error
    }
  }

  async function failing<T>(run: Admitted, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      await stages.fail(run, error)
      throw error
    }
  }
}
