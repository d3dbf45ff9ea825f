import { splitRoute } from '../audit'
import {
  type CallEnd,
  type CallRecord,
  type CompletionFacts,
  completionCreated,
  emitFirings,
  endingOf,
} from '../charging'
import { firedBy } from '../guardrails'
import type { Firing } from '../guardrails/schema'
import { keyIdOf, ownerOf } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import { microToCents } from '../kernel/money'
import type { Tx } from '../kernel/store'
import { storeBody } from '../usage'
import type { AgentResult } from './agent-schema'
import type { StoredAnswer } from './cache'
import { keptTool, usageOf } from './present'
import { firedIn, isStealth } from './rules'
import type { PipelineDeps, Run } from './run'

const DAY_MS = 86_400_000

const NO_FIRINGS: readonly Firing[] = []

const hasFallenBack = ({ routing }: Run, result: AgentResult | null): boolean =>
  result !== null && (result.fallbackUsed || routing.fallback_used)

type Ended = {
  readonly run: Run
  /** Null when no engine answered: the run failed, or its answer was cached. */
  readonly result: AgentResult | null
  /** Null for a failed run without an answer. */
  readonly answer: StoredAnswer | null
  readonly status: number
  readonly errorCode: string | null
  /** The error that ended it early. */
  readonly broken?: unknown
  /** Every guardrail that fired. */
  readonly guardrails: readonly Firing[]
}

type HowEnded = Partial<Pick<Ended, 'result' | 'answer' | 'broken'>> & Partial<Pick<CallEnd, 'cost' | 'effects'>>

/** The end of a run, with its record: a usage row that contains an audit event. Never has the prompt. */
export function endOf(deps: PipelineDeps, run: Run, how: HowEnded, isAlone = !!how.effects): CallEnd {
  const { result = null, answer = null, broken, cost = 0, effects = null } = how
  const { status, errorCode } = endingOf(broken)
  const guardrails = answer ? firedIn(run, answer) : (run.guard?.firings ?? NO_FIRINGS)
  const ended: Ended = { run, result, answer, status, errorCode, broken, guardrails }
  return {
    hold: run.hold,
    cost,
    isOfJob: !!run.request.accepted,
    effects,
    isAlone,
    describe(costMicro) {
      run.costMicro = costMicro
      return { call: run.call, entry: eventOf(ended), usage: usageEntryOf(deps, ended) }
    },
    tell(tx) {
      const metadata = isStealth(run.request.mode) ? null : run.request.metadata
      const hasListener =
        answer !== null &&
        errorCode === null &&
        !deps.events.isIgnored(tx, completionCreated, ownerOf(run.call.caller), { metadata })
      return hasListener || guardrails.length || deps.traceBodies ? tell(deps, tx, ended, hasListener) : null
    },
  }
}

/** Emits the rules that fired and the event of an answer, and stores the body. */
async function tell(deps: PipelineDeps, tx: Tx, ended: Ended, hasListener: boolean): Promise<void> {
  const { run, guardrails, answer } = ended
  if (guardrails.length) await emitFirings(deps.events, tx, run, guardrails)
  if (deps.traceBodies) await keep(deps, tx, ended)
  if (hasListener)
    await deps.events.emit(tx, completionCreated, ownerOf(run.call.caller), factsOf(run, answer!), run.call)
}

/** Stores request and answer if the account wants that, except in stealth modes or if an input rule fired. */
async function keep({ settings, clock }: PipelineDeps, tx: Tx, { run, result, answer }: Ended): Promise<void> {
  const { request, call } = run
  const { keep_bodies, keep_bodies_days: days } = await settings.read(tx, call.caller.userId)
  const isChanged = run.guard?.firings.some(({ phase }) => phase === 'input')
  if (!keep_bodies || !request.original || isStealth(request.mode) || isChanged) return
  const uses = result?.toolUses ?? run.spent.toolUses
  const tools = uses.length ? JSON.stringify(uses.map((use) => keptTool(run, use))) : null
  // Marks the address of a chat, so that a replay applies the same parameters.
  const isAtApi = request.clientFormat === 'chat' && !request.forClients
  const sent = isAtApi ? { ...request.original, svc_base: '/api/v1' } : request.original
  await storeBody(tx, {
    ...{ request_id: call.requestId, owner: ownerOf(call.caller), request: JSON.stringify(sent) },
    ...{ response: answer?.content ?? null, tools, expires_at: clock.now() + days * DAY_MS },
  })
}

/** Records a request that the guardrail policy blocked. Nothing was run or billed. */
export async function recordRefused(deps: PipelineDeps, tx: Tx, run: Run): Promise<void> {
  const guardrails = run.guard?.firings ?? []
  const refused = { run, result: null, answer: null, status: 400, errorCode: 'guardrail_blocked', guardrails }
  await deps.audit.recordCalls(tx, [{ call: run.call, entry: eventOf(refused) }])
  await emitFirings(deps.events, tx, run, guardrails)
}

function usageEntryOf({ clock }: PipelineDeps, { run, result, status, broken }: Ended): CallRecord['usage'] {
  const { call } = run
  return {
    requestId: call.requestId,
    owner: ownerOf(call.caller),
    userId: call.caller.userId,
    keyId: keyIdOf(call.caller),
    endpoint: splitRoute(call.route).endpoint,
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
    skills: skillsOf(run),
    broken,
  }
}

const NONE: readonly string[] = []

const skillsOf = ({ active }: Run): readonly string[] =>
  active.skills.length ? active.skills.map(({ id }) => id) : NONE

/** The audit event of a run. Quotes nothing of the prompt. Members in the order of their names cost least. */
function eventOf({ run, result, answer, status, errorCode, guardrails }: Ended): CallRecord['entry'] {
  const { request, call, routingWarnings, conversationId } = run
  const { method, endpoint } = splitRoute(call.route)
  const isQuiet = isStealth(request.mode)
  const fired = guardrails.length ? firedBy(run.guard, guardrails) : null
  return {
    action: errorCode ? 'completion.failed' : 'completion.created',
    entityType: 'completion',
    entityId: shownId(run, answer),
    input: {
      api_key_id: keyIdOf(call.caller),
      door: call.batch ? 'batch' : request.clientFormat,
      end_user_sha256: request.endUser,
      endpoint,
      metadata: isQuiet ? null : request.metadata,
      method,
      mode: request.mode,
      prompt_length: request.prompt.length,
      prompt_sha256: sha256Hex(request.prompt),
      skills: skillsOf(run),
    },
    output: {
      conversation_id: conversationId && !isQuiet ? conversationId : undefined,
      cost_cents: microToCents(run.costMicro),
      engine: run.engineId ? (result?.engineId ?? run.engineId) : undefined,
      error_code: errorCode,
      fallback_used: hasFallenBack(run, result),
      guardrail_policy_id: fired?.guardrail_policy_id,
      guardrails: fired?.guardrails,
      request_id: call.requestId,
      routing: run.classifiedMs === null ? undefined : { ...run.routing, fallback_used: undefined },
      routing_warnings: routingWarnings.length ? routingWarnings : undefined,
      status,
      tools_used: result?.toolUses.length && !isQuiet ? [...new Set(result.toolUses.map(({ name }) => name))] : NONE,
    },
  }
}

/** The id in the caller's response. A cached answer keeps its first id (docs/api.md 14.2). */
function shownId({ id: own, request }: Run, answer: StoredAnswer | null): string {
  const id = answer?.id ?? own
  return request.shownId?.(id) ?? id
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
