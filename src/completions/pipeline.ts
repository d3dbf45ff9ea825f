import { type Call, keyIdOf } from '../kernel/caller'
import type { Thought } from './agent-schema'
import type { AnswerCache, StoredAnswer } from './cache'
import type { CompletionRequest } from './request'
import type { Run, Write } from './run'
import type { StageTrace } from './stage-trace'

export type Stages = {
  /** Loads the conversation, memories, skills and policies that the request uses. 404 */
  open(call: Call, request: CompletionRequest, write: Write | null): Promise<Run>
  /** Counts the run towards the rate of its mode, once, when the mode is known. 429 */
  countMode(run: Run): void | Promise<void>
  /** Checks that there is credit, before the cache is read. 402 */
  assertCredit(run: Run): Promise<void>
  /** Applies the caller's guardrail policy to the request. 400 */
  guardInput(run: Run): Promise<void>
  /** Chooses mode, engine and system prompt. 400 */
  decide(run: Run): Promise<void>
  /** Reserves tokens and places the hold on money. 429, 402 */
  admit(run: Run): Promise<void>
  /** The engine's answer, shown as it comes when the run is a stream. 503, 504 */
  think(run: Run): Promise<Thought>
  /** Applies the policy to the answer. */
  guardOutput(run: Run, thought: Thought): Promise<Thought>
  /** Shows what is left of a streamed answer after the policy was applied to the whole. */
  showRest(run: Run, thought: Thought, guarded: Thought): Promise<void>
  /** Charges, stores, records and caches the answer. */
  finish(run: Run, thought: Thought): Promise<StoredAnswer>
  /** Ends an admitted run that failed: charges what was delivered, or releases the hold. Returns the error to throw. */
  abandon(run: Run, error: unknown): Promise<unknown>
  /** Stores and records a cached answer, at no cost, and returns it with links that work. */
  replay(run: Run, answer: StoredAnswer): Promise<StoredAnswer>
}

/** A completion from the request to its answer, plain and streamed alike (design 3). Operators are `told` of stages. */
export function createPipeline(stages: Stages, cache: AnswerCache, told: StageTrace) {
  return {
    /** Answers in one piece, in the format of the request. */
    async complete<Answer extends object>(call: Call, request: CompletionRequest<Answer>): Promise<Answer> {
      const run = await opened(call, request, null)
      const answer = await answered(run)
      return request.present(run, answer)
    },

    /** Answers as a stream. Nothing is shown before the request is accepted, so a refusal keeps its status. */
    async stream(call: Call, request: CompletionRequest, write: Write): Promise<void> {
      const run = await opened(call, request, write)
      const answer = await answered(run)
      await write({ type: 'ended', run, answer })
    },
  }

  async function opened(call: Call, request: CompletionRequest, write: Write | null): Promise<Run> {
    const from = told.now()
    try {
      const run = await stages.open(call, request, write)
      told.opened(run, from)
      return run
    } catch (error) {
      told.refused(call, from, error)
      throw error
    }
  }

  async function answered(run: Run): Promise<StoredAnswer> {
    try {
      await stages.countMode(run)
      await stages.assertCredit(run)
      if (run.guard) await guardedInput(run)
      const known = readCache(run)
      const found = known instanceof Promise ? await known : known
      const answer = await (found ? replayed(run, found) : run.cacheKey === null ? thought(run) : leading(run))
      told.end(run)
      return answer
    } catch (error) {
      told.end(run, error)
      throw error
    } finally {
      run.deadline.end()
    }
  }

  async function guardedInput(run: Run): Promise<void> {
    told.begin(run, 'guardInput')
    await stages.guardInput(run)
    told.end(run)
  }

  /**
   * A cached answer, or the one that an identical plain request is producing; a stream waits for none. Null comes
   * synchronously: with an await before `cache.lead`, two identical runs could both begin.
   */
  function readCache(run: Run): StoredAnswer | null | Promise<StoredAnswer | null> {
    if (run.cacheKey === null || run.request.cache === 'refresh') return null
    return cache.get(run.cacheKey) ?? (run.write ? null : (cache.pending(flightOf(run, run.cacheKey)) ?? null))
  }

  async function replayed(run: Run, cached: StoredAnswer): Promise<StoredAnswer> {
    run.isCached = true
    run.resolvedMode = cached.resolvedMode
    told.begin(run, 'replay')
    await stages.countMode(run)
    const answer = await stages.replay(run, cached)
    await run.write?.({ type: 'began', run, id: answer.id })
    await run.write?.({ type: 'text', text: answer.content })
    return answer
  }

  /** Identical plain requests may wait for this run; none waits for a stream, whose reader may leave. */
  async function leading(run: Run): Promise<StoredAnswer> {
    cache.missed()
    if (run.write) return thought(run)
    const settle = cache.lead(flightOf(run, run.cacheKey!))
    try {
      const answer = await thought(run)
      settle(answer)
      return answer
    } catch (error) {
      settle(null)
      throw error
    }
  }

  async function thought(run: Run): Promise<StoredAnswer> {
    told.begin(run, 'decide')
    await stages.decide(run)
    told.begin(run, 'admit')
    await stages.countMode(run)
    await stages.admit(run)
    let shown: Thought
    try {
      told.begin(run, 'think')
      const said = await stages.think(run)
      if (run.guard) told.begin(run, 'guardOutput')
      shown = run.guard ? await stages.guardOutput(run, said) : said
      if (run.write) await stages.showRest(run, said, shown)
    } catch (error) {
      told.begin(run, 'abandon', error)
      throw await stages.abandon(run, error)
    }
    told.begin(run, 'finish')
    return stages.finish(run, shown)
  }
}

/** Only requests of one key share a run in flight (contract 22.1); cached answers may serve all keys of a user. */
const flightOf = ({ call }: Run, cacheKey: string): string => `${keyIdOf(call.caller) ?? 'session'} ${cacheKey}`
