import type { Thought } from '../../agent/schema'
import type { AuditLog } from '../../audit'
import type { EventBus } from '../../events'
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

/** A run as far as the record needs it; a remembered answer never got further. */
export type Known = Opened &
  Pick<Decided, 'resolvedMode' | 'engineId' | 'model'> &
  Partial<Pick<Decided, 'classifiedMs'>>

export type Ending = {
  status: number
  thought: Thought | null
  costMicro: number
  cached: boolean
  errorCode: string | null
  conversationId: string | null
  /** What ended it early. */
  broken?: unknown
}

/** Leaves the traces every run leaves: a usage row, an audit row, an event. Never the prompt itself (contract 2). */
export function createRecord({ clock, usage, audit, events }: Deps) {
  return async function record(tx: Tx, run: Known, ending: Ending): Promise<void> {
    await recordUsage(tx, run, ending)
    await recordAudit(tx, run, ending)
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
      fallbackUsed: thought?.fallbackUsed ?? false,
      skills: run.active.skills.map(({ id }) => id),
      broken,
    })
  }

  async function recordAudit(tx: Tx, { call, ask, ...run }: Known, ending: Ending): Promise<void> {
    const { thought, status, costMicro, errorCode } = ending
    await audit.record(tx, call, {
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
        engine: thought?.engineId ?? run.engineId,
        cost_cents: microToCents(costMicro),
        tools_used: thought && !isStealth(ask.mode) ? [...new Set(thought.toolUses.map(({ name }) => name))] : [],
        fallback_used: thought?.fallbackUsed ?? false,
        ...(errorCode ? { error_code: errorCode } : {}),
      },
    })
  }
}
