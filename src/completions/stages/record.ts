import type { Thought } from '../../agent/schema'
import type { AuditLog } from '../../audit'
import type { EventBus } from '../../events'
import { guardrailTriggered } from '../../guardrails'
import type { Firing } from '../../guardrails/schema'
import { keyIdOf, ownerOf } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { sha256Hex } from '../../kernel/crypto'
import { microToCents } from '../../kernel/money'
import type { Tx } from '../../kernel/store'
import type { UsageLog } from '../../usage'
import { completionCreated } from '../events'
import { isStealth } from '../rules'
import type { Run } from '../run'

type Deps = { clock: Clock; usage: UsageLog; audit: AuditLog; events: EventBus }

export type Ending = {
  status: number
  errorCode: string | null
  /** The error that ended the run early. */
  broken?: unknown
  /** Null when no engine answered: the run failed, or its answer was cached. */
  thought: Thought | null
  /** Every guardrail that fired. */
  guardrails: readonly Firing[]
}

const hasFallenBack = ({ routing }: Run, thought: Thought | null): boolean =>
  thought !== null && (thought.fallbackUsed || routing.fallback_used)

/** Records every run with a usage row, an audit row and an event; never stores the prompt itself (contract 2). */
export function createRecord({ clock, usage, audit, events }: Deps) {
  return { record, refused }

  async function record(tx: Tx, run: Run, ending: Ending): Promise<void> {
    await recordUsage(tx, run, ending)
    await recordAudit(tx, run, ending)
    if (ending.guardrails.length) await emitFirings(tx, run, ending.guardrails)
    if (ending.errorCode) return
    await events.emit(tx, completionCreated, ownerOf(run.call.caller), {
      id: run.id,
      mode: run.ask.mode,
      resolved_mode: run.resolvedMode,
      model: ending.thought?.engineId ?? run.engineId,
      conversation_id: run.conversationId,
      cost_cents: microToCents(run.costMicro),
      cached: run.isCached,
    })
  }

  /** Records a request that the guardrail policy blocked: nothing was run or billed. */
  async function refused(tx: Tx, run: Run): Promise<void> {
    const guardrails = run.guard?.firings ?? []
    await recordAudit(tx, run, { status: 400, errorCode: 'guardrail_blocked', thought: null, guardrails })
    await emitFirings(tx, run, guardrails)
  }

  /** Emitted for failed runs too, since the rule fired all the same. */
  async function emitFirings(tx: Tx, { call, guard }: Run, firings: readonly Firing[]): Promise<void> {
    if (!guard) return
    for (const { guardrail_id, phase, verdict } of firings) {
      await events.emit(tx, guardrailTriggered, ownerOf(call.caller), {
        policy_id: guard.policyId,
        guardrail_id,
        phase,
        verdict,
        api_key_id: keyIdOf(call.caller),
        request_id: call.requestId,
      })
    }
  }

  function recordUsage(tx: Tx, run: Run, { thought, status, broken }: Ending): Promise<void> {
    const { call } = run
    return usage.record(tx, {
      requestId: call.requestId,
      owner: ownerOf(call.caller),
      userId: call.caller.userId,
      keyId: keyIdOf(call.caller),
      endpoint: call.route.slice(call.route.indexOf(' ') + 1),
      mode: run.ask.mode,
      resolvedMode: run.resolvedMode,
      model: thought?.engineId ?? run.engineId,
      status,
      promptTokens: thought?.promptTokens ?? 0,
      completionTokens: thought?.completionTokens ?? 0,
      costMicro: run.costMicro,
      cached: run.isCached,
      latencyMs: Math.round(clock.monotonic() - run.startedAt),
      ttftMs: thought?.ttftMs ?? null,
      classifiedMs: run.classifiedMs,
      fallbackUsed: hasFallenBack(run, thought),
      skills: run.active.skills.map(({ id }) => id),
      broken,
    })
  }

  async function recordAudit(tx: Tx, run: Run, { thought, status, errorCode, guardrails }: Ending): Promise<void> {
    const { ask } = run
    await audit.record(tx, run.call, {
      action: errorCode ? 'completion.failed' : 'completion.created',
      entityType: 'completion',
      entityId: run.id,
      input: {
        mode: ask.mode,
        prompt_sha256: sha256Hex(ask.prompt),
        prompt_length: ask.prompt.length,
        skills: run.active.skills.map(({ id }) => id),
        ...(ask.metadata && !isStealth(ask.mode) ? { metadata: ask.metadata } : {}),
      },
      output: {
        status,
        ...(run.engineId ? { engine: thought?.engineId ?? run.engineId } : {}),
        cost_cents: microToCents(run.costMicro),
        tools_used: thought && !isStealth(ask.mode) ? [...new Set(thought.toolUses.map(({ name }) => name))] : [],
        fallback_used: hasFallenBack(run, thought),
        ...(guardrails.length ? { guardrails: [...guardrails] } : {}),
        ...(run.routingWarnings.length ? { routing_warnings: [...run.routingWarnings] } : {}),
        ...(errorCode ? { error_code: errorCode } : {}),
      },
    })
  }
}
