import { type AuditLog, type CallEntry, splitRoute } from '../audit'
import type { Hold } from '../billing/schema'
import type { EngineService } from '../engines'
import type { EventBus } from '../events'
import { firedBy, type Guard, guardrailTriggered } from '../guardrails'
import type { Firing } from '../guardrails/schema'
import { type Call, keyIdOf, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import { AppError } from '../kernel/errors'
import { microToCents } from '../kernel/money'
import type { Tx } from '../kernel/store'
import type { UsageEntry, UsageLog } from '../usage'
import type { WorkRequest, WorkResult } from './kind'
import { completionCreated } from './kind'
import type { CallEnd } from './service'

type Guarded = { call: Pick<Call, 'caller' | 'requestId' | 'depth'>; guard: Pick<Guard, 'policyId'> | null }

/** How charged work ended: the status of its response, and the code of the error that ended it early. */
export type Ending = {
  status: number
  errorCode: string | null
  /** The error that ended it early. */
  broken?: unknown
}

const STATUS: Partial<Record<AppError['kind'], number>> = {
  timeout: 504,
  unavailable: 503,
  upstream: 502,
  conflict: 409,
  forbidden: 403,
  unpaid: 402,
  unauthenticated: 401,
  invalid: 400,
}

type Deps = {
  clock: Clock
  usage: UsageLog
  audit: AuditLog
  events: EventBus
  engines: Pick<EngineService, 'describe'>
}

/** Charged work, from its admission to its record. */
export type Charging = { call: Call; wanted: WorkRequest; guard: Guard | null; startedAt: number }

type Outcome = {
  made: (Pick<WorkResult, 'used' | 'engineId' | 'cached'> & Partial<Pick<WorkResult, 'files'>>) | null
  costMicro: number
  /** The hold that paid. */
  hold?: Hold | null
  broken?: unknown
}

/** Records the work with a usage row, an audit row and an event. Never stores the prompt (docs/api.md 6). */
export function createRecord({ clock, usage, audit, events, engines }: Deps) {
  return { ended, refused, accepted, delivered }

  /** How work ended, for `Holds`: its record, and its event. */
  function ended(charging: Charging, outcome: Outcome): Pick<CallEnd, 'describe' | 'tell'> {
    const { call, guard, wanted } = charging
    const { status, errorCode } = endingOf(outcome.broken)
    const guardrails = guard?.firings ?? []
    // No event for embeddings: the contract has none (docs/api.md 31), and programs request them by the thousand.
    const hasEvent = errorCode === null && wanted.kind !== 'embedding'
    return {
      describe(costMicro) {
        outcome.costMicro = costMicro
        const { engine, fallbackUsed } = engineOf(charging, outcome)
        const cost_cents = microToCents(costMicro)
        const output = { cost_cents, engine, error_code: errorCode, fallback_used: fallbackUsed, status }
        return { call, entry: entryOf(charging, output), usage: usageOf(charging, outcome) }
      },
      tell(tx) {
        if (!hasEvent) return guardrails.length ? emitFirings(events, tx, charging, guardrails) : null
        return emitFirings(events, tx, charging, guardrails).then(() => tell(tx, charging, outcome))
      },
    }
  }

  /** Records work that continues as this job, when the job is queued. Its cost is recorded when the job ends. */
  function accepted(tx: Tx, charging: Charging, jobId: string): Promise<void> {
    return written(tx, charging, { engine: charging.wanted.engineId, status: 202 }, jobId)
  }

  /** Records a job's product: usage, event and fired rules. The end of the job has its own audit entry. */
  async function delivered(tx: Tx, charging: Charging, outcome: Outcome): Promise<void> {
    await usage.record(tx, usageOf(charging, outcome))
    await tell(tx, charging, outcome)
    await emitFirings(events, tx, charging, charging.guard?.firings ?? [])
  }

  function usageOf(charging: Charging, outcome: Outcome): UsageEntry {
    const { call, wanted, startedAt } = charging
    const { made, costMicro, broken } = outcome
    const { engine, fallbackUsed } = engineOf(charging, outcome)
    const { status } = endingOf(broken)
    return {
      requestId: call.requestId,
      owner: ownerOf(call.caller),
      userId: call.caller.userId,
      keyId: keyIdOf(call.caller),
      endpoint: splitRoute(call.route).endpoint,
      mode: wanted.mode,
      resolvedMode: wanted.mode,
      model: engine,
      status,
      promptTokens: made?.used.promptTokens ?? 0,
      completionTokens: made?.used.completionTokens ?? 0,
      costMicro,
      paidBy: outcome.hold?.ref,
      cached: made?.cached ?? false,
      latencyMs: clock.monotonic() - startedAt,
      ttftMs: null,
      fallbackUsed,
      broken,
    }
  }

  async function tell(tx: Tx, charging: Charging, outcome: Outcome): Promise<void> {
    const { call, wanted } = charging
    const { made, costMicro } = outcome
    const [prompt, completion] = [made?.used.promptTokens ?? 0, made?.used.completionTokens ?? 0]
    const facts = {
      completion_id: wanted.id,
      object: wanted.kind,
      mode: wanted.mode,
      resolved_mode: wanted.mode,
      model: engines.describe(engineOf(charging, outcome).engine),
      conversation_id: null,
      api_key_id: keyIdOf(call.caller),
      usage: {
        cost_cents: microToCents(costMicro),
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
      },
      tools_used: [],
      artifact_count: made?.files?.length ?? 0,
      metadata: null,
      request_id: call.requestId,
      created: iso(clock.now()),
    }
    await events.emit(tx, completionCreated, ownerOf(call.caller), facts, call)
  }

  /** Records a request that the guardrail policy blocked. Nothing was made or charged. */
  function refused(tx: Tx, charging: Charging): Promise<void> {
    return written(tx, charging, { cost_cents: 0, error_code: 'guardrail_blocked', status: 400 })
  }

  async function written(tx: Tx, charging: Charging, output: Output, id?: string): Promise<void> {
    await audit.recordCalls(tx, [{ call: charging.call, entry: entryOf(charging, output, id) }])
    await emitFirings(events, tx, charging, charging.guard?.firings ?? [])
  }
}

/** Never stores the prompt, only its hash and length. */
function entryOf({ call, wanted, guard }: Charging, output: Output, id = wanted.id): CallEntry {
  const texts = Object.values(wanted.texts)
  const prompt = wanted.kind === 'embedding' ? texts.join('\n') : (texts[0] ?? '')
  const batchField = call.batch ? { door: 'batch' } : {}
  return {
    action: `${wanted.kind}.${output.error_code ? 'failed' : 'created'}`,
    entityType: ENTITIES[wanted.kind],
    entityId: id,
    input: {
      api_key_id: keyIdOf(call.caller),
      ...splitRoute(call.route),
      mode: wanted.mode,
      prompt_sha256: sha256Hex(prompt),
      prompt_length: prompt.length,
      metadata: null,
      ...wanted.facts,
      ...batchField,
    },
    output: { ...output, ...firedBy(guard, guard?.firings ?? []), request_id: call.requestId },
  }
}

function engineOf({ wanted }: Charging, { made }: Outcome): { engine: string; fallbackUsed: boolean } {
  const engine = made?.engineId ?? wanted.engineId
  return { engine, fallbackUsed: engine !== wanted.engineId }
}

/** Entity type of an event, by the kind of work (docs/api.md 19). */
const ENTITIES = {
  ...({ image: 'image', video: 'video', code: 'code', document: 'document', research: 'job' } as const),
  ...({ tts: 'audio', stt: 'audio', voice: 'audio' } as const),
  browser_step: 'browser_session' as const,
  embedding: 'embedding' as const,
}

type Output = {
  status: number
  error_code?: string | null
  engine?: string
  cost_cents?: number
  fallback_used?: boolean
}

/** Status and error code of work, by the error that ended it. Undefined means that the work succeeded. */
export function endingOf(broken?: unknown): Ending {
  if (broken === undefined) return { status: 200, errorCode: null, broken }
  if (!(broken instanceof AppError)) return { status: 500, errorCode: 'server_error', broken }
  const status = broken.code === 'client_closed' ? 499 : (STATUS[broken.kind] ?? 500)
  return { status, errorCode: broken.code, broken }
}

/** Emits every rule that fired. Failed work emits them too, because the rule fired all the same (docs/api.md 14.2). */
export async function emitFirings(
  events: EventBus,
  tx: Tx,
  { call, guard }: Guarded,
  firings: readonly Firing[],
): Promise<void> {
  if (!guard) return
  for (const { guardrail_id, phase, verdict } of firings) {
    await events.emit(
      tx,
      guardrailTriggered,
      ownerOf(call.caller),
      {
        policy_id: guard.policyId,
        guardrail_id,
        phase,
        verdict,
        api_key_id: keyIdOf(call.caller),
        request_id: call.requestId,
      },
      call,
    )
  }
}
