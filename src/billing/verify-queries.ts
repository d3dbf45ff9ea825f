import { and, asc, desc, eq, gt, gte, lt, max, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { nextTurn } from '../kernel/loop'
import { decodeCursor, encodeCursor } from '../kernel/page'
import { command, query, type Reader } from '../kernel/store'
import { holds, ledgerEntries, wallets } from './table'

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

type LedgerPage = { items: LedgerEntry[]; next: string | null }

/** Rows scanned per statement, and statements per page: an owner with few rows is found step by step. */
const STEP = 50_000

const MAX_STEPS = 20

/** Rows of an owner read per statement when a `ref` selects few of them. */
const ROWS_PER_FILTERED_READ = 1_000

const newest = query()((db) => {
  const e = db.of(ledgerEntries)
  return db.select({ id: max(e.id) }).from(e)
})

/** Joined with the wallet, so that rows and balance are of the same instant. */
const entriesBelow = query<{ account: OwnerScope; below: number; above: number; limit: number }>()((db, p) => {
  const [e, w] = [db.of(ledgerEntries), db.of(wallets)]
  return db
    .select({ id: e.id, ref: e.ref, kind: e.kind, amount: e.amount, at: e.at, note: e.note, now: w.balance })
    .from(e)
    .innerJoin(w, eq(w.id, e.account))
    .where(and(eq(e.account, sql`${p.account}`), lt(e.id, p.below), gt(e.id, p.above)))
    .orderBy(desc(e.id))
    .limit(p.limit)
})

const PAGE = 1_000

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

/** A wallet's balance and the sum of its ledger entries, in one statement and so of the same instant. */
export const walletAndSum = query<{ id: string }>()((db, p) => {
  const [w, e] = [db.of(wallets), db.of(ledgerEntries)]
  return db
    .select({ balance: w.balance, sum: sql<number | string>`coalesce(sum(${e.amount}), 0)` })
    .from(w)
    .leftJoin(e, eq(e.account, w.id))
    .where(eq(w.id, sql`${p.id}`))
    .groupBy(w.id, w.balance)
})

/** Wallets whose `held` is not the sum of their open holds, of the same instant. */
export const heldMismatches = query()((db) => {
  const [w, h] = [db.of(wallets), db.of(holds)]
  const sum = sql<number | string>`coalesce(sum(${h.amount}), 0)`
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
    .select({ ref: h.ref, state: h.state, settled_amount: h.settled_amount, charge: e.amount })
    .from(h)
    .leftJoin(e, and(eq(e.ref, h.ref), sql`${e.kind} = 'settle'`, eq(e.account, h.wallet_id)))
    .where(gt(h.ref, p.after))
    .orderBy(asc(h.ref))
    .limit(p.limit)
})

/** A wallet's amounts beside the sums of its entries and of its open holds, of one instant; no row without a wallet. */
export const booksOf = query<{ id: string }>()((db, p) => {
  const [w, e, h] = [db.of(wallets), db.of(ledgerEntries), db.of(holds)]
  type Sum = number | string
  // In a subquery columns are written without their table, and both tables have an `id`; hence the parameter.
  return db
    .select({
      balance: w.balance,
      held: w.held,
      entries: sql<Sum>`(SELECT coalesce(sum(${e.amount}), 0) FROM ${e} WHERE ${e.account} = ${p.id})`,
      open: sql<Sum>`(SELECT coalesce(sum(${h.amount}), 0) FROM ${h} WHERE ${h.wallet_id} = ${p.id} AND ${h.state} = 'open')`,
    })
    .from(w)
    .where(eq(w.id, sql`${p.id}`))
})

export const entriesSum = query<{ id: string }>()((db, p) => {
  const e = db.of(ledgerEntries)
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
 * An owner's ledger, newest first, each row with the balance after it. The ledger has no index by owner, because it
 * would slow down every paid call; so a page is read in steps and may have fewer rows than asked for. With a `ref`,
 * only rows with that reference, or whose reference ends in that request id.
 * Throws 400 `validation_error` for a cursor of another list.
 */
export async function listLedger(
  reader: Reader,
  owner: OwnerScope,
  limit: number,
  { cursor, ref, kind, from = null, to = null }: LedgerFilter = {},
): Promise<LedgerPage> {
  const mark = decodeCursor(cursor)
  const items: LedgerEntry[] = []
  const isFiltered = [ref, kind].some((value) => value !== undefined) || to !== null
  let below = mark?.at ?? Number((await newest(reader, {}))[0]?.id ?? 0) + 1
  let balance = mark?.id ? Number(mark.id) : null
  for (let step = 0; step < MAX_STEPS && below > 1 && items.length < limit; step++) {
    const above = Math.max(below - STEP - 1, 0)
    // Rows that do not match must be read too, because the balance is computed from all of them.
    const rowLimit = isFiltered ? ROWS_PER_FILTERED_READ : limit - items.length
    const rows = await entriesBelow(reader, { account: owner, below, above, limit: rowLimit })
    below = rows.length < rowLimit ? above + 1 : rows.at(-1)!.id
    for (const { now, ...row } of rows) {
      balance ??= now
      if (from !== null && row.at < from) return { items, next: null }
      // The reference of a charge is a time and the id of the request.
      const isWanted =
        (ref === undefined || row.ref === ref || row.ref.endsWith(`.${ref}`)) &&
        (kind === undefined || row.kind === kind) &&
        (to === null || row.at < to)
      if (isWanted) items.push({ ...row, balance })
      balance -= row.amount
      if (items.length < limit) continue
      below = row.id
      break
    }
  }
  return { items, next: below > 1 ? encodeCursor({ at: below, id: balance === null ? '' : String(balance) }) : null }
}

/** The balance and the newest entry of the ledger at one instant. */
const balanceAndNewest = query<{ owner: OwnerScope }>()((db, p) => {
  const [w, e] = [db.of(wallets), db.of(ledgerEntries)]
  return db
    .select({ balance: w.balance, newest: sql<number>`(SELECT max(${e.id}) FROM ${e})`.mapWith(Number) })
    .from(w)
    .where(eq(w.id, p.owner))
})

/**
 * The balance at the end of a span and what was booked in it, by kind; null when that is not found before `isOver`.
 * Micro-cents. Sums all entries since the span began, in steps, because the ledger has no index by owner.
 */
export async function bookedIn(
  reader: Reader,
  owner: OwnerScope,
  span: { from: number; to: number },
  isOver: () => boolean,
) {
  const e = reader.of(ledgerEntries)
  const [start] = await balanceAndNewest(reader, { owner })
  let closing = start?.balance ?? 0
  const kinds = new Map<string, { entries: number; amount: number }>()
  for (let below = (start?.newest ?? 0) + 1; below > 1; below -= STEP) {
    const inStep = and(lt(e.id, below), gt(e.id, below - STEP - 1))
    const rows = await reader
      .select({
        kind: e.kind,
        isLater: sql<number>`CASE WHEN ${e.at} >= ${span.to} THEN 1 ELSE 0 END`.mapWith(Number),
        entries: sql<number>`count(*)`.mapWith(Number),
        amount: sql<number>`sum(${e.amount})`.mapWith(Number),
      })
      .from(e)
      .where(and(inStep, eq(e.account, owner), gte(e.at, span.from)))
      .groupBy(e.kind, sql`2`)
    for (const { kind, isLater, entries, amount } of rows) {
      if (isLater) closing -= amount
      else {
        const sum = kinds.get(kind) ?? { entries: 0, amount: 0 }
        kinds.set(kind, { entries: sum.entries + entries, amount: sum.amount + amount })
      }
    }
    const [oldest] = await reader.select({ at: e.at }).from(e).where(inStep).orderBy(asc(e.id)).limit(1)
    if (oldest && oldest.at < span.from) break
    if (isOver()) return null
    await nextTurn()
  }
  return { closing, kinds }
}
