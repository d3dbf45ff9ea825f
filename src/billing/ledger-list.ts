import { and, desc, eq, gt, lt, max, sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { decodeCursor, encodeCursor } from '../kernel/page'
import { query, type Reader } from '../kernel/store'
import { ledgerEntries, wallets } from './table'

/** One row of an owner's ledger and the balance after it. Micro-cents. */
export type LedgerEntry = {
  id: number
  ref: string
  kind: string
  amount: number
  balance: number
  at: number
  note: string | null
}

export type LedgerPage = { items: LedgerEntry[]; next: string | null }

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
  { cursor, ref }: { cursor?: string | undefined; ref?: string | undefined } = {},
): Promise<LedgerPage> {
  const mark = decodeCursor(cursor)
  const items: LedgerEntry[] = []
  let below = mark?.at ?? Number((await newest(reader, {}))[0]?.id ?? 0) + 1
  let balance = mark?.id ? Number(mark.id) : null
  for (let step = 0; step < MAX_STEPS && below > 1 && items.length < limit; step++) {
    const above = Math.max(below - STEP - 1, 0)
    // Rows that do not match `ref` must be read too, because the balance is computed from all of them.
    const rowLimit = ref === undefined ? limit - items.length : ROWS_PER_FILTERED_READ
    const rows = await entriesBelow(reader, { account: owner, below, above, limit: rowLimit })
    below = rows.length < rowLimit ? above + 1 : rows.at(-1)!.id
    for (const { now, ...row } of rows) {
      balance ??= now
      // The reference of a charge is a time and the id of the request.
      if (ref === undefined || row.ref === ref || row.ref.endsWith(`.${ref}`)) items.push({ ...row, balance })
      balance -= row.amount
    }
  }
  return { items, next: below > 1 ? encodeCursor({ at: below, id: balance === null ? '' : String(balance) }) : null }
}
