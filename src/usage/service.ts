import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { KeyId, UserId } from '../kernel/ids'
import type { Reader, Tx } from '../kernel/store'
import { createRefusals } from './refusals'
import { insertRecord, insertRecordReturningId, insertSkill } from './repository'
import { spendOf } from './spend'

export type UsageLog = ReturnType<typeof createUsageLog>

/** What one call consumed. Cost in micro-cents, durations in milliseconds. */
export type UsageEntry = {
  requestId: string
  owner: OwnerScope
  userId: UserId | null
  keyId: KeyId | null
  /** The path without the method: `/chat/completions`. */
  endpoint: string
  mode: string | null
  resolvedMode: string | null
  model: string | null
  /** HTTP status of the answer. */
  status: number
  promptTokens: number
  completionTokens: number
  costMicro: number
  cached: boolean
  latencyMs: number
  /** Time to the first token of a stream; null without one. */
  ttftMs: number | null
  /** Time spent choosing the mode; absent when the caller chose it. */
  classifiedMs?: number | null
  fallbackUsed: boolean
  /** Ids of the skills that were used. */
  skills?: readonly string[]
  /** The error that ended the call early; marked, so that it is not counted as a refused call too. */
  broken?: unknown
}

type Deps = {
  clock: Clock
  /** Told of each call once its row is committed. */
  witness?(entry: UsageEntry): void
}

export function createUsageLog({ clock, witness }: Deps) {
  const refusals = createRefusals({ clock })
  return {
    refusals,

    /** Writes the usage row of a call, in the transaction that settles its charge. One statement without skills. */
    record(tx: Tx, entry: UsageEntry): Promise<unknown> {
      const row = {
        owner: entry.owner,
        at: clock.now(),
        request_id: entry.requestId,
        user_id: entry.userId,
        api_key_id: entry.keyId,
        endpoint: entry.endpoint,
        mode: entry.mode,
        resolved_mode: entry.resolvedMode,
        model: entry.model,
        status: entry.status,
        prompt_tokens: entry.promptTokens,
        completion_tokens: entry.completionTokens,
        cost_micro: entry.costMicro,
        cached: entry.cached,
        latency_ms: Math.round(entry.latencyMs),
        ttft_ms: entry.ttftMs === null ? null : Math.round(entry.ttftMs),
        classified_us: entry.classifiedMs == null ? null : Math.round(entry.classifiedMs * 1_000),
        fallback_used: entry.fallbackUsed,
      }
      refusals.markRecorded(entry.broken)
      if (witness) tx.afterCommit(() => witness(entry))
      return entry.skills?.length ? insertWithSkills(tx, row, entry.skills) : insertRecord(tx, row)
    },

    /** What a key spent today and this month, for its caps and its `spent_*_cents`. */
    spent: (reader: Reader, subject: string) => spendOf(reader, subject, clock.now()),
  }
}

async function insertWithSkills(
  tx: Tx,
  row: Parameters<typeof insertRecord>[1],
  skills: readonly string[],
): Promise<void> {
  const [inserted] = await insertRecordReturningId(tx, row)
  for (const skill of new Set(skills)) await insertSkill(tx, { record_id: inserted!.id, skill })
}
