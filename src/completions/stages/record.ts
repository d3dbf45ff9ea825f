import type { AuditLog } from '../../audit'
import { type CompletionFacts, completionCreated, emitFirings, type Ending as RunEnding } from '../../charging'
import type { EventBus } from '../../events'
import type { Firing } from '../../guardrails/schema'
import { keyIdOf, ownerOf } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { sha256Hex } from '../../kernel/crypto'
import { microToCents } from '../../kernel/money'
import type { Tx } from '../../kernel/store'
import type { UsageLog } from '../../usage'
import type { AgentResult } from '../agent-schema'
import type { StoredAnswer } from '../cache'
import { usageOf } from '../present'
import { isStealth } from '../rules'
import type { Run } from '../run'
import { type ChatCompletionId, type CompletionId, chatIdOf } from '../schema'

type Deps = { clock: Clock; usage: UsageLog; audit: AuditLog; events: EventBus }

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

/** Records every run with a usage row, an audit row and an event; never stores the prompt itself (contract 2). */
export function createRecord({ clock, usage, audit, events }: Deps) {
  return { record, refused }

  async function record(tx: Tx, run: Run, ending: Ending): Promise<void> {
    await recordUsage(tx, run, ending)
    await recordAudit(tx, run, ending)
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

  function recordUsage(tx: Tx, run: Run, { agentResult: result, status, broken }: Ending): Promise<unknown> {
    const { call } = run
    return usage.record(tx, {
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
      cached: run.isCached,
      latencyMs: Math.round(clock.monotonic() - run.startedAt),
      ttftMs: result?.ttftMs ?? null,
      classifiedMs: run.classifiedMs,
      fallbackUsed: hasFallenBack(run, result),
      skills: run.active.skills.map(({ id }) => id),
      broken,
    })
  }

  function recordAudit(
    tx: Tx,
    run: Run,
    { agentResult: result, answer, status, errorCode, guardrails }: Ending,
  ): Promise<unknown> {
    const { request } = run
    return audit.record(tx, run.call, {
      action: errorCode ? 'completion.failed' : 'completion.created',
      entityType: 'completion',
      entityId: shownId(run, answer),
      input: {
        mode: request.mode,
        prompt_sha256: sha256Hex(request.prompt),
        prompt_length: request.prompt.length,
        skills: run.active.skills.map(({ id }) => id),
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
    })
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
