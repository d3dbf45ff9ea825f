import type { AuditEventRow, InsertEvent } from '../audit'
import {
  type CompletionFacts,
  clientLeft,
  completionCreated,
  emitFirings,
  endingOf,
  pollUrlOf,
  type Ending as RunEnding,
} from '../charging'
import { needsModel, sumDetails } from '../engines'
import { firedBy } from '../guardrails'
import type { Firing } from '../guardrails/schema'
import { keyIdOf, ownerOf } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import { AppError, atField } from '../kernel/errors'
import { failpoint } from '../kernel/failpoint'
import { microToCents } from '../kernel/money'
import type { Tx } from '../kernel/store'
import { ReaderLeft } from '../kernel/stream'
import { checksOf, codeBlocks, problemsIn } from '../media'
import { keepBody } from '../usage'
import type { AgentResult } from './agent-schema'
import { artifactsOf, linkedAnew, receiveCode } from './artifacts'
import { cacheScopeOf, type StoredAnswer } from './cache'
import { costOfTurns } from './open'
import { chatIdOf, contentOf, keptTool, usageOf } from './present'
import { decisionsOf, firedIn, isStealth, requestTimeout, structuredOutput, suggestFollowUps, workOf } from './rules'
import type { House, Run } from './run'
import type { ChatCompletionId, CompletionId, ModelRef } from './schema'

const DAY_MS = 86_400_000

type Ending = RunEnding & {
  /** Null when no engine answered: the run failed, or its answer was cached. */
  agentResult: AgentResult | null
  /** Null for a failed run without an answer. */
  answer: StoredAnswer | null
  /** Every guardrail that fired. */
  guardrails: readonly Firing[]
}

const hasFallenBack = ({ routing }: Run, result: AgentResult | null): boolean =>
  result !== null && (result.fallbackUsed || routing.fallback_used)

/**
 * Charges and stores a complete or interrupted answer. One transaction writes money, conversation, usage, audit and
 * event, and the answer is returned only after it (docs/design.md 1.4). `broken`: the error that ended the answer.
 */
export async function finish(house: House, run: Run, result: AgentResult, broken?: unknown): Promise<StoredAnswer> {
  const cost = run.hold ? Math.min(costOfTurns(house.prices, result.turns), run.hold.amount) : 0
  const answer = toAnswer(run, result, house.engines.describe(result.engineId), house.clock.now())
  const code = workOf(run.resolvedMode) === 'code' ? await receiveCode(house, run, answer.content, answer) : []
  failpoint('engine_done_before_settle')
  // True if the run's stages or tools made a file.
  const hasFiles = code.length > 0 || run.pictures.length > 0 || !!run.spent.made?.artifacts.length
  const { alongside, isApart } = run.request
  const isPlain = !(hasFiles || run.later || run.conversationId || (alongside && !isApart) || run.call.once)
  const unit = async (tx: Tx) => {
    if (hasFiles) answer.artifacts = await artifactsOf(house, tx, run, code)
    // 0 if the hold had ended: another node released it while this process was paused.
    run.costMicro = run.hold ? await house.billing.settle(tx, run.hold, cost) : 0
    if (run.later) await run.later.begin(tx)
    if (run.conversationId) await keepTurn(house, tx, run, answer, broken !== undefined)
    if (alongside) await alongside(tx, run, answer, broken)
    await record(house, tx, run, { agentResult: result, answer, guardrails: firedIn(run, answer), ...endingOf(broken) })
    if (broken !== undefined) await run.call.once?.broke?.(tx, broken)
    else if (run.call.once) await keepReply(tx, run, answer)
  }
  await ending(house, run, unit, isPlain)
  failpoint('settle_commit_before_ack')
  run.ticket?.correct(result.promptTokens + result.completionTokens)
  if (broken === undefined) remember(house, run, result, answer)
  return answer
}

/** The transaction that ends a run. If it fails, the run's files are removed, unless the outcome is unknown. */
const ending = (house: House, run: Run, unit: (tx: Tx) => Promise<void>, isPlain = false): Promise<void> =>
  house.holds.ending(run.request.accepted ? null : run.hold, unit, isPlain).catch(async (error: unknown) => {
    if (!(error instanceof AppError && error.code === 'storage_unavailable')) await discard(house, run)
    throw error
  })

async function discard({ files }: House, { drafts }: Run): Promise<void> {
  await Promise.all(drafts.map((draft) => files.discard(draft).catch(() => undefined)))
}

/** Ends a run without an answer: releases the hold and records the failure. */
async function fail(house: House, run: Run, error: unknown): Promise<void> {
  run.ticket?.correct(0)
  await discard(house, run)
  await ending(house, run, async (tx) => {
    if (run.hold && !run.request.accepted) await house.billing.release(tx, run.hold)
    const guardrails = run.guard?.firings ?? []
    await record(house, tx, run, { agentResult: null, answer: null, guardrails, ...endingOf(error) })
  })
}

/**
 * Ends a run that stopped early. Charges the text that the caller saw, or the finished turns when the caller left or
 * time ran out. Charges nothing without an answer or on failure (docs/api.md 2.4). Returns the error to throw.
 */
export async function abandon(house: House, run: Run, error: unknown): Promise<unknown> {
  const why = explained(run, error)
  const shown = run.held ? run.held.shown() : run.said.text
  const hasWorked = run.spent.turns.length > 0 && run.deadline.signal.aborted
  if (!(shown && !run.pictures.length) && !hasWorked) await fail(house, run, why)
  else
    await finish(house, run, { ...partial(house, run, run.said.text), content: shown }, why).catch((error: unknown) => {
      // The caller does not want half an answer.
      if (error !== why) throw error
      return fail(house, run, why)
    })
  return why
}

/** Stores a cached answer as a turn and records it, but does not charge it. */
export async function replay(house: House, run: Run, cached: StoredAnswer): Promise<StoredAnswer> {
  const answer = cached.artifacts.length
    ? { ...cached, artifacts: await linkedAnew(house, run, cached.artifacts) }
    : cached
  run.engineId = answer.model.id
  run.model = answer.model
  run.routing = answer.routing
  const isPlain = !(run.conversationId || run.call.once)
  const unit = async (tx: Tx) => {
    if (run.conversationId) await keepTurn(house, tx, run, answer, false)
    await record(house, tx, run, { agentResult: null, answer, guardrails: firedIn(run, answer), ...endingOf() })
    if (run.call.once) await keepReply(tx, run, answer)
  }
  await house.holds.ending(null, unit, isPlain)
  return answer
}

/** Stores the turn. Calls of the client's functions do not end a turn, which continues with their results. */
async function keepTurn(
  { conversations }: House,
  tx: Tx,
  run: Run,
  answer: StoredAnswer,
  isInterrupted: boolean,
): Promise<void> {
  const { request, attached } = run
  if (run.conversationId === null || answer.toolCalls.length) {
    run.conversationId = attached
    return
  }
  if (typeof request.conversation === 'object' && request.conversation.kept) return
  const turn = { prompt: request.prompt, answer: answer.content, ...aboutOf(run, answer, isInterrupted) }
  const owner = ownerOf(run.call.caller)
  if (attached) await conversations.append(tx, owner, attached, turn)
  else await conversations.start(tx, owner, run.conversationId, turn)
}

/** Data that the conversation keeps about an answer. */
export const aboutOf = ({ request, costMicro }: Run, answer: StoredAnswer, isInterrupted: boolean) => ({
  mode: request.mode,
  resolvedMode: answer.resolvedMode,
  model: answer.model,
  tools: answer.toolsUsed.map(({ name, status, description }) => ({ toolName: name, status, description })),
  artifacts: answer.artifacts,
  followUps: answer.followUps,
  costMicro,
  status: isInterrupted ? ('interrupted' as const) : ('complete' as const),
})

/** Caches an answer for identical requests (docs/api.md 22.1). */
function remember(
  house: House,
  { cacheKey, call, request, costMicro, later }: Run,
  result: AgentResult,
  answer: StoredAnswer,
): void {
  if (cacheKey === null || later) return
  // Only complete answers are cached: not cut short, not ended early for lack of credit, and without a failed tool,
  // because a search that failed may succeed a minute later.
  const { finish, toolUses, warnings } = result
  if (finish !== 'stop' || warnings.length || toolUses.some(({ status }) => status !== 'success')) return
  // `auto` may choose another mode later, so its answers have their own time to live (docs/api.md 22.1).
  const ttlS = house.caching.ttlS(request.mode === 'auto' ? 'auto' : answer.resolvedMode)
  const [scope, owner, keyId] = [cacheScopeOf(call), ownerOf(call.caller), keyIdOf(call.caller)]
  house.cache.put(cacheKey, { scope, owner, keyId, promptHash: sha256Hex(request.prompt), ttlS, answer, costMicro })
}

/** With an Idempotency-Key the reply is stored in the transaction that charges the answer (docs/api.md 1.7). */
async function keepReply(tx: Tx, run: Run, answer: StoredAnswer): Promise<void> {
  await run.call.once?.keep(tx, run.request.present(run, answer))
}

function toAnswer(run: Run, result: AgentResult, model: ModelRef, createdAt: number): StoredAnswer {
  const work = workOf(run.resolvedMode)
  const { content, logprobs = [] } = result
  const isAnswer = result.finish !== 'content-filter'
  const refusal = result.refusal || (isAnswer && !result.toolCalls.length ? refusalOf(run, result) : null)
  // A guardrail may have changed the content since.
  const spoken = contentOf(result.spoken ?? []) === content ? result.spoken : undefined
  // A refusal gets no follow-ups.
  const asksOn = run.request.wantsFollowUps && !run.later && isAnswer && refusal === null && !needsModel(content)
  const isNamed = run.warnings.some((warning) => /\blogprobs\b/.test(warning))
  const lacksLikely = run.request.sampling?.logprobs !== undefined && !logprobs.length && !isNamed
  const answer: StoredAnswer = {
    id: run.id,
    createdAt,
    content,
    reasoning: result.reasoning,
    finish: result.finish,
    stoppedBy: result.stoppedBy,
    fingerprint: result.fingerprint,
    toolCalls: result.toolCalls,
    promptTokens: result.promptTokens,
    completionTokens: result.completionTokens,
    resolvedMode: run.resolvedMode,
    model,
    toolsUsed: result.toolUses.map(({ id: _, ...use }) => use),
    refusal,
    artifacts: [],
    followUps: asksOn ? suggestFollowUps(work, content) : [],
    skillsActive: run.active.skills.map(({ id, slug, name }) => ({ id, slug, name })),
    structuredOutput: structuredOutput(work, content),
    routing: result.fallbackUsed ? { ...run.routing, fallback_used: true } : run.routing,
    warnings: [
      ...run.warnings,
      ...result.warnings,
      ...(content && lacksLikely ? ['"logprobs" is null, because the engine gave none.'] : []),
      ...(work === 'code' ? problemsIn(checksOf(codeBlocks(content))) : []),
    ],
    guardrails: (run.guard?.firings ?? []).filter(({ phase }) => phase !== 'input'),
    toolCents: run.spent.made?.costCents ?? 0,
    job: run.later && { job_id: run.later.id, status: 'queued', poll_url: pollUrlOf(run.later.id) },
  }
  if (logprobs.length) answer.logprobs = logprobs
  if (spoken) answer.spoken = spoken
  return Object.assign(answer, sumDetails([result]))
}

/** Why the content does not have the requested form. Null if it has, or if none was requested. */
function refusalOf({ request }: Run, { content, finish }: AgentResult): string | null {
  const problem = request.checkJson?.(content) ?? null
  return problem && finish === 'length' ? `The answer was cut at the output limit. ${problem}` : problem
}

/** Records a run with a usage row, an audit row and an event. Never stores the prompt (docs/api.md 2). */
async function record(house: House, tx: Tx, run: Run, ending: Ending): Promise<void> {
  await recordAudit(house, tx, run, ending, (unit, event) => recordUsage(house, unit, run, ending, event))
  if (ending.guardrails.length) await emitFirings(house.events, tx, run, ending.guardrails)
  if (house.traceBodies) await keep(house, tx, run, ending)
  if (ending.errorCode || !ending.answer) return
  await house.events.emit(tx, completionCreated, ownerOf(run.call.caller), factsOf(run, ending.answer), run.call)
}

/** Stores request and answer if the account wants that, except in stealth modes or if an input rule fired. */
async function keep({ settings, clock }: House, tx: Tx, run: Run, { agentResult, answer }: Ending): Promise<void> {
  const { request, call } = run
  const { keep_bodies, keep_bodies_days: days } = await settings.read(tx, call.caller.userId)
  const isChanged = run.guard?.firings.some(({ phase }) => phase === 'input')
  if (!keep_bodies || !request.original || isStealth(request.mode) || isChanged) return
  const uses = agentResult?.toolUses ?? run.spent.uses
  const tools = uses.length ? JSON.stringify(uses.map((use) => keptTool(run, use))) : null
  await keepBody(tx, {
    ...{ request_id: call.requestId, owner: ownerOf(call.caller), request: JSON.stringify(request.original) },
    ...{ response: answer?.content ?? null, tools, expires_at: clock.now() + days * DAY_MS },
  })
}

/** Records a request that the guardrail policy blocked. Nothing was run or billed. */
export async function recordRefused(house: House, tx: Tx, run: Run): Promise<void> {
  const guardrails = run.guard?.firings ?? []
  const errorCode = 'guardrail_blocked'
  await recordAudit(house, tx, run, { status: 400, errorCode, agentResult: null, answer: null, guardrails })
  await emitFirings(house.events, tx, run, guardrails)
}

function recordUsage(
  { usage, clock }: House,
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
  { audit }: House,
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
      ...(run.call.batch ? { door: 'batch' } : request.door ? { door: request.door } : {}),
      ...(request.endUser ? { end_user_sha256: request.endUser } : {}),
      metadata: isStealth(request.mode) ? null : request.metadata,
    },
    output: {
      status,
      ...(run.engineId ? { engine: result?.engineId ?? run.engineId } : {}),
      cost_cents: microToCents(run.costMicro),
      tools_used: result && !isStealth(request.mode) ? [...new Set(result.toolUses.map(({ name }) => name))] : [],
      fallback_used: hasFallenBack(run, result),
      ...firedBy(run.guard, guardrails),
      ...decisionsOf(run),
      error_code: errorCode,
    },
  }
  return audit.record(tx, run.call, entry, insert)
}
/** The id in the caller's response. A cached answer keeps its first id (docs/api.md 14.2). */
function shownId({ id: own, request }: Run, answer: StoredAnswer | null): CompletionId | ChatCompletionId {
  const id = answer?.id ?? own
  return request.isChat ? chatIdOf(id) : id
}

/** The event's data about an answer. A stealth answer shows neither tools nor metadata. */
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
    // Tools report their own charges in their own events.
    usage: { ...usageOf(run, answer), cost_cents: microToCents(run.costMicro) },
    tools_used: isQuiet ? [] : answer.toolsUsed.map(({ name, status }) => ({ name, status })),
    artifact_count: answer.artifacts.length,
    metadata: isQuiet ? null : request.metadata,
    request_id: call.requestId,
    created: iso(answer.createdAt),
  }
}

/** The text and tool calls of a run that stopped early. The tokens of its last turn are our own count. */
export function partial({ engines }: House, { engineId, promptTokens, spent }: Run, text: string): AgentResult {
  const half = text.slice(spent.said)
  const completionTokens = half ? engines.countTokens(half) : 0
  const broken = { engineId, free: engines.isFree(engineId), promptTokens, completionTokens }
  const turns = half || !spent.turns.length ? [...spent.turns, broken] : [...spent.turns]
  return {
    engineId,
    free: broken.free,
    promptTokens: turns.reduce((sum, turn) => sum + turn.promptTokens, 0),
    completionTokens: turns.reduce((sum, turn) => sum + turn.completionTokens, 0),
    content: text,
    reasoning: '',
    refusal: '',
    finish: 'stop',
    fallbackUsed: false,
    ttftMs: null,
    turns,
    toolUses: spent.uses,
    toolCalls: [],
    warnings: [],
  }
}

/** Why a run ended, in the caller's terms: the time was up, the client left, or the prompt is too long. */
function explained(run: Run, error: unknown): unknown {
  if (run.deadline.timedOut()) return requestTimeout(run.write ? 600 : 120, run.request.mode)
  if (run.call.signal.aborted || error instanceof ReaderLeft) return clientLeft()
  const isTooLong = error instanceof AppError && error.kind === 'invalid' && error.param === 'prompt'
  return isTooLong && run.request.cameFrom ? atField(error, run.request.cameFrom.whole) : error
}
