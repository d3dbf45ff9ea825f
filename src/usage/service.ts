import { and, eq, gte, lte, type Placeholder, sql } from 'drizzle-orm'
import type { AuditEventRow } from '../audit'
import type { OwnerScope } from '../kernel/caller'
import { type Clock, utcDay } from '../kernel/clock'
import type { KeyId, UserId } from '../kernel/ids'
import { type Loop, startLoop } from '../kernel/loop'
import { addedOf, allOf, command, insertListed, query, type Reader, type Store, type Tx } from '../kernel/store'
import { type RollupKey, rollupKeysOf, startOf } from './buckets'
import type { Choice } from './report-repository'
import { addRefused, placeCursor } from './rollup-repository'
import type { Span } from './spans'
import { spendDays, type UsageRow, usageRecords, usageSkills } from './table'

/** Micro-cents: `spent` is charged, `held` is reserved by work that is still running. */
type Amounts = { spent: number; held: number }

/** The amounts of a subject's current UTC day and UTC month (caps roll over at 00:00 UTC, docs/api.md 1.9). */
export type Spend = { today: Amounts; month: Amounts }

/** Reserves an amount on a capped subject's day. */
export const holdSpend = (tx: Tx, subject: string, at: number, amount: number) =>
  moveOneSpend(tx, { subject, day: utcDay(at), spent: 0, held: amount })

/** Releases a reservation and adds the charge, on the day the work began, so that nothing is lost at midnight. */
export const settleSpend = (tx: Tx, subject: string, at: number, charged: number, freed: number) =>
  moveOneSpend(tx, { subject, day: utcDay(at), spent: charged, held: -freed })

type NewRow = Omit<UsageRow, 'id'>

const insertStatement = (tx: Tx, p: { [K in keyof NewRow]: Placeholder }) =>
  tx.insert(tx.of(usageRecords)).values(allOf(tx.of(usageRecords), p))

const insertOne = command<NewRow>()(insertStatement)

const insertListedRecords = command<{ list: string }>()((tx, p) => {
  const id = sql`nextval(pg_get_serial_sequence('usage_records', 'id'))`
  return insertListed(tx, tx.of(usageRecords), p.list, { id })
})

const insertRecords = async (tx: Tx, rows: readonly NewRow[]): Promise<unknown> =>
  tx.dialect === 'sqlite' || rows.length < 2
    ? insertOne.each(tx, rows)
    : insertListedRecords(tx, { list: JSON.stringify(rows) })

/** Like `insertOne`, but returns the id, which is needed only if rows about the call follow. */
const insertRecordReturningId = command<NewRow>()((tx, p) =>
  insertStatement(tx, p).returning({ id: tx.of(usageRecords).id }),
)

const insertSkill = command<{ record_id: number; skill: string }>()((tx, p) =>
  tx.insert(tx.of(usageSkills)).values({ record_id: p.record_id, skill: p.skill }),
)

/** Adds to a subject's spent and held amounts of a day. Creates the row on first use. */
const moveOneSpend = command<{ subject: string; day: string; spent: number; held: number }>()((tx, p) => {
  const t = tx.of(spendDays)
  return tx
    .insert(t)
    .values({ subject: p.subject, day: p.day, spent: p.spent, held: p.held })
    .onConflictDoUpdate({
      target: [t.subject, t.day],
      set: addedOf(t, ['spent', 'held']),
    })
})

const moveListedSpend = command<{ list: string }>()((tx, p) => {
  const t = tx.of(spendDays)
  return insertListed(tx, t, p.list).onConflictDoUpdate({
    target: [t.subject, t.day],
    set: addedOf(t, ['spent', 'held']),
  })
})

type Move = Parameters<typeof moveOneSpend>[1]

/** Adds several amounts at once. */
export async function moveSpends(tx: Tx, moves: readonly Move[]): Promise<void> {
  const sums = new Map<string, Move>()
  for (const move of moves) {
    const place = `${move.subject} ${move.day}`
    const sum = sums.get(place)
    if (sum) {
      sum.spent += move.spent
      sum.held += move.held
    } else sums.set(place, { ...move })
  }
  // Sorted, so that two transactions do not deadlock.
  const list = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
  if (tx.dialect === 'sqlite' || list.length < 2) await moveOneSpend.each(tx, list)
  else await moveListedSpend(tx, { list: JSON.stringify(list) })
}

const daysBetween = query<{ subject: string; from: string; to: string }>()((db, p) => {
  const t = db.of(spendDays)
  return db
    .select({ day: t.day, spent: t.spent, held: t.held })
    .from(t)
    .where(and(eq(t.subject, p.subject), gte(t.day, p.from), lte(t.day, p.to)))
})

const IDLE_MS = 10_000

type Options = { refusals: Refusals; store: Store; clock: Clock; onError(name: string, error: unknown): void }

/** Rejected calls of one key, or of one owner's sessions, within one slot. */
type Count = { owner: OwnerScope; keyId: KeyId | null; at: number; calls: number }

/** Number of counts written per transaction. Each count is five rows. */
const BATCH = 40

/** Maximum counts in memory. Further keys are not counted. Real traffic does not reach this within seconds. */
const MAX = 50_000

export type Refusals = ReturnType<typeof createRefusals>

export type UsageLog = ReturnType<typeof createUsageLog>

/** The consumption of one call. Cost in micro-cents, durations in milliseconds. */
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
  /** HTTP status of the response. */
  status: number
  promptTokens: number
  completionTokens: number
  costMicro: number
  /** The hold that paid, if this row is the ledger's record of the charge. */
  paidBy?: string | undefined
  cached: boolean
  latencyMs: number
  /** Time to the first token of a stream. Null without a stream. */
  ttftMs: number | null
  /** Time to choose the mode. Absent when the caller chose it. */
  classifiedMs?: number | null
  fallbackUsed: boolean
  /** Ids of the skills that were used. */
  skills?: readonly string[]
  /** The error that ended the call early. It is marked, so that the call is not also counted as rejected. */
  broken?: unknown
}

type Deps = {
  clock: Clock
  /** Called for each call after its row is committed. */
  witness?(entry: UsageEntry): void
}

export function createUsageLog({ clock, witness }: Deps) {
  const refusals = createRefusals({ clock })
  return {
    refusals,

    /** Like `recordAll`, for a call without an audit event. */
    record: (tx: Tx, entry: UsageEntry): Promise<unknown> => recordAll(tx, [entry], null),
    recordAll,

    /** The spending of a key today and this month, for its caps and its `spent_*_cents`. */
    spent: (reader: Reader, subject: string) => spendOf(reader, subject, clock.now()),
  }

  /**
   * Writes the usage rows of calls in the transaction that settles their charges, together with their audit events if
   * there are some. `AuditLog.recordCalls` supplies the events, and the rows then have their times. One statement for
   * all calls without skills; on SQLite one for each.
   */
  async function recordAll(
    tx: Tx,
    entries: readonly UsageEntry[],
    events: readonly AuditEventRow[] | null,
  ): Promise<void> {
    const rows: NewRow[] = []
    const withSkills: Promise<void>[] = []
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at]!
      const row = rowOf(entry, events ? events[at]! : null)
      refusals.markRecorded(entry.broken)
      if (entry.skills?.length) withSkills.push(insertWithSkills(tx, row, entry.skills))
      else rows.push(row)
    }
    if (witness)
      tx.afterCommit(() => {
        for (const entry of entries) witness(entry)
      })
    if (withSkills.length) await Promise.all([...withSkills, insertRecords(tx, rows)])
    else await insertRecords(tx, rows)
  }

  function rowOf(entry: UsageEntry, event: AuditEventRow | null): NewRow {
    return {
      owner: entry.owner,
      at: event?.at ?? clock.now(),
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
      seq: event?.seq ?? null,
      event_id: event?.id ?? null,
      action: event?.action ?? null,
      entity_type: event?.entity_type ?? null,
      entity_id: event?.entity_id ?? null,
      input: event?.input ?? null,
      output: event?.output ?? null,
      prev_hash: event?.prev_hash ?? null,
      hash: event?.hash ?? null,
      ledger_ref: entry.costMicro > 0 ? (entry.paidBy ?? null) : null,
    }
  }
}

async function insertWithSkills(tx: Tx, row: NewRow, skills: readonly string[]): Promise<void> {
  const [inserted] = await insertRecordReturningId(tx, row)
  for (const skill of new Set(skills)) await insertSkill(tx, { record_id: inserted!.id, skill })
}

/**
 * Counts calls that got a 4xx before they began. They get no usage row, so that a flood of rejections does not become a
 * flood of writes. The counts are added to the rollups in batches. A crash loses the last seconds.
 */
export function createRefusals({ clock }: { clock: Clock }) {
  const recorded = new WeakSet<object>()
  const waiting = new Map<string, Count>()

  function add({ owner, keyId, at, calls }: Count): void {
    const name = `${owner} ${keyId} ${at}`
    const existing = waiting.get(name)
    if (existing) existing.calls += calls
    else if (waiting.size < MAX) waiting.set(name, { owner, keyId, at, calls })
  }

  return {
    /** Marks an error whose call already has a usage row, so that `note` does not count it again. */
    markRecorded(error: unknown): void {
      if (error instanceof Error) recorded.add(error)
    },

    /** Counts one rejected call, unless its error was marked by `markRecorded`. */
    note(owner: OwnerScope, keyId: KeyId | null, error: Error | null): void {
      if (error && recorded.has(error)) return
      add({ owner, keyId, at: startOf('slot', clock.now()), calls: 1 })
    },

    /** Rejected calls not yet in any bucket. They have neither mode nor skill. */
    waiting({ owner, keyId, mode, skill }: Choice, { from, to }: Span): number {
      if (mode !== undefined || skill !== undefined) return 0
      const counts = [...waiting.values()].filter(
        (count) => count.owner === owner && (keyId === undefined || count.keyId === keyId),
      )
      return counts.reduce((sum, { at, calls }) => (at >= from && at < to ? sum + calls : sum), 0)
    },

    /** Writes one batch and returns its number of counts. Puts a failed batch back. */
    async flush(store: Store): Promise<number> {
      const taken = [...waiting].slice(0, BATCH)
      for (const [name] of taken) waiting.delete(name)
      const counts = taken.map(([, count]) => count)
      if (!counts.length) return 0
      try {
        await store.write((tx) => addAll(tx, counts))
      } catch (error) {
        counts.forEach(add)
        throw error
      }
      return counts.length
    },
  }
}

/** Sums first, because all counts of an owner share the all-keys rows. */
async function addAll(tx: Tx, counts: readonly Count[]): Promise<void> {
  const sums = new Map<string, RollupKey & { refused: number }>()
  const words = { mode: null, resolved_mode: null, model: null }
  for (const { calls, owner, keyId, at } of counts)
    for (const key of rollupKeysOf({ owner, api_key_id: keyId, at, ...words })) {
      const name = Object.values(key).join('\n')
      const existing = sums.get(name)
      if (existing) existing.refused += calls
      else sums.set(name, { ...key, refused: calls })
    }
  // Reports read the buckets joined with the cursor, so the cursor row must exist.
  await placeCursor(tx, {})
  for (const sum of sums.values()) await addRefused(tx, sum)
}

/** Adds rejected calls to the rollups every ten seconds, and the rest when the server stops. */
export function startRefusalLoop({ refusals, store, clock, onError }: Options): Loop {
  const name = 'usage-refusals'
  const loop = startLoop({ name, idleMs: IDLE_MS, clock, onError, tick: () => refusals.flush(store) })
  return {
    wake: loop.wake,
    stop: async () => {
      await loop.stop()
      try {
        while ((await refusals.flush(store)) > 0);
      } catch (error) {
        onError(name, error)
      }
    },
  }
}

/** The amounts a subject (an API key) has spent and held, in the UTC day and month of `at`. */
export async function spendOf(reader: Reader, subject: string, at: number): Promise<Spend> {
  const day = utcDay(at)
  const days = await daysBetween(reader, { subject, from: `${day.slice(0, 7)}-01`, to: day })
  const today = days.find((row) => row.day === day)
  return {
    today: { spent: today?.spent ?? 0, held: today?.held ?? 0 },
    month: {
      spent: days.reduce((sum, row) => sum + row.spent, 0),
      held: days.reduce((sum, row) => sum + row.held, 0),
    },
  }
}
