import { and, asc, eq, lte, sql } from 'drizzle-orm'
import { type ArchiveDeps, archiveEvents, baseOf, lastBefore, pageOfHeads } from '../audit'
import { type JobKind, recurring } from '../jobs'
import type { OwnerScope } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { csvFile } from '../kernel/csv'
import { inBatches, nextTurn } from '../kernel/loop'
import { command, counted, query, type Reader, rowsIn, type Store } from '../kernel/store'
import { rolledUpTo, usageRecords, usageSkills } from '../usage'
import { insertEntry } from './repository'
import { REVENUE, SHARED, SHARED_LENGTH } from './schema'
import { holds } from './table'

const EVERY_MS = 3_600_000
const DAY_MS = 86_400_000
const PAGE = 200
const HEADS = 500

/** Columns of a call that its event does not have. */
const COLUMNS = [
  ...['id', 'at', 'request_id', 'user_id', 'api_key_id', 'endpoint', 'mode', 'resolved_mode', 'model', 'status'],
  ...['prompt_tokens', 'completion_tokens', 'cost_micro', 'cached', 'latency_ms', 'ttft_ms', 'classified_us'],
  ...['fallback_used', 'seq', 'event_id', 'ledger_ref'],
] as const

type Wanted = { owner: OwnerScope; at: number; seq: number; after: number; limit: number }

/**
 * Calls of an owner from a time on and up to a position in the chain, oldest first. Calls without an event go by time.
 */
const oldCalls = query<Wanted>()((db, p) => {
  const t = db.of(usageRecords)
  return db
    .select()
    .from(t)
    .where(
      and(
        eq(t.owner, p.owner),
        sql`${t.at} >= ${p.after}`,
        lte(t.at, sql`${p.at}`),
        // With an OR, SQLite would read all rows of the owner by another index.
        sql`coalesce(${t.seq}, 0) <= ${p.seq}`,
      ),
    )
    .orderBy(asc(t.at), asc(t.id))
    .limit(p.limit)
})

type OldCall = Awaited<ReturnType<typeof oldCalls>>[number]

const oldestCall = query()((db) => {
  const t = db.of(usageRecords)
  return db.select({ at: t.at }).from(t).orderBy(asc(t.id)).limit(1)
})

const removeCalls = command<{ list: string }>()((tx, p) => {
  const t = tx.of(usageRecords)
  return tx
    .delete(t)
    .where(sql`${t.id} in (select number from ${rowsIn(tx, p.list, { number: 'bigint' })})`)
    .returning({ id: t.id, at: t.at, cost: t.cost_micro, ref: t.ledger_ref })
})

const removeSkills = command<{ list: string }>()((tx, p) => {
  const t = tx.of(usageSkills)
  return tx.delete(t).where(sql`${t.record_id} in (select number from ${rowsIn(tx, p.list, { number: 'bigint' })})`)
})

const removeHolds = command<{ list: string }>()((tx, p) => {
  const t = tx.of(holds)
  return tx.delete(t).where(sql`${t.ref} in (select word from ${rowsIn(tx, p.list, { word: 'text' })})`)
})

/** Subtracts the cost of archived calls from the hold that they shared. */
const shrinkHold = counted<{ ref: string; charged: number }>()((tx, p) => {
  const t = tx.of(holds)
  return tx
    .update(t)
    .set({ amount: sql`${t.amount} - ${p.charged}`, settled_amount: sql`${t.settled_amount} - ${p.charged}` })
    .where(and(eq(t.ref, p.ref), sql`${t.amount} > ${p.charged}`))
})

/** Deletes a shared hold that is used up, or that has ended with all of its calls archived. */
const removeSpent = counted<{ ref: string; charged: number }>()((tx, p) => {
  const t = tx.of(holds)
  const isSpent = sql`${t.settled_amount} = ${p.charged} and (${t.amount} = ${p.charged} or ${t.state} <> 'open')`
  return tx.delete(t).where(and(eq(t.ref, p.ref), isSpent))
})

type Deps = ArchiveDeps & { keepDays: number }

/** Job that archives and deletes calls older than the retention period, month by month. */
export const oldCallsTrimmed = (deps: Deps): JobKind<null> =>
  recurring('calls.trim', EVERY_MS, (signal) => trimCalls(deps, signal))

/**
 * Archives the calls of whole months that ended `keepDays` ago, and deletes their rows in small batches. Their cost
 * stays in the ledger as `carried`, and the sums of reports stay. If interrupted, the next run continues from there.
 * Returns how many rows were deleted.
 */
export async function trimCalls(deps: Deps, signal: AbortSignal): Promise<number> {
  const { store, clock, keepDays } = deps
  if (keepDays === 0) return 0
  const kept = new Date(clock.now() - keepDays * DAY_MS)
  const until = Date.UTC(kept.getUTCFullYear(), kept.getUTCMonth(), 1)
  const [oldest] = await oldestCall(store.read, {})
  if (!oldest || oldest.at >= until) return 0
  let deleted = 0
  for (let after = ''; ; ) {
    const heads = await pageOfHeads(store.read, { scope: after, limit: HEADS })
    for (const { scope, seq } of heads) {
      if (scope !== 'server') deleted += await trimOwner(deps, scope, { until, end: seq, signal })
      if (signal.aborted) return deleted
    }
    if (heads.length < HEADS) return deleted
    after = heads.at(-1)!.scope
  }
}

async function trimOwner(
  deps: Deps,
  owner: OwnerScope,
  { until, end, signal }: { until: number; end: number; signal: AbortSignal },
): Promise<number> {
  const { read } = deps.store
  let deleted = await deleteCalls(deps.store, owner, signal)
  const [old] = await oldCalls(read, { owner, after: 0, at: until - 1, seq: end, limit: 1 })
  if (!old || signal.aborted) return deleted
  const base = await baseOf(read, owner)
  const seq = await lastBefore(read, owner, { end, moment: until, base })
  if (seq <= base.seq) return deleted
  await archiveEvents(deps, owner, seq, (last) => callsText(read, owner, { seq, at: last.at }))
  deleted += await deleteCalls(deps.store, owner, signal)
  return deleted
}

/** The calls that are about to be deleted, as CSV. */
function callsText(read: Reader, owner: OwnerScope, { seq, at }: { seq: number; at: number }): AsyncGenerator<string> {
  return csvFile(COLUMNS, pages())

  async function* pages() {
    let [after, seen] = [0, new Set<number>()]
    for (;;) {
      // Calls of the same millisecond may span two pages.
      const rows = await oldCalls(read, { owner, after, at, seq, limit: PAGE + seen.size })
      const fresh = rows.filter(({ id }) => !seen.has(id))
      yield fresh.map((row) => COLUMNS.map((name) => (name === 'at' ? iso(row.at) : row[name])))
      if (rows.length < PAGE + seen.size) return
      after = rows.at(-1)!.at
      seen = new Set(rows.filter((row) => row.at === after).map(({ id }) => id))
      await nextTurn()
    }
  }
}

/** Deletes the calls up to the base of their chain. */
async function deleteCalls(store: Store, owner: OwnerScope, signal: AbortSignal): Promise<number> {
  const base = await baseOf(store.read, owner)
  if (base.seq === 0) return 0
  const rolled = await rolledUpTo(store.read)
  const deleteSome = async (limit: number, after: number) => {
    const rows = await oldCalls(store.read, { owner, after, at: base.at, seq: base.seq, limit })
    // One month at a time, because statements sum by month.
    const batch = rows.filter((row) => row.id <= rolled && monthOf(row) === monthOf(rows[0]!))
    if (batch.length) await deleteBatch(store, owner, batch)
    return batch.map(({ at }) => at)
  }
  return inBatches(deleteSome, signal)
}

const monthOf = ({ at }: Pick<OldCall, 'at'>): string => iso(at).slice(0, 7)

/** Deletes calls and the holds that paid for them, and carries their cost forward, in one transaction. */
function deleteBatch(store: Store, owner: OwnerScope, batch: readonly OldCall[]): Promise<void> {
  const ids = JSON.stringify(batch.map(({ id }) => ({ number: id })))
  const refs = JSON.stringify(batch.flatMap(({ ledger_ref }) => (ledger_ref === null ? [] : [{ word: ledger_ref }])))
  return store.write(async (tx) => {
    const gone = await removeCalls(tx, { list: ids })
    await removeSkills(tx, { list: ids })
    await removeHolds(tx, { list: refs })
    const paid = gone.filter(({ ref }) => ref !== null)
    const shared = paid.filter(({ ref }) => ref!.startsWith(SHARED))
    for (const [ref, calls] of Map.groupBy(shared, ({ ref }) => ref!.slice(0, SHARED_LENGTH))) {
      const of = { ref, charged: calls.reduce((total, { cost }) => total + cost, 0) }
      if (!(await removeSpent(tx, of))) await shrinkHold(tx, of)
    }
    const sum = paid.reduce((total, { cost }) => total + cost, 0)
    if (sum === 0) return
    const [id, at] = [Math.max(...paid.map((row) => row.id)), Math.max(...paid.map((row) => row.at))]
    const entry = { ref: `carried:${owner}:${id}`, kind: 'carried', at, note: `${paid.length} calls, archived` }
    await insertEntry(tx, { ...entry, account: owner, amount: -sum })
    await insertEntry(tx, { ...entry, account: REVENUE, amount: sum })
  })
}
