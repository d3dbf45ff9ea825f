import type { Thought } from '../../agent/schema'
import type { Billing, Prices } from '../../billing'
import { needsModel } from '../../builtin'
import type { ConversationService } from '../../conversations'
import type { EngineService } from '../../engines'
import type { Files } from '../../files'
import { keyIdOf, ownerOf } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { AppError } from '../../kernel/errors'
import { failpoint } from '../../kernel/failpoint'
import type { Store, Tx } from '../../kernel/store'
import { endingOf, type Holds } from '../../making'
import { pollUrlOf } from '../../public-jobs'
import { codeFiles, codeProblems } from '../artifacts'
import type { AnswerCache, StoredAnswer } from '../cache'
import { cacheScopeOf } from '../cache-key'
import { suggestFollowUps } from '../follow-ups'
import { firedIn, structuredOutput, workOf } from '../rules'
import type { Run } from '../run'
import type { ModelRef } from '../schema'
import { createKept } from './kept'
import { costOfTurns } from './money'
import type { createRecord } from './record'
import { explained } from './think'

type Deps = {
  store: Store
  clock: Clock
  holds: Holds
  billing: Billing
  prices: Prices
  engines: Pick<EngineService, 'describe'>
  conversations: ConversationService
  files: Pick<Files, 'add' | 'discard' | 'find' | 'receive'>
  record: ReturnType<typeof createRecord>['record']
  cache: Pick<AnswerCache, 'put'>
  /** Seconds for which an answer of a mode is cached. */
  ttlS(mode: string): number
  partial(run: Run, text: string): Thought
}

/**
 * Ends every admitted run: money, conversation, usage, audit and event are written in one transaction, and only then
 * the answer is given (design 1.4).
 */
export function createFinish({
  store,
  clock,
  holds,
  billing,
  prices,
  engines,
  conversations,
  files,
  record,
  ...deps
}: Deps) {
  const kept = createKept({ store, files })
  return { finish: (run: Run, thought: Thought) => finish(run, thought), abandon, replay }

  /** For a complete or interrupted answer: what was produced is charged and stored. `broken`: the error that ended it. */
  async function finish(run: Run, thought: Thought, broken?: unknown): Promise<StoredAnswer> {
    const cost = Math.min(costOfTurns(prices, thought.turns), run.hold?.amount ?? 0)
    const answer = toAnswer(run, thought, engines.describe(thought.engineId), clock.now())
    const code = workOf(run.resolvedMode) === 'code' ? await kept.received(run, codeFiles(answer.content, answer)) : []
    failpoint('engine_done_before_settle')
    await ending(run, async (tx) => {
      if (hasFiles(run) || code.length) answer.artifacts = await kept.artifactsOf(tx, run, code)
      // Nothing when the hold had ended: another node released it while this process was paused.
      run.costMicro = run.hold ? await billing.settle(tx, run.hold, cost) : 0
      if (run.later) await run.later.begin(tx)
      if (run.conversationId) await keepTurn(tx, run, answer, broken !== undefined)
      await record(tx, run, { thought, answer, guardrails: firedIn(run, answer), ...endingOf(broken) })
      if (run.request.alongside) await run.request.alongside(tx, run, answer, broken)
      if (run.call.once && broken === undefined) await keepReply(tx, run, answer)
    })
    failpoint('settle_commit_before_ack')
    run.ticket?.correct(thought.promptTokens + thought.completionTokens)
    if (broken === undefined) remember(run, thought, answer)
    return answer
  }

  /** The transaction that ends a run. Files of one that is not kept are removed, unless it is not known whether it is. */
  async function ending(run: Run, unit: (tx: Tx) => Promise<void>): Promise<void> {
    try {
      await holds.ending(run.hold, unit)
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'storage_unavailable')) await discard(run)
      throw error
    }
  }

  async function discard({ drafts }: Run): Promise<void> {
    await Promise.all(drafts.map((draft) => files.discard(draft).catch(() => undefined)))
  }

  /** For a run without an answer: the hold is released and the failure recorded. */
  async function fail(run: Run, error: unknown): Promise<void> {
    run.ticket?.correct(0)
    await discard(run)
    await ending(run, async (tx) => {
      if (run.hold) await billing.release(tx, run.hold)
      await record(tx, run, { thought: null, answer: null, guardrails: run.guard?.firings ?? [], ...endingOf(error) })
    })
  }

  /**
   * For a run that ended early. Charges the text the caller saw, or the finished turns when the caller left or time
   * ran out. Charges nothing when no answer came or the service failed (contract 2.4, P7). Returns the error to throw.
   */
  async function abandon(run: Run, error: unknown): Promise<unknown> {
    const why = explained(run, error)
    const shown = run.held ? run.held.shown() : run.said
    const hasWorked = run.spent.turns.length > 0 && run.deadline.signal.aborted
    if (!(shown && !run.pictures.length) && !hasWorked) await fail(run, why)
    else
      await finish(run, { ...deps.partial(run, run.said), content: shown }, why).catch((error: unknown) => {
        // Whoever asked does not want a half answer.
        if (error !== why) throw error
        return fail(run, why)
      })
    return why
  }

  /** For a cached answer: stored as a turn and recorded, but not charged. */
  async function replay(run: Run, cached: StoredAnswer): Promise<StoredAnswer> {
    const answer = cached.artifacts.length
      ? { ...cached, artifacts: await kept.linkedAnew(run, cached.artifacts) }
      : cached
    run.engineId = answer.model.id
    run.model = answer.model
    run.routing = answer.routing
    await store.write(async (tx) => {
      if (run.conversationId) await keepTurn(tx, run, answer, false)
      await record(tx, run, { thought: null, answer, guardrails: firedIn(run, answer), ...endingOf(undefined) })
      await keepReply(tx, run, answer)
    })
    return answer
  }

  /** Stores the turn. Calls of the client's functions are none: it goes on with their results. */
  async function keepTurn(tx: Tx, run: Run, answer: StoredAnswer, isInterrupted: boolean): Promise<void> {
    const { request, attached } = run
    if (run.conversationId === null || answer.toolCalls.length) {
      run.conversationId = attached
      return
    }
    const turn = {
      prompt: request.prompt,
      answer: answer.content,
      mode: request.mode,
      resolvedMode: answer.resolvedMode,
      model: answer.model,
      tools: answer.toolsUsed.map(({ name, status, description }) => ({ toolName: name, status, description })),
      artifacts: answer.artifacts,
      followUps: answer.followUps,
      costMicro: run.costMicro,
      status: isInterrupted ? ('interrupted' as const) : ('complete' as const),
    }
    const owner = ownerOf(run.call.caller)
    if (attached) await conversations.append(tx, owner, attached, turn)
    else await conversations.start(tx, owner, run.conversationId, turn)
  }

  /** Caches an answer for identical requests (contract 22.1). */
  function remember({ cacheKey, call, request, costMicro, later }: Run, thought: Thought, answer: StoredAnswer): void {
    if (cacheKey === null || later || !isWorthKeeping(thought)) return
    // `auto` may choose another mode later, so its answers have their own time to live (contract 22.1).
    const ttlS = deps.ttlS(request.mode === 'auto' ? 'auto' : answer.resolvedMode)
    const [scope, owner, keyId] = [cacheScopeOf(call), ownerOf(call.caller), keyIdOf(call.caller)]
    deps.cache.put(cacheKey, { scope, owner, keyId, prompt: request.prompt, ttlS, answer, costMicro })
  }
}

/**
 * Only complete answers are cached: not cut short, not ended early for lack of credit, and without a failed tool, as a
 * search that failed may succeed a minute later.
 */
const isWorthKeeping = ({ finish, toolUses, warnings }: Thought): boolean =>
  finish === 'stop' && warnings.length === 0 && toolUses.every(({ status }) => status === 'success')

/** Whether its stages or its tools made a file. */
const hasFiles = ({ pictures, spent }: Run): boolean => pictures.length > 0 || Boolean(spent.made?.artifacts.length)

/** With an Idempotency-Key the reply is stored in the transaction that charges the answer (contract 1.7). */
async function keepReply(tx: Tx, run: Run, answer: StoredAnswer): Promise<void> {
  await run.call.once?.keep(tx, run.request.present(run, answer))
}

function toAnswer(run: Run, thought: Thought, model: ModelRef, createdAt: number): StoredAnswer {
  const work = workOf(run.resolvedMode)
  const isAnswer = thought.finish !== 'content-filter'
  const refusal = thought.refusal || (isAnswer && !thought.toolCalls.length ? refusalOf(run, thought) : null)
  // Of a refusal there is nothing more to ask.
  const asksOn = isAnswer && refusal === null && !needsModel(thought.content)
  return {
    id: run.id,
    createdAt,
    content: thought.content,
    resolvedMode: run.resolvedMode,
    model,
    finish: thought.finish,
    toolsUsed: thought.toolUses.map(({ id: _, ...use }) => use),
    toolCalls: thought.toolCalls,
    reasoning: thought.reasoning,
    refusal,
    artifacts: [],
    followUps: asksOn && run.request.wantsFollowUps && !run.later ? suggestFollowUps(work, thought.content) : [],
    skillsActive: run.active.skills.map(({ id, slug, name }) => ({ id, slug, name })),
    structuredOutput: structuredOutput(work, thought.content),
    routing: thought.fallbackUsed ? { ...run.routing, fallback_used: true } : run.routing,
    warnings: [...run.warnings, ...thought.warnings, ...(work === 'code' ? codeProblems(thought.content) : [])],
    guardrails: (run.guard?.firings ?? []).filter(({ phase }) => phase !== 'input'),
    promptTokens: thought.promptTokens,
    completionTokens: thought.completionTokens,
    toolCents: run.spent.made?.costCents ?? 0,
    job: run.later && { job_id: run.later.id, status: 'queued', poll_url: pollUrlOf(run.later.id) },
  }
}

/** Why the content does not have the form that was asked for; null when it has it or none was asked for. */
function refusalOf({ request }: Run, { content, finish }: Thought): string | null {
  const problem = request.checkJson?.(content) ?? null
  return problem && finish === 'length' ? `The answer was cut at the output limit. ${problem}` : problem
}
