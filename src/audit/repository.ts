import { and, asc, desc, eq, gt, gte, lt, lte, type SQL, sql } from 'drizzle-orm'
import { allOf, command, excludedOf, locked, query, type Reader, rowsIn, type Tx } from '../kernel/store'
import { type End, GENESIS, START } from './chain'
import type { ChainScope } from './schema'
import { type AuditEventRow, auditBases, auditEvents, auditHeads, auditLog } from './table'

export type Head = { seq: number; hash: string; at: number }

/** Read by primary key. Without `limit`, which would cost more than the lookup. */
const readHead = query<{ scope: ChainScope }>()((db, p) => {
  const t = db.of(auditHeads)
  return db.select({ seq: t.seq, hash: t.hash, at: t.at }).from(t).where(eq(t.scope, p.scope))
})

/** An update without changes, used to lock the row. */
const lockHead = command<{ scope: ChainScope }>()((tx, p) => {
  const t = tx.of(auditHeads)
  return tx
    .update(t)
    .set({ seq: sql`${t.seq}` })
    .where(eq(t.scope, p.scope))
    .returning({ seq: t.seq, hash: t.hash, at: t.at })
})

const lockListedHeads = command<{ list: string }>()((tx, p) => {
  const t = tx.of(auditHeads)
  const chains = sql`(select chain from ${rowsIn(tx, p.list, { chain: 'text' })})`
  return locked(tx.select().from(t).where(sql`${t.scope} in ${chains}`).orderBy(t.scope))
})

const startChain = command<{ scope: ChainScope }>()((tx, p) => {
  const t = tx.of(auditHeads)
  return tx.insert(t).values({ scope: p.scope, seq: 0, hash: GENESIS, at: 0 }).onConflictDoNothing()
})

/**
 * The head of a chain, locked until the transaction ends. SQLite has one writer, and Postgres locks the row. Starts the
 * chain if it has no head yet.
 */
async function takeHead(tx: Tx, scope: ChainScope): Promise<Head> {
  const take = tx.dialect === 'sqlite' ? readHead : lockHead
  const [head] = await take(tx, { scope })
  if (head) return head
  await startChain(tx, { scope })
  return (await take(tx, { scope }))[0]!
}

const setHead = command<Head & { scope: ChainScope }>()((tx, p) => {
  const t = tx.of(auditHeads)
  return tx
    .update(t)
    .set({ seq: sql`${p.seq}`, hash: sql`${p.hash}`, at: sql`${p.at}` })
    .where(eq(t.scope, p.scope))
})

/** The heads of several chains, locked in a fixed order, so that two transactions do not deadlock. */
export async function takeHeads(tx: Tx, scopes: readonly ChainScope[]): Promise<Map<ChainScope, Head>> {
  const heads = new Map<ChainScope, Head>()
  if (tx.dialect === 'postgres' && scopes.length > 1) {
    const list = JSON.stringify(scopes.map((chain) => ({ chain })))
    for (const head of await lockListedHeads(tx, { list })) heads.set(head.scope, head)
  }
  for (const scope of scopes.filter((scope) => !heads.has(scope))) heads.set(scope, await takeHead(tx, scope))
  return heads
}

const setListedHeads = command<{ list: string }>()((tx, p) => {
  const t = tx.of(auditHeads)
  return tx
    .update(t)
    .set({ seq: sql`given.number`, hash: sql`given.digest`, at: sql`given.moment` })
    .from(rowsIn(tx, p.list, { chain: 'text', number: 'bigint', digest: 'text', moment: 'bigint' }))
    .where(sql`${t.scope} = given.chain`)
})

export function setHeads(tx: Tx, heads: ReadonlyMap<ChainScope, Head>): Promise<unknown> {
  if (tx.dialect === 'sqlite' || heads.size < 2)
    return Promise.all([...heads].map(([scope, { seq, hash, at }]) => setHead(tx, { scope, seq, hash, at })))
  const rows = [...heads].map(([chain, { seq, hash, at }]) => ({ chain, number: seq, digest: hash, moment: at }))
  return setListedHeads(tx, { list: JSON.stringify(rows) })
}

export const insertEvent = command<AuditEventRow>()((tx, p) =>
  tx.insert(tx.of(auditEvents)).values(allOf(tx.of(auditEvents), p)),
)

const anyHead = query<Record<never, never>>()((db) =>
  db
    .select({ seq: db.of(auditHeads).seq })
    .from(db.of(auditHeads))
    .limit(1),
)

/** Whether anything was ever recorded. False for a database that was only migrated. */
export const hasRecord = async (reader: Reader): Promise<boolean> => (await anyHead(reader, {})).length > 0

/** The time of the event at one `seq` of a chain. */
export const timeAt = query<{ scope: ChainScope; seq: number }>()((db, p) => {
  const t = db.of(auditLog)
  return db
    .select({ at: t.at })
    .from(t)
    .where(and(eq(t.scope, p.scope), eq(t.seq, p.seq)))
    .limit(1)
})

export const headOf = query<{ scope: ChainScope }>()((db, p) => {
  const t = db.of(auditHeads)
  return db.select({ seq: t.seq, hash: t.hash }).from(t).where(eq(t.scope, p.scope)).limit(1)
})

/** The id and hash of the event at one `seq` of a chain. */
export const eventAt = query<{ scope: ChainScope; seq: number }>()((db, p) => {
  const t = db.of(auditLog)
  return db
    .select({ id: t.id, hash: t.hash })
    .from(t)
    .where(and(eq(t.scope, p.scope), eq(t.seq, p.seq)))
    .limit(1)
})

/** Events of one chain with `above < seq <= upTo`, oldest first. */
export const pageOfChain = query<{ scope: ChainScope; above: number; upTo: number; limit: number }>()((db, p) => {
  const t = db.of(auditLog)
  return db
    .select()
    .from(t)
    .where(and(eq(t.scope, p.scope), gt(t.seq, sql`${p.above}`), lte(t.seq, sql`${p.upTo}`)))
    .orderBy(asc(t.seq))
    .limit(p.limit)
})

export type Slice = { scope: ChainScope; above: number; upTo: number; limit: number; filters: (SQL | undefined)[] }

/** Events of one chain with `above < seq <= upTo` that pass the filters, newest first. */
export function selectSlice(db: Reader, { scope, above, upTo, limit, filters }: Slice): Promise<AuditEventRow[]> {
  const t = db.of(auditLog)
  return Promise.resolve(
    db
      .select()
      .from(t)
      .where(and(eq(t.scope, scope), gt(t.seq, above), lte(t.seq, upTo), ...filters))
      .orderBy(desc(t.seq))
      .limit(limit),
  )
}

/** Events of all chains, ordered by scope and `seq`, after a given position. */
export const pageOfChains = query<{ scope: string; seq: number; limit: number }>()((db, p) => {
  const t = db.of(auditLog)
  return db
    .select()
    .from(t)
    .where(sql`(${t.scope}, ${t.seq}) > (${p.scope}, ${p.seq})`)
    .orderBy(asc(t.scope), asc(t.seq))
    .limit(p.limit)
})

export const pageOfHeads = query<{ scope: string; limit: number }>()((db, p) => {
  const t = db.of(auditHeads)
  return db
    .select()
    .from(t)
    .where(gt(t.scope, sql`${p.scope}`))
    .orderBy(asc(t.scope))
    .limit(p.limit)
})

/** The scope `length` heads further on, so that all heads can be scanned in slices. */
export const endOfSlice = query<{ scope: string; length: number }>()((db, p) => {
  const t = db.of(auditHeads)
  return db
    .select({ scope: t.scope })
    .from(t)
    .where(gt(t.scope, sql`${p.scope}`))
    .orderBy(asc(t.scope))
    .limit(1)
    .offset(p.length)
})

/** Chains with `after < scope <= upTo` that grew at or after `since` (epoch ms). */
export const headsSince = query<{ after: string; upTo: string; since: number }>()((db, p) => {
  const t = db.of(auditHeads)
  return db
    .select()
    .from(t)
    .where(and(gt(t.scope, sql`${p.after}`), lte(t.scope, sql`${p.upTo}`), gte(t.at, sql`${p.since}`)))
    .orderBy(asc(t.scope))
})

/** The number of events of each action in `above < seq <= upTo` of a chain. */
export const actionsBetween = query<{ scope: ChainScope; above: number; upTo: number }>()((db, p) => {
  const t = db.of(auditLog)
  return db
    .select({ action: t.action, count: sql<number>`count(*)` })
    .from(t)
    .where(and(eq(t.scope, p.scope), gt(t.seq, sql`${p.above}`), lte(t.seq, sql`${p.upTo}`)))
    .groupBy(t.action)
})

const ofScope = query<{ scope: ChainScope }>()((db, p) => {
  const t = db.of(auditBases)
  return db.select().from(t).where(eq(t.scope, p.scope))
})

export const allBases = query<Record<never, never>>()((db) => db.select().from(db.of(auditBases)))

export const setBase = command<End & { event_seq: number; scope: ChainScope }>()((tx, p) => {
  const t = tx.of(auditBases)
  const row = allOf(t, p)
  return tx
    .insert(t)
    .values(row)
    .onConflictDoUpdate({ target: t.scope, set: excludedOf(row, 'scope') })
})

/** The event up to which a chain was trimmed, from which it is verified. `START` if it was never trimmed. */
export const baseOf = async (reader: Reader, scope: ChainScope): Promise<End> =>
  (await ofScope(reader, { scope }))[0] ?? START

/** The `seq` of the last event before a given time, among those remaining below the base of a chain. 0 if none. */
export const lastStored = query<{ scope: ChainScope; upTo: number; moment: number }>()((db, p) => {
  const t = db.of(auditLog)
  return db
    .select({ seq: t.seq })
    .from(t)
    .where(and(eq(t.scope, p.scope), lte(t.seq, sql`${p.upTo}`), lt(t.at, sql`${p.moment}`)))
    .orderBy(desc(t.seq))
    .limit(1)
})
