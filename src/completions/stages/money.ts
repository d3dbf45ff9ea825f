import type { AuditEventRow, AuditLog, InsertEvent } from '../../audit'
import type { Billing, Prices } from '../../billing'
import { payerOf } from '../../billing/schema'
import {
  type CompletionFacts,
  completionCreated,
  emitFirings,
  type Holds,
  type Ending as RunEnding,
} from '../../charging'
import type { EngineService } from '../../engines'
import type { EventBus } from '../../events'
import type { Firing } from '../../guardrails/schema'
import { keyIdOf, ownerOf } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { sha256Hex } from '../../kernel/crypto'
import { AppError } from '../../kernel/errors'
import { failpoint } from '../../kernel/failpoint'
import { microToCents } from '../../kernel/money'
import type { Store, Tx } from '../../kernel/store'
import type { VideoService } from '../../media'
import type { ResearchService } from '../../research'
import type { UsageLog } from '../../usage'
import type { AgentResult, CountedTurn } from '../agent-schema'
import type { StoredAnswer } from '../cache'
import { usageOf } from '../present'
import { isStealth, overBounds, workOf } from '../rules'
import type { Run } from '../run'
import { type ChatCompletionId, type CompletionId, chatIdOf } from '../schema'
import { isHandedOver, isVideo } from './think'

type RecordDeps = { clock: Clock; usage: UsageLog; audit: AuditLog; events: EventBus }

type Ending = RunEnding & {
  /** Null when no engine answered: the run failed, or its answer was cached. */
  agentResult: AgentResult | null
  /** Null for a run that failed without one. */
  answer: StoredAnswer | null
  /** Every guardrail that fired. */
  guardrails: readonly Firing[]
}

const hasFallenBack = ({ routing }: Run, result: AgentResult | null): boolean =>
  result !== null && (result.fallbackUsed || routing.fallback_used)

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
  return { assertCredit, priceOf, reserve, afford }

  /** Throws 402 without credit or at a cap. Skipped without cache and guard, as `reserve` then soon places the hold. */
  async function assertCredit(run: Run): Promise<void> {
    if ((run.cacheKey || run.guard) && !run.request.accepted) await billing.assertFunds(store.read, run.call)
  }

  /**
   * Holds the most that the answer can cost; a free one needs only a balance. Before a stream, and while writes fail,
   * waits until the disk has it: what could not be recorded must not be said, nor an engine asked for it. Throws 503
   * `storage_unavailable`, 402.
   */
  async function reserve(run: Run): Promise<void> {
    const amount = priceOf(run)
    if (run.request.accepted) {
      run.hold = run.request.accepted.hold
      return
    }
    const surely = run.write !== null || store.failing()
    if (amount === 0) {
      await billing.assertFunds(store.read, run.call)
      if (surely) await store.confirm()
      return
    }
    run.hold = await holds.place(run.call.caller, run.call.requestId, amount, surely)
  }

  /** The most that the answer can cost, in micro-cents. Throws 402 when the run's cost limit does not allow it. */
  function priceOf(run: Run): number {
    if (isPicture(run))
      return within(
        run.request,
        engines.drawsItself(run.pictureEngineId) ? 0 : prices.costOf(run.pictureEngineId, { images: 1 }),
      )
    if (!isVideo(run)) return priceOfText(run)
    // A job holds its own price.
    return isHandedOver(run) ? 0 : within(run.request, video.max({ seconds: run.request.videoSeconds }))
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

/** Records every run with a usage row, an audit row and an event; never stores the prompt itself (contract 2). */
export function createRecord({ clock, usage, audit, events }: RecordDeps) {
  return { record, refused }

  async function record(tx: Tx, run: Run, ending: Ending): Promise<void> {
    await recordAudit(tx, run, ending, (unit, event) => recordUsage(unit, run, ending, event))
    if (ending.guardrails.length) await emitFirings(events, tx, run, ending.guardrails)
    const { call } = run
    if (ending.errorCode || !ending.answer) return
    await events.emit(tx, completionCreated, ownerOf(call.caller), factsOf(run, ending.answer), call)
  }

  /** Records a request that the guardrail policy blocked: nothing was run or billed. */
  async function refused(tx: Tx, run: Run): Promise<void> {
    const guardrails = run.guard?.firings ?? []
    await recordAudit(tx, run, {
      status: 400,
      errorCode: 'guardrail_blocked',
      agentResult: null,
      answer: null,
      guardrails,
    })
    await emitFirings(events, tx, run, guardrails)
  }

  function recordUsage(
    tx: Tx,
    run: Run,
    { agentResult: result, status, broken }: Ending,
    event: AuditEventRow,
  ): Promise<unknown> {
    const { call } = run
    const entry = {
      requestId: call.requestId,
      owner: ownerOf(call.caller),
      userId: call.caller.userId,
      keyId: keyIdOf(call.caller),
      endpoint: call.route.slice(call.route.indexOf(' ') + 1),
      mode: run.request.mode,
      resolvedMode: run.resolvedMode,
      model: result?.engineId ?? run.engineId,
      status,
      promptTokens: result?.promptTokens ?? 0,
      completionTokens: result?.completionTokens ?? 0,
      costMicro: run.costMicro,
      paidBy: run.hold?.ref,
      cached: run.isCached,
      latencyMs: Math.round(clock.monotonic() - run.startedAt),
      ttftMs: result?.ttftMs ?? null,
      classifiedMs: run.classifiedMs,
      fallbackUsed: hasFallenBack(run, result),
      skills: run.active.skills.map(({ id }) => id),
      broken,
    }
    return usage.record(tx, entry, event)
  }

  function recordAudit(
    tx: Tx,
    run: Run,
    { agentResult: result, answer, status, errorCode, guardrails }: Ending,
    insert?: InsertEvent,
  ): Promise<unknown> {
    const { request } = run
    const entry = {
      action: errorCode ? 'completion.failed' : 'completion.created',
      entityType: 'completion' as const,
      entityId: shownId(run, answer),
      input: {
        mode: request.mode,
        prompt_sha256: sha256Hex(request.prompt),
        prompt_length: request.prompt.length,
        skills: run.active.skills.map(({ id }) => id),
        ...(request.door ? { door: request.door } : {}),
        ...(request.endUser ? { end_user_sha256: request.endUser } : {}),
        ...(request.metadata && !isStealth(request.mode) ? { metadata: request.metadata } : {}),
      },
      output: {
        status,
        ...(run.engineId ? { engine: result?.engineId ?? run.engineId } : {}),
        cost_cents: microToCents(run.costMicro),
        tools_used: result && !isStealth(request.mode) ? [...new Set(result.toolUses.map(({ name }) => name))] : [],
        fallback_used: hasFallenBack(run, result),
        ...(guardrails.length ? { guardrails: [...guardrails] } : {}),
        ...(run.routingWarnings.length ? { routing_warnings: [...run.routingWarnings] } : {}),
        ...(errorCode ? { error_code: errorCode } : {}),
      },
    }
    return audit.record(tx, run.call, entry, insert)
  }
}

/** The id in the body that the caller got: a cached answer has the one it was made with (contract 14.2). */
function shownId({ id: own, request }: Run, answer: StoredAnswer | null): CompletionId | ChatCompletionId {
  const id = answer?.id ?? own
  return request.isChat ? chatIdOf(id) : id
}

/** What the event says of an answer: of a stealth one neither tools nor metadata. */
function factsOf(run: Run, answer: StoredAnswer): CompletionFacts {
  const { call, request } = run
  const isQuiet = isStealth(request.mode)
  return {
    completion_id: shownId(run, answer),
    object: 'completion',
    mode: request.mode,
    resolved_mode: answer.resolvedMode,
    model: answer.model,
    conversation_id: run.conversationId,
    api_key_id: keyIdOf(call.caller),
    // Tools have told of their own charges.
    usage: { ...usageOf(run, answer), cost_cents: microToCents(run.costMicro) },
    tools_used: isQuiet ? [] : answer.toolsUsed.map(({ name, status }) => ({ name, status })),
    artifact_count: answer.artifacts.length,
    metadata: isQuiet ? null : request.metadata,
    request_id: call.requestId,
    created: iso(answer.createdAt),
  }
}
