import { type Call, keyIdOf, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { microToCents } from '../kernel/money'
import type { Trace, TraceStep } from '../kernel/trace'
import type { AgentResult } from './agent-schema'
import type { AnswerCache, StoredAnswer } from './cache'
import type { CompletionRequest, Run, Write } from './run'

type Facts = NonNullable<TraceStep['facts']>

/** What a stage decided. Of prompts, answers and names of files there is nothing. */
const FACTS = {
  open: ({ call, request, active, guard }: Run): Facts => ({
    owner: ownerOf(call.caller),
    mode: request.mode,
    skills: active.skills.length,
    guarded: guard !== null,
  }),
  guardInput: firings,
  guardOutput: firings,
  decide: ({ resolvedMode, engineId, routing, promptTokens }: Run): Facts => ({
    mode: resolvedMode,
    engine: engineId,
    by: routing.source,
    confidence: routing.confidence,
    prompt_tokens: promptTokens,
  }),
  admit: ({ hold }: Run): Facts => ({ held_cents: hold ? microToCents(hold.amount) : 0 }),
  think: ({ spent }: Run): Facts => ({ turns: spent.turns.length, tools: spent.uses.length }),
  finish: ({ costMicro }: Run): Facts => ({ cost_cents: microToCents(costMicro) }),
  replay: ({ resolvedMode, engineId }: Run): Facts => ({ mode: resolvedMode, engine: engineId, cost_cents: 0 }),
  abandon: ({ costMicro }: Run): Facts => ({ cost_cents: microToCents(costMicro) }),
}

/** A stage that operators are told of. */
export type Stage = keyof typeof FACTS

type StageTrace = ReturnType<typeof createStageTrace>

const failureOf = (error: unknown): Facts => ({
  failed: error instanceof AppError ? error.code : error instanceof Error ? error.name : 'unknown',
})

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
  /** The most micro-cents that the decided run can cost. Throws 402 when that is too much. */
  priceOf(run: Run): number
  /** Reserves tokens and places the hold on money. 429, 402 */
  admit(run: Run): Promise<void>
  /** The engine's answer, shown as it comes when the run is a stream. 503, 504 */
  think(run: Run): Promise<AgentResult>
  /** Applies the policy to the answer. */
  guardOutput(run: Run, result: AgentResult): Promise<AgentResult>
  /** Shows what is left of a streamed answer after the policy was applied to the whole. */
  showRest(run: Run, result: AgentResult, guarded: AgentResult): Promise<void>
  /** Charges, stores, records and caches the answer. */
  finish(run: Run, result: AgentResult): Promise<StoredAnswer>
  /** Ends an admitted run that failed: charges what was delivered, or releases the hold. Returns the error to throw. */
  abandon(run: Run, error: unknown): Promise<unknown>
  /** Stores and records a cached answer, at no cost, and returns it with links that work. */
  replay(run: Run, answer: StoredAnswer): Promise<StoredAnswer>
}

/** A completion from the request to its answer, plain and streamed alike (design 3). Operators are `told` of stages. */
export function createPipeline(stages: Stages, cache: AnswerCache, notice: StageTrace) {
  return {
    /** Answers in one piece, in the format of the request. */
    async complete<Answer extends object>(call: Call, request: CompletionRequest<Answer>): Promise<Answer> {
      const run = await opened(call, request, null)
      const answer = await answered(run)
      return request.present(run, answer)
    },

    /**
     * Our own count of the tokens of a request. No engine is asked and nothing is charged or recorded, so a request that
     * leaves the mode to this server is counted as one for the fastest engine.
     */
    async count(call: Call, request: CompletionRequest): Promise<number> {
      const run = await stages.open(call, { ...request, mode: request.mode === 'auto' ? 'fast' : request.mode }, null)
      try {
        await stages.decide(run)
        return run.promptTokens
      } finally {
        run.deadline.end()
      }
    },

    /**
     * Accepts a request that a job will run: counts it towards the rates, checks credit and policy, and returns the
     * micro-cents to hold for it. Throws 400, 402, 404, 429.
     */
    async accept(call: Call, request: CompletionRequest): Promise<number> {
      const run = await opened(call, request, null)
      try {
        await stages.countMode(run)
        await stages.assertCredit(run)
        if (run.guard) await guardedInput(run)
        await stages.decide(run)
        await stages.countMode(run)
        return stages.priceOf(run)
      } finally {
        notice.end(run)
        run.deadline.end()
      }
    },

    /** Answers as a stream. Nothing is shown before the request is accepted, so a refusal keeps its status. */
    async stream(call: Call, request: CompletionRequest, write: Write): Promise<void> {
      const run = await opened(call, request, write)
      const answer = await answered(run)
      await write({ type: 'ended', run, answer })
    },
  }

  async function opened(call: Call, request: CompletionRequest, write: Write | null): Promise<Run> {
    const from = notice.now()
    try {
      const run = await stages.open(call, request, write)
      notice.opened(run, from)
      return run
    } catch (error) {
      notice.refused(call, from, error)
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
      const answer = await (found ? replayed(run, found) : run.cacheKey === null ? runUncached(run) : runShared(run))
      notice.end(run)
      return answer
    } catch (error) {
      notice.end(run, error)
      throw error
    } finally {
      run.deadline.end()
    }
  }

  async function guardedInput(run: Run): Promise<void> {
    notice.begin(run, 'guardInput')
    await stages.guardInput(run)
    notice.end(run)
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
    notice.begin(run, 'replay')
    await stages.countMode(run)
    const answer = await stages.replay(run, cached)
    await run.write?.({ type: 'began', run, id: answer.id })
    await run.write?.({ type: 'text', text: answer.content })
    return answer
  }

  /** Identical plain requests may wait for this run; none waits for a stream, whose reader may leave. */
  async function runShared(run: Run): Promise<StoredAnswer> {
    cache.missed()
    if (run.write) return runUncached(run)
    const settle = cache.lead(flightOf(run, run.cacheKey!))
    try {
      const answer = await runUncached(run)
      settle(answer)
      return answer
    } catch (error) {
      settle(null)
      throw error
    }
  }

  async function runUncached(run: Run): Promise<StoredAnswer> {
    notice.begin(run, 'decide')
    await stages.decide(run)
    notice.begin(run, 'admit')
    await stages.countMode(run)
    await stages.admit(run)
    let shown: AgentResult
    try {
      notice.begin(run, 'think')
      const message = await stages.think(run)
      if (run.guard) notice.begin(run, 'guardOutput')
      shown = run.guard ? await stages.guardOutput(run, message) : message
      if (run.write) await stages.showRest(run, message, shown)
    } catch (error) {
      notice.begin(run, 'abandon', error)
      throw await stages.abandon(run, error)
    }
    notice.begin(run, 'finish')
    return stages.finish(run, shown)
  }
}

/** Only requests of one key share a run in flight (contract 22.1); cached answers may serve all keys of a user. */
const flightOf = ({ call }: Run, cacheKey: string): string => `${keyIdOf(call.caller) ?? 'session'} ${cacheKey}`

function firings({ guard }: Run): Facts {
  const fired = guard?.firings ?? []
  return { fired: fired.map((one) => `${one.phase} ${one.guardrail_id} ${one.verdict}`).join(', ') || 'nothing' }
}

/** Tells of each stage of a run how long it took and what came of it. */
export function createStageTrace({ clock, trace }: { clock: Clock; trace: Trace }) {
  return {
    now: (): number => clock.monotonic(),

    /** The run that began at `from` is open. */
    opened(run: Run, from: number): void {
      tell(run.call, 'open', from, FACTS.open(run))
    },

    /** The request that came at `from` was refused before it was a run. */
    refused(call: Call, from: number, error: unknown): void {
      tell(call, 'open', from, failureOf(error))
    },

    /** A stage begins, and the one before it has ended, with `error` if it failed. */
    begin(run: Run, stage: Stage, error?: unknown): void {
      this.end(run, error)
      run.stage = stage
      run.stageAt = clock.monotonic()
    },

    /** The stage that was begun has ended, with `error` if it failed. Nothing where none was begun. */
    end(run: Run, error?: unknown): void {
      const { stage } = run
      if (stage === null) return
      run.stage = null
      const facts = FACTS[stage](run)
      tell(run.call, stage, run.stageAt, error === undefined ? facts : { ...facts, ...failureOf(error) })
    },
  }

  function tell({ requestId }: Call, name: Stage, from: number, facts: Facts): void {
    trace(requestId, 'stage', name, clock.monotonic() - from, facts)
  }
}
