import { createHolds } from '../charging'
import { type Call, keyIdOf, ownerOf } from '../kernel/caller'
import { AppError } from '../kernel/errors'
import { microToCents } from '../kernel/money'
import type { TraceStep } from '../kernel/trace'
import type { AgentResult } from './agent-schema'
import { createAnswerCache, createCacheReading, type SharedAnswers, type StoredAnswer } from './cache'
import { assertInput, requestFromInput } from './completion-from-wire'
import { decide } from './decide'
import { abandon, finish, replay } from './end'
import { guardInput, guardOutput } from './guard'
import { admit, countMode, openRun, priceOf } from './open'
import type { CompletionRequest, PipelineDeps, Run, Write } from './run'
import type { ChatCompletion, Completion, CompletionInput } from './schema'
import { chatFramer, type Framer, nativeFramer } from './stream'
import { OPENING_MS, showRest, think } from './think'

type Facts = NonNullable<TraceStep['facts']>

/** Facts about each stage's outcome. Contains no prompts, answers or file names. */
const STAGE_FACTS = {
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
  think: ({ spent }: Run): Facts => ({ turns: spent.turns.length, tools: spent.toolUses.length }),
  finish: ({ costMicro }: Run): Facts => ({ cost_cents: microToCents(costMicro) }),
  replay: ({ resolvedMode, engineId }: Run): Facts => ({ mode: resolvedMode, engine: engineId, cost_cents: 0 }),
  abandon: ({ costMicro }: Run): Facts => ({ cost_cents: microToCents(costMicro) }),
}

/** A stage that is reported to operators. */
export type Stage = keyof typeof STAGE_FACTS

const failureOf = (error: unknown): Facts => ({
  failed: error instanceof AppError ? error.code : error instanceof Error ? error.name : 'unknown',
})

/** A stream ready to be sent: the source of its events, and the format of its frames. */
export type AnswerStream = {
  source(write: Write): Promise<void>
  frame: Framer
  /** The frame to send after 10 s of silence. If absent, an SSE comment is sent. */
  heartbeat?: (elapsedMs: number) => string
  endsWithDone: boolean
  openingMs: number
}

export type CompletionService = ReturnType<typeof createCompletions>

/** The completion pipeline with its dependencies, and the verbs of `POST /completions`. */
export function createCompletions(
  modules: Omit<PipelineDeps, 'cache' | 'holds'> & { sharedAnswers: SharedAnswers | null },
) {
  const { clock, caching, settings, store, sharedAnswers: shared } = modules
  const cache = createAnswerCache({ clock, maxBytes: caching.maxBytes, shared })
  const deps: PipelineDeps = { ...modules, cache, holds: createHolds(modules) }
  const pipeline = {
    complete: <Answer extends object>(call: Call, request: CompletionRequest<Answer>) => complete(deps, call, request),
    stream: (call: Call, request: CompletionRequest, write: Write) => stream(deps, call, request, write),
    count: (call: Call, request: CompletionRequest) => count(deps, call, request),
    accept: (call: Call, request: CompletionRequest) => accept(deps, call, request),
  }
  return {
    pipeline,
    /** The request that an input describes. Throws 400. */
    requestOf: read,
    answers: createCacheReading({ cache, clock, enabled: caching.enabled }),
    /** Null if caching is off. */
    cache: caching.enabled ? cache : null,

    /** `POST /completions` (docs/api.md 2). `fresh` skips the lookup and renews the entry. */
    async complete(call: Call, input: CompletionInput, fresh: boolean): Promise<Completion | ChatCompletion> {
      return complete(deps, call, await read(call, input, fresh))
    },

    /** Like `complete`, as a stream (docs/api.md 3). Throws for invalid input. Other errors come from `source`. */
    async stream(call: Call, input: CompletionInput, fresh: boolean): Promise<AnswerStream> {
      const request = await read(call, input, fresh)
      const source = (write: Write) => stream(deps, call, request, write)
      return input.format === 'compat'
        ? { source, frame: chatFramer(clock, false), endsWithDone: true, openingMs: OPENING_MS }
        : { source, ...nativeFramer(), endsWithDone: false, openingMs: OPENING_MS }
    },
  }

  async function read(call: Call, input: CompletionInput, fresh: boolean) {
    assertInput(input)
    return { ...requestFromInput(input, await settings.read(store.read, call.caller.userId), fresh), original: input }
  }
}

/** Answers in one piece, in the format of the request. */
async function complete<Answer extends object>(
  deps: PipelineDeps,
  call: Call,
  request: CompletionRequest<Answer>,
): Promise<Answer> {
  const opening = openAndReport(deps, call, request, null)
  const run = opening instanceof Promise ? await opening : opening
  return request.present(run, await runToAnswer(deps, run))
}

/** Answers as a stream. Nothing is sent before the request is accepted, so an error keeps its status. */
async function stream(deps: PipelineDeps, call: Call, request: CompletionRequest, write: Write): Promise<void> {
  const run = await openAndReport(deps, call, request, write)
  const answer = await runToAnswer(deps, run)
  await write({ type: 'ended', run, answer })
}

/**
 * Our own count of a request's tokens. Calls no engine, and charges and records nothing. Therefore a request in mode
 * `auto` is counted as one for the fastest engine.
 */
async function count(deps: PipelineDeps, call: Call, request: CompletionRequest): Promise<number> {
  const counted = { ...request, mode: request.mode === 'auto' ? ('fast' as const) : request.mode }
  const run = await openRun(deps, call, counted, null)
  try {
    await decide(deps, run)
    return run.promptTokens
  } finally {
    run.deadline.end()
  }
}

/**
 * Accepts a request that a job will run: counts it in the rate limits, checks credit and policy, and returns the
 * micro-cents to hold for it. Throws 400, 402, 404, 429.
 */
async function accept(deps: PipelineDeps, call: Call, request: CompletionRequest): Promise<number> {
  const run = await openAndReport(deps, call, request, null)
  try {
    await countMode(deps, run)
    // The hold of a free engine is zero and checks no credit.
    await assertAllowed(deps, run)
    await decide(deps, run)
    await countMode(deps, run)
    return priceOf(deps, run)
  } finally {
    end(deps, run)
    run.deadline.end()
  }
}

/** Checks credit before the cache is read, and applies the caller's policy to the request. Throws 402, 400. */
function assertAllowed(deps: PipelineDeps, run: Run): void | Promise<void> {
  const funds = run.request.accepted ? undefined : deps.billing.assertFunds(deps.store.read, run.call)
  if (!run.guard) return funds
  const applied = async (): Promise<void> => {
    begin(deps, run, 'guardInput')
    await guardInput(deps, run)
    end(deps, run)
  }
  return funds instanceof Promise ? funds.then(applied) : applied()
}

/** Opens the run of a request and reports that to operators. Returns a promise if something has to be read for it. */
function openAndReport(
  deps: PipelineDeps,
  call: Call,
  request: CompletionRequest,
  write: Write | null,
): Run | Promise<Run> {
  const from = deps.clock.monotonic()
  try {
    const run = openRun(deps, call, request, write)
    return run instanceof Promise ? reportOpening(deps, call, run, from) : reportOpened(deps, run, from)
  } catch (error) {
    reportStage(deps, call, 'open', from, failureOf(error))
    throw error
  }
}

async function reportOpening(deps: PipelineDeps, call: Call, opening: Promise<Run>, from: number): Promise<Run> {
  try {
    return reportOpened(deps, await opening, from)
  } catch (error) {
    reportStage(deps, call, 'open', from, failureOf(error))
    throw error
  }
}

function reportOpened(deps: PipelineDeps, run: Run, from: number): Run {
  reportStage(deps, run.call, 'open', from, STAGE_FACTS.open(run))
  return run
}

/**
 * Takes a run to its answer, plain or streamed. A stage returns a promise only when it waits for something. Once
 * admitted, a run ends in `finish` or `abandon`.
 */
async function runToAnswer(deps: PipelineDeps, run: Run): Promise<StoredAnswer> {
  const { cache } = deps
  let settle: ((answer: StoredAnswer | null) => void) | null = null
  try {
    const counting = countMode(deps, run)
    if (counting) await counting
    // Without cache and guard nothing needs checking here, because `admit` soon places the hold.
    const allowed = run.cacheKey || run.guard ? assertAllowed(deps, run) : undefined
    if (allowed) await allowed
    const lookup = run.cacheKey !== null && run.request.cache !== 'refresh' && cache.look(run.cacheKey)
    if (lookup) await lookup
    const pendingAnswer = readCache(deps, run)
    const stored = pendingAnswer instanceof Promise ? await pendingAnswer : pendingAnswer
    let answer: StoredAnswer
    if (stored) answer = await replayStored(deps, run, stored)
    else {
      if (run.cacheKey !== null) cache.missed()
      // Identical plain requests may wait for this run. None waits for a stream, whose reader may leave.
      if (run.cacheKey !== null && !run.write) settle = cache.lead(flightOf(run, run.cacheKey))
      begin(deps, run, 'decide')
      const deciding = decide(deps, run)
      if (deciding) await deciding
      begin(deps, run, 'admit')
      await admit(deps, run)
      let shown: AgentResult
      try {
        begin(deps, run, 'think')
        const result = await think(deps, run)
        if (run.guard) begin(deps, run, 'guardOutput')
        shown = run.guard ? await guardOutput(run, result, run.guard) : result
        if (run.write) await showRest(run, run.write, result, shown)
      } catch (error) {
        begin(deps, run, 'abandon', error)
        throw await abandon(deps, run, error)
      }
      begin(deps, run, 'finish')
      answer = await finish(deps, run, shown)
      settle?.(answer)
    }
    end(deps, run)
    return answer
  } catch (error) {
    settle?.(null)
    end(deps, run, error)
    throw error
  } finally {
    run.deadline.end()
  }
}

/**
 * A cached answer, or the one that an identical plain request is producing. A stream does not wait for such a run. Null
 * is returned synchronously: with an await before `cache.lead`, two identical runs could both begin.
 */
function readCache({ cache }: PipelineDeps, run: Run): StoredAnswer | null | Promise<StoredAnswer | null> {
  if (run.cacheKey === null || run.request.cache === 'refresh') return null
  return cache.get(run.cacheKey) ?? (run.write ? null : (cache.pending(flightOf(run, run.cacheKey)) ?? null))
}

/** Only requests of one key share a run in flight (docs/api.md 22.1). Cached answers may serve all keys of a user. */
const flightOf = ({ call }: Run, cacheKey: string): string => `${keyIdOf(call.caller) ?? 'session'} ${cacheKey}`

async function replayStored(deps: PipelineDeps, run: Run, cached: StoredAnswer): Promise<StoredAnswer> {
  run.isCached = true
  run.resolvedMode = cached.resolvedMode
  begin(deps, run, 'replay')
  const counting = countMode(deps, run)
  if (counting) await counting
  const answer = await replay(deps, run, cached)
  if (run.write) {
    await run.write({ type: 'began', run, id: answer.id })
    await run.write({ type: 'text', text: answer.content })
  }
  return answer
}

function firings({ guard }: Run): Facts {
  const fired = guard?.firings ?? []
  return { fired: fired.map((one) => `${one.phase} ${one.guardrail_id} ${one.verdict}`).join(', ') || 'nothing' }
}

/** Begins a stage and ends the one before it, with `error` if that one failed. */
function begin(deps: PipelineDeps, run: Run, stage: Stage, error?: unknown): void {
  end(deps, run, error)
  run.stage = stage
  run.stageAt = deps.clock.monotonic()
}

/** Ends the current stage, with `error` if it failed. Does nothing if no stage was begun. */
function end(deps: PipelineDeps, run: Run, error?: unknown): void {
  const { stage } = run
  if (stage === null) return
  run.stage = null
  const facts = STAGE_FACTS[stage](run)
  reportStage(deps, run.call, stage, run.stageAt, error === undefined ? facts : { ...facts, ...failureOf(error) })
}

/** Reports to operators how long a stage took and what it decided. */
function reportStage(
  { clock, trace }: PipelineDeps,
  { requestId }: Call,
  name: Stage,
  from: number,
  facts: Facts,
): void {
  trace(requestId, 'stage', name, clock.monotonic() - from, facts)
}
