import { and, asc, desc, eq, gt, gte, isNotNull, lt, lte, or, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { nextTurn } from '../kernel/loop'
import { decodeCursor, encodeCursor, invalidCursor } from '../kernel/page'
import { command, query, type Reader } from '../kernel/store'
import { usageRecords } from '../usage'
import { walletOf } from './repository'
import { holds, ledger, ledgerEntries, wallets } from './table'

/** One row of an owner's ledger and the balance after it. Micro-cents. */
type LedgerEntry = {
  id: number
  ref: string
  kind: string
  amount: number
  balance: number
  at: number
  note: string | null
}

/** Rows read per statement, and statements per page, when a filter selects few of them. */
const ROWS_PER_FILTERED_READ = 1_000
const MAX_READS = 1_000
/** The name of the list in its cursors. */
const LEDGER = 'ledger'

/** Added to the id of a call's row, so that its entry has an id of its own. */
const CALL_IDS = 2 ** 40

const balanceIn = (db: Reader, owner: Placeholder | OwnerScope) => {
  const w = db.of(wallets)
  return sql<number>`(SELECT ${w.balance} FROM ${w} WHERE ${w.id} = ${owner})`.mapWith(Number)
}

/**
 * Entries before a mark, with the balance of the same instant. The limit applies to each half of the union, because
 * the database would read and sort a whole view.
 */
const entriesBefore = query<{ account: OwnerScope; at: number; id: number; limit: number }>()((db, p) => {
  const [e, u] = [db.of(ledgerEntries), db.of(usageRecords)]
  const before = (t: typeof e | typeof u, id: SQL) => and(lte(t.at, p.at), or(lt(t.at, p.at), sql`${id} < ${p.id}`))
  const callId = sql<number>`${u.id} + ${CALL_IDS}`
  const entries = db
    .select({ id: e.id, ref: e.ref, kind: e.kind, amount: e.amount, at: e.at, note: e.note })
    .from(e)
    .where(and(eq(e.account, sql`${p.account}`), before(e, sql`${e.id}`)))
    .orderBy(desc(e.at), desc(e.id))
    .limit(p.limit)
    .as('entries')
  const calls = db
    .select({
      id: callId.as('id'),
      ref: sql<string>`${u.ledger_ref}`.as('ref'),
      kind: sql<string>`CAST('settle' AS text)`.as('kind'),
      amount: sql<number>`-${u.cost_micro}`.as('amount'),
      at: u.at,
      note: sql<string | null>`CAST(NULL AS text)`.as('note'),
    })
    .from(u)
    .where(and(eq(u.owner, p.account), isNotNull(u.ledger_ref), before(u, callId)))
    .orderBy(desc(u.at), desc(u.id))
    .limit(p.limit)
    .as('calls')
  return db
    .select({
      ...{ id: entries.id, ref: entries.ref, kind: entries.kind, amount: entries.amount, at: entries.at },
      ...{ note: entries.note, now: balanceIn(db, p.account) },
    })
    .from(entries)
    .unionAll(
      db
        .select({
          ...{ id: calls.id, ref: calls.ref, kind: calls.kind, amount: calls.amount, at: calls.at },
          ...{ note: calls.note, now: balanceIn(db, p.account) },
        })
        .from(calls),
    )
    .orderBy(sql`at DESC, id DESC`)
    .limit(p.limit)
})

const PAGE = 1_000

/** The hold of a charge. References of calls that share one begin with its reference of `SHARED_LENGTH` characters. */
const holdOf = (ref: typeof usageRecords.sqlite.ledger_ref) =>
  sql`CASE WHEN ${ref} LIKE 'escrow.%' THEN substr(${ref}, 1, 35) ELSE ${ref} END`

/** Charged calls in the order they were written, each with its event and the hold that paid for it. */
export const postingsFrom = query<{ after: number; limit: number }>()((db, p) => {
  const [u, h] = [db.of(usageRecords), db.of(holds)]
  return db
    .select({
      ...{ id: u.id, ref: u.ledger_ref, account: u.owner, amount: u.cost_micro, output: u.output },
      ...{ hold: h.ref, payer: h.wallet_id, state: h.state, settled: h.settled_amount },
    })
    .from(u)
    .leftJoin(h, eq(h.ref, holdOf(u.ledger_ref)))
    .where(and(gt(u.id, p.after), isNotNull(u.ledger_ref)))
    .orderBy(asc(u.id))
    .limit(p.limit)
})

/** What a shared hold was charged and what its calls cost, at one instant. */
export const sharedCharges = query<{ ref: string }>()((db, p) => {
  const [h, u] = [db.of(holds), db.of(usageRecords)]
  const cost = sql<number | string>`(SELECT coalesce(sum(${u.cost_micro}), 0) FROM ${u}
    WHERE ${u.owner} = ${h.wallet_id} AND ${u.ledger_ref} IS NOT NULL AND ${holdOf(u.ledger_ref)} = ${p.ref})`
  return db
    .select({ settled: h.settled_amount, cost: cost.mapWith(Number) })
    .from(h)
    .where(eq(h.ref, sql`${p.ref}`))
})

/** Count and sum of a wallet's settled holds with a charge, and of its charges in the ledger, at one instant. */
export const chargesOf = query<{ id: string }>()((db, p) => {
  const [h, e] = [db.of(holds), db.of(ledger)]
  const charges = sql`FROM ${e} WHERE ${e.account} = ${p.id} AND ${e.kind} = 'settle' AND ${e.ref} NOT LIKE 'escrow.%'`
  return db
    .select({
      holds: sql<number>`count(*)`.mapWith(Number),
      settled: sql<number>`coalesce(sum(${h.settled_amount}), 0)`.mapWith(Number),
      charges: sql<number>`(SELECT count(*) ${charges})`.mapWith(Number),
      charged: sql<number>`(SELECT -coalesce(sum(${e.amount}), 0) ${charges})`.mapWith(Number),
    })
    .from(h)
    .where(
      and(
        ...[eq(h.wallet_id, sql`${p.id}`), sql`${h.state} = 'settled'`, gt(h.settled_amount, 0)],
        sql`${h.ref} NOT LIKE 'escrow.%'`,
      ),
    )
})

/** Ledger entries in the order they were written, each with the hold its charge belongs to. */
export const entriesFrom = query<{ after: number; limit: number }>()((db, p) => {
  const [e, h] = [db.of(ledgerEntries), db.of(holds)]
  return db
    .select({ id: e.id, ref: e.ref, kind: e.kind, account: e.account, amount: e.amount, hold: h.ref })
    .from(e)
    .leftJoin(h, eq(h.ref, e.ref))
    .where(gt(e.id, p.after))
    .orderBy(asc(e.id))
    .limit(p.limit)
})

export const movementSum = query<{ ref: string; kind: string }>()((db, p) => {
  const e = db.of(ledgerEntries)
  return db
    .select({ sum: sql<number | string>`coalesce(sum(${e.amount}), 0)` })
    .from(e)
    .where(and(eq(e.ref, p.ref), eq(e.kind, p.kind)))
})

export const walletsFrom = query<{ after: string; limit: number }>()((db, p) => {
  const w = db.of(wallets)
  return db
    .select({ id: w.id, balance: w.balance })
    .from(w)
    .where(gt(w.id, sql`${p.after}`))
    .orderBy(asc(w.id))
    .limit(p.limit)
})

/** Wallets whose `held` differs from the sum of their open holds, at one instant. */
export const heldMismatches = query()((db) => {
  const [w, h] = [db.of(wallets), db.of(holds)]
  const sum = sql<number | string>`coalesce(sum(${h.amount} - ${h.settled_amount}), 0)`
  return db
    .select({ id: w.id, held: w.held, sum })
    .from(w)
    .leftJoin(h, and(eq(h.wallet_id, w.id), sql`${h.state} = 'open'`))
    .groupBy(w.id, w.held)
    .having(sql`${w.held} <> ${sum}`)
})

/** Holds in order of their ref, each with the ledger's charge to its wallet. */
export const holdsFrom = query<{ after: string; limit: number }>()((db, p) => {
  const [h, e] = [db.of(holds), db.of(ledgerEntries)]
  return db
    .select({ ref: h.ref, state: h.state, wallet: h.wallet_id, settled_amount: h.settled_amount, charge: e.amount })
    .from(h)
    .leftJoin(e, and(eq(e.ref, h.ref), sql`${e.kind} = 'settle'`, eq(e.account, h.wallet_id)))
    .where(gt(h.ref, p.after))
    .orderBy(asc(h.ref))
    .limit(p.limit)
})

/** A wallet with the sums of its entries and its open holds, at one instant. No row without a wallet. */
export const booksOf = query<{ id: string }>()((db, p) => {
  const [w, e, h] = [db.of(wallets), db.of(ledger), db.of(holds)]
  type Sum = number | string
  // Subqueries print columns without their table, and both tables have an `id`, so this compares with the parameter.
  return db
    .select({
      balance: w.balance,
      held: w.held,
      entries: sql<Sum>`(SELECT coalesce(sum(${e.amount}), 0) FROM ${e} WHERE ${e.account} = ${p.id})`,
      open: sql<Sum>`(SELECT coalesce(sum(${h.amount} - ${h.settled_amount}), 0) FROM ${h} WHERE ${h.wallet_id} = ${p.id} AND ${h.state} = 'open')`,
    })
    .from(w)
    .where(eq(w.id, sql`${p.id}`))
})

export const entriesSum = query<{ id: string }>()((db, p) => {
  const e = db.of(ledger)
  return db
    .select({ sum: sql<number | string>`coalesce(sum(${e.amount}), 0)` })
    .from(e)
    .where(eq(e.account, sql`${p.id}`))
})

/** Sets a wallet to what the ledger and the open holds add up to. */
export const setWallet = command<{ id: OwnerScope; balance: number; held: number }>()((tx, p) => {
  const t = tx.of(wallets)
  return tx
    .insert(t)
    .values({ id: p.id, balance: p.balance, held: p.held, capped: false })
    .onConflictDoUpdate({ target: t.id, set: { balance: sql`excluded.balance`, held: sql`excluded.held` } })
})

/** Reads the rows of a table in key order, a page at a time, and lets requests run in between. */
export async function* pages<Row, Key>(
  read: (after: Key, limit: number) => Promise<Row[]>,
  start: Key,
  keyOf: (row: Row) => Key,
): AsyncGenerator<Row> {
  for (let after = start; ; ) {
    const rows = await read(after, PAGE)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = keyOf(last)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

type LedgerFilter = {
  cursor?: string | undefined
  ref?: string | undefined
  kind?: string | undefined
  /** Epoch ms; `to` is exclusive. */
  from?: number | null
  to?: number | null
}

/**
 * An owner's ledger, newest first, each row with the balance after it. With a filter a page can have fewer rows than
 * asked for. With a `ref`, only rows with that reference, or whose reference ends in that request id.
 * Throws 400 `validation_error` for a cursor of another list.
 */
export async function listLedger(
  reader: Reader,
  owner: OwnerScope,
  limit: number,
  { cursor, ref, kind, from = null, to = null }: LedgerFilter = {},
): Promise<{ items: LedgerEntry[]; next: string | null }> {
  const mark = decodeCursor(LEDGER, cursor)
  const items: LedgerEntry[] = []
  let [at, id] = [mark?.at ?? Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
  let balance: number | null = null
  if (mark) {
    const [before, left] = mark.id.split(' ').map(Number)
    if (!Number.isSafeInteger(before) || !Number.isSafeInteger(left)) throw invalidCursor()
    ;[id, balance] = [before!, left!]
  }
  // Rows that do not match must be read too, because the balance is computed from all of them.
  const isFiltered = [ref, kind].some((value) => value !== undefined) || to !== null
  for (let reads = 0; reads < MAX_READS; reads++) {
    const rowLimit = isFiltered ? ROWS_PER_FILTERED_READ : limit + 1
    const rows = await entriesBefore(reader, { account: owner, at, id, limit: rowLimit })
    for (const { now, ...row } of rows) {
      if (items.length === limit) return { items, next: encodeCursor(LEDGER, { at, id: `${id} ${balance}` }) }
      balance ??= now
      if (from !== null && row.at < from) return { items, next: null }
      // The reference of a charge is a time and the id of the request.
      const isWanted =
        (ref === undefined || row.ref === ref || row.ref.endsWith(`.${ref}`)) &&
        (kind === undefined || row.kind === kind) &&
        (to === null || row.at < to)
      if (isWanted) items.push({ ...row, balance })
      balance -= row.amount
      at = row.at
      id = row.id
    }
    if (rows.length < rowLimit) return { items, next: null }
    await nextTurn()
  }
  return { items, next: encodeCursor(LEDGER, { at, id: `${id} ${balance}` }) }
}

const DAY_MS = 86_400_000

/** What was booked at or after `from`, before `until`, by kind, each with the balance of that instant. */
const bookedBetween = query<{ owner: OwnerScope; from: number; until: number; to: number }>()((db, p) => {
  const e = db.of(ledger)
  return db
    .select({
      kind: e.kind,
      isLater: sql<number>`CASE WHEN ${e.at} >= ${p.to} THEN 1 ELSE 0 END`.mapWith(Number),
      entries: sql<number>`count(*)`.mapWith(Number),
      amount: sql<number>`sum(${e.amount})`.mapWith(Number),
      now: balanceIn(db, p.owner),
    })
    .from(e)
    .where(and(eq(e.account, sql`${p.owner}`), gte(e.at, p.from), lt(e.at, p.until)))
    .groupBy(e.kind, sql`2`)
})

/**
 * The balance at the end of a span and what was booked in it, by kind; null when that is not found before `isOver`.
 * Micro-cents. Sums all entries since the span began, a day at a time.
 */
export async function bookedIn(
  reader: Reader,
  owner: OwnerScope,
  span: { from: number; to: number; now: number },
  isOver: () => boolean,
) {
  let closing = (await walletOf(reader, { id: owner }))[0]?.balance ?? 0
  let later = 0
  const kinds = new Map<string, { entries: number; amount: number }>()
  for (let from = span.from; from <= span.now; from += DAY_MS) {
    // What is booked meanwhile is in the last statement, and so is the balance that it left.
    const isLast = from + DAY_MS > span.now
    const until = isLast ? Number.MAX_SAFE_INTEGER : from + DAY_MS
    for (const { kind, isLater, entries, amount, now } of await bookedBetween(reader, {
      owner,
      from,
      until,
      to: span.to,
    })) {
      if (isLast) closing = now
      if (isLater) later += amount
      else {
        const sum = kinds.get(kind) ?? { entries: 0, amount: 0 }
        kinds.set(kind, { entries: sum.entries + entries, amount: sum.amount + amount })
      }
    }
    if (isOver()) return null
    await nextTurn()
  }
  return { closing: closing - later, kinds }
}
