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
import type { Decided, Opened } from '../run'

type Deps = { clock: Clock; usage: UsageLog; audit: AuditLog; events: EventBus }

/** The members of a run that are recorded; a run with a cached answer has only these. */
export type Known = Opened &
  Pick<Decided, 'resolvedMode' | 'engineId' | 'model'> &
  Partial<Pick<Decided, 'classifiedMs' | 'routing' | 'routingWarnings'>>

const hasFallenBack = ({ routing }: Pick<Known, 'routing'>, thought: Thought | null): boolean =>
  thought !== null && (thought.fallbackUsed || routing?.fallback_used === true)

export type Ending = {
  status: number
  thought: Thought | null
  costMicro: number
  cached: boolean
  errorCode: string | null
  conversationId: string | null
  /** Every guardrail that fired. */
  guardrails: readonly Firing[]
  /** The error that ended the run early. */
  broken?: unknown
}

/** Records every run with a usage row, an audit row and an event; never stores the prompt itself (contract 2). */
export function createRecord({ clock, usage, audit, events }: Deps) {
  return Object.assign(record, { refused })

  /** Records a request that the guardrail policy blocked: nothing was run or billed. */
  async function refused(tx: Tx, run: Opened): Promise<void> {
    const { call, guard } = run
    const nothing = { cost_cents: 0, tools_used: [], fallback_used: false }
    await audit.record(tx, call, {
      action: 'completion.failed',
      entityType: 'completion',
      entityId: run.id,
      input: inputOf(run),
      output: { status: 400, ...nothing, guardrails: [...(guard?.firings ?? [])], error_code: 'guardrail_blocked' },
    })
    await emitFirings(tx, run, guard?.firings ?? [])
  }

  /** Emitted for failed runs too, since the rule fired all the same. */
  async function emitFirings(tx: Tx, { call, guard }: Opened, firings: readonly Firing[]): Promise<void> {
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

  async function record(tx: Tx, run: Known, ending: Ending): Promise<void> {
    await recordUsage(tx, run, ending)
    await recordAudit(tx, run, ending)
    await emitFirings(tx, run, ending.guardrails)
    if (ending.errorCode) return
    await events.emit(tx, completionCreated, ownerOf(run.call.caller), {
      id: run.id,
      mode: run.ask.mode,
      resolved_mode: run.resolvedMode,
      model: ending.thought?.engineId ?? run.engineId,
      conversation_id: ending.conversationId,
      cost_cents: microToCents(ending.costMicro),
      cached: ending.cached,
    })
  }

  function recordUsage(
    tx: Tx,
    { call, ask, ...run }: Known,
    { thought, status, costMicro, cached, broken }: Ending,
  ): Promise<void> {
    return usage.record(tx, {
      requestId: call.requestId,
      owner: ownerOf(call.caller),
      userId: call.caller.userId,
      keyId: keyIdOf(call.caller),
      endpoint: call.route.slice(call.route.indexOf(' ') + 1),
      mode: ask.mode,
      resolvedMode: run.resolvedMode,
      model: thought?.engineId ?? run.engineId,
      status,
      promptTokens: thought?.promptTokens ?? 0,
      completionTokens: thought?.completionTokens ?? 0,
      costMicro,
      cached,
      latencyMs: Math.round(clock.monotonic() - run.startedAt),
      ttftMs: thought?.ttftMs ?? null,
      classifiedMs: run.classifiedMs ?? null,
      fallbackUsed: hasFallenBack(run, thought),
      skills: run.active.skills.map(({ id }) => id),
      broken,
    })
  }

  async function recordAudit(tx: Tx, { call, ask, ...run }: Known, ending: Ending): Promise<void> {
    const { thought, status, costMicro, errorCode, guardrails } = ending
    await audit.record(tx, call, {
      action: errorCode ? 'completion.failed' : 'completion.created',
      entityType: 'completion',
      entityId: run.id,
      input: inputOf({ ask, active: run.active }),
      output: {
        status,
        engine: thought?.engineId ?? run.engineId,
        cost_cents: microToCents(costMicro),
        tools_used: thought && !isStealth(ask.mode) ? [...new Set(thought.toolUses.map(({ name }) => name))] : [],
        fallback_used: hasFallenBack(run, thought),
        ...(guardrails.length ? { guardrails: [...guardrails] } : {}),
        ...(run.routingWarnings?.length ? { routing_warnings: [...run.routingWarnings] } : {}),
        ...(errorCode ? { error_code: errorCode } : {}),
      },
    })
  }
}

const inputOf = ({ ask, active }: Pick<Known, 'ask' | 'active'>) => ({
  mode: ask.mode,
  prompt_sha256: sha256Hex(ask.prompt),
  prompt_length: ask.prompt.length,
  skills: active.skills.map(({ id }) => id),
  ...(ask.metadata && !isStealth(ask.mode) ? { metadata: ask.metadata } : {}),
})
