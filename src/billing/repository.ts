import { and, eq, gt, gte, inArray, lte, ne, or, type SQL, sql } from 'drizzle-orm'
import { hasLease, isGone, renewLease } from '../cluster'
import type { OwnerScope } from '../kernel/caller'
import { command, counted, insertListed, locked, query, type Reader, rowsIn, type Tx } from '../kernel/store'
import { type Hold, IDLE, type NEVER, OF_JOBS, OF_SESSIONS, REVENUE, SHARED } from './schema'
import { type HoldRow, type HoldState, holds, type LedgerRow, ledgerEntries, wallets } from './table'

/** Read by primary key. No `limit`: it would cost more than the look-up. */
export const walletOf = query<{ id: OwnerScope }>()((db, p) => {
  const t = db.of(wallets)
  return db.select({ balance: t.balance, held: t.held }).from(t).where(eq(t.id, p.id))
})

/** Holds an amount if that much is available, in one statement, so that no two holds claim the same credit. */
export const claim = counted<{ id: OwnerScope; amount: number }>()((tx, p) => {
  const t = tx.of(wallets)
  return tx
    .update(t)
    .set({ held: sql`${t.held} + ${p.amount}` })
    .where(and(eq(t.id, p.id), sql`${t.balance} - ${t.held} >= ${p.amount}`))
})

/** Holds an amount if at least `min` is available. */
export const claimAmple = counted<{ id: OwnerScope; amount: number; min: number }>()((tx, p) => {
  const t = tx.of(wallets)
  return tx
    .update(t)
    .set({ held: sql`${t.held} + ${p.amount}` })
    .where(and(eq(t.id, p.id), sql`${t.balance} - ${t.held} >= ${p.min}`))
})

/** Locks wallets in the order of their ids. All transactions use this order, so they cannot deadlock. */
const lockWallets = command<{ list: string }>()((tx, p) => {
  const t = tx.of(wallets)
  const owners = sql`(select owner from ${rowsIn(tx, p.list, { owner: 'text' })})`
  return locked(tx.select({ id: t.id }).from(t).where(sql`${t.id} in ${owners}`).orderBy(t.id))
})

const claimListed = command<{ list: string }>()((tx, p) => {
  const t = tx.of(wallets)
  return tx
    .update(t)
    .set({ held: sql`${t.held} + given.amount` })
    .from(rowsIn(tx, p.list, { owner: 'text', amount: 'bigint' }))
    .where(sql`${t.id} = given.owner and ${t.balance} - ${t.held} >= given.amount`)
    .returning({ id: t.id })
})

/** Holds several amounts. Returns whether each was available. If a wallet does not cover all, earlier ones win. */
export async function claimAll(tx: Tx, list: readonly { owner: OwnerScope; amount: number }[]): Promise<boolean[]> {
  const covered = new Set<OwnerScope>()
  if (list.length > 1) {
    const sums = new Map<OwnerScope, number>()
    for (const { owner, amount } of list) sums.set(owner, (sums.get(owner) ?? 0) + amount)
    const given = { list: JSON.stringify([...sums].map(([owner, amount]) => ({ owner, amount }))) }
    const [, claimed] = await Promise.all([lockWallets(tx, given), claimListed(tx, given)])
    for (const { id } of claimed) covered.add(id)
  }
  const claimed: boolean[] = []
  for (const { owner, amount } of list) claimed.push(covered.has(owner) || (await claim(tx, { id: owner, amount })) > 0)
  return claimed
}

/** Ends a hold: frees the held amount and takes the charged amount from the balance. */
export const unclaim = command<{ id: OwnerScope; held: number; charged: number }>()((tx, p) => {
  const t = tx.of(wallets)
  return tx
    .update(t)
    .set({ balance: sql`${t.balance} - ${p.charged}`, held: sql`${t.held} - ${p.held}` })
    .where(eq(t.id, p.id))
    .returning({ balance: t.balance, capped: t.capped })
})

/** Adds to a wallet, creating it on first credit. Returns the new amounts. */
export const credit = command<{ id: OwnerScope; amount: number }>()((tx, p) => {
  const t = tx.of(wallets)
  return tx
    .insert(t)
    .values({ id: p.id, balance: p.amount, held: 0, capped: false })
    .onConflictDoUpdate({ target: t.id, set: { balance: sql`${t.balance} + excluded.balance` } })
    .returning({ balance: t.balance })
})

/** Takes from the part of a wallet that is not on hold; returns nothing when that part is too small. */
export const debit = command<{ id: OwnerScope; amount: number }>()((tx, p) => {
  const t = tx.of(wallets)
  return tx
    .update(t)
    .set({ balance: sql`${t.balance} - ${p.amount}` })
    .where(and(eq(t.id, p.id), sql`${t.balance} - ${t.held} >= ${p.amount}`))
    .returning({ balance: t.balance })
})

type NewHold = Omit<HoldRow, 'state' | 'settled_amount'>

const insertAnyHold = command<NewHold>()((tx, p) =>
  tx.insert(tx.of(holds)).values({
    ref: p.ref,
    wallet_id: p.wallet_id,
    key_id: p.key_id,
    capped: p.capped,
    amount: p.amount,
    state: 'open',
    settled_amount: 0,
    node: p.node,
    created_at: p.created_at,
    expires_at: p.expires_at,
  }),
)

/** Inserts the hold if the node has a lease; else 0 rows. */
const insertOneLeased = counted<NewHold>()((tx, p) => {
  const open = sql`SELECT ${p.ref}::text, ${p.wallet_id}::text, ${p.key_id}::text, ${p.capped}::boolean,
    ${p.amount}::bigint, 'open', 0, ${p.node}::text, ${p.created_at}::bigint, ${p.expires_at}::bigint`
  return tx.insert(tx.of(holds)).select(sql`${open} WHERE ${hasLease(tx, p.node)}`)
})

const insertListedHolds = counted<{ list: string; node: string }>()((tx, p) =>
  insertListed(tx, tx.of(holds), p.list, {}, sql`where ${hasLease(tx, p.node)}`),
)

/**
 * Opens holds of one node. A cluster node whose lease has ended, for example after a pause, renews it first. Otherwise
 * other nodes would release the holds while the requests run.
 */
export async function insertHolds(tx: Tx, list: readonly NewHold[]): Promise<void> {
  const [first] = list
  if (!first) return
  if (tx.dialect === 'sqlite' || first.node === OF_JOBS || first.node === OF_SESSIONS)
    return void (await insertAnyHold.each(tx, list))
  const rows = list.map((hold) => ({ ...hold, state: 'open', settled_amount: 0 }))
  const inserted =
    list.length > 1
      ? await insertListedHolds(tx, { list: JSON.stringify(rows), node: first.node })
      : await insertOneLeased(tx, first)
  if (inserted) return
  await renewLease(tx, first.node)
  await insertAnyHold.each(tx, list)
}

/** Enlarges an open hold; the wallet's `held` is changed separately by `claim`. */
export const growHold = counted<{ ref: string; more: number }>()((tx, p) => {
  const t = tx.of(holds)
  return tx
    .update(t)
    .set({ amount: sql`${t.amount} + ${p.more}` })
    .where(and(eq(t.ref, p.ref), sql`${t.state} = 'open'`))
})

/** Marks for other processes whether a call uses a part of a shared hold. */
export const markShared = counted<{ ref: string; until: typeof NEVER | typeof IDLE }>()((tx, p) => {
  const t = tx.of(holds)
  return tx
    .update(t)
    .set({ expires_at: sql`${p.until}` })
    .where(and(eq(t.ref, p.ref), sql`${t.state} = 'open'`))
})

type Ending = { ref: string; owner: OwnerScope; state: HoldState; charged: number }

/** A hold that ends, and what it pays in micro-cents. */
export type Charge = {
  hold: Hold
  charged: number
  /** Filled by `endHolds`: it had not ended before, and has enough. */
  isEnded: boolean
  /** Filled by `takeCharges`: the balance after this charge, and whether the owner has caps. */
  balance: number
  ownerCapped: boolean
}

/** On Postgres: makes other transactions that change these wallets wait for this one. */
export const lockWallet = (tx: Tx, ...owners: OwnerScope[]): Promise<unknown> | undefined =>
  tx.dialect === 'postgres' ? lockWallets(tx, { list: JSON.stringify(owners.map((owner) => ({ owner }))) }) : undefined

const endOneHold = counted<Ending>()((tx, p) => {
  const t = tx.of(holds)
  return tx
    .update(t)
    .set({ state: sql`${p.state}`, settled_amount: sql`${t.settled_amount} + ${p.charged}` })
    .where(and(eq(t.ref, p.ref), sql`${t.state} = 'open'`, sql`${t.settled_amount} + ${p.charged} <= ${t.amount}`))
})

const endListedHolds = command<{ list: string }>()((tx, p) => {
  const t = tx.of(holds)
  return tx
    .update(t)
    .set({ state: sql`given.how`, settled_amount: sql`${t.settled_amount} + given.charged` })
    .from(rowsIn(tx, p.list, { hold: 'text', how: 'text', charged: 'bigint' }))
    .where(sql`${t.ref} = given.hold and ${t.state} = 'open' and ${t.settled_amount} + given.charged <= ${t.amount}`)
    .returning({ ref: t.ref })
})

/**
 * Ends an open hold; 0 rows when it had already ended. With the state `open` it charges a call to a shared hold; 0 rows
 * also when the hold has less than that left.
 */
export async function endHold(tx: Tx, ending: Ending): Promise<number> {
  // Calls change a shared hold concurrently, so each locks the wallet first.
  const locking = ending.ref.startsWith(SHARED) ? lockWallet(tx, ending.owner) : undefined
  const [, ended] = await Promise.all([locking, endOneHold(tx, ending)])
  return ended
}

/** Ends the holds of several charges, or charges them to the shared holds that they are parts of. */
export async function endHolds(tx: Tx, charges: readonly Charge[]): Promise<void> {
  const endings = new Map<string, Ending & { isEnded: boolean }>()
  for (const { hold, charged } of charges) {
    const { escrow, owner } = hold
    const { ref } = escrow ?? hold
    const sum = endings.get(ref)
    if (!sum) endings.set(ref, { ref, owner, state: escrow ? 'open' : 'settled', charged, isEnded: false })
    // If two end the same hold of their own, only the first does.
    else if (escrow) sum.charged += charged
  }
  if (tx.dialect === 'sqlite' || endings.size === 1)
    for (const ending of endings.values()) ending.isEnded = (await endHold(tx, ending)) > 0
  else {
    const owners = new Set(charges.map(({ hold }) => hold.owner))
    const given = [...endings.values()].map(({ ref, state, charged }) => ({ hold: ref, how: state, charged }))
    const [, rows] = await Promise.all([lockWallet(tx, ...owners), endListedHolds(tx, { list: JSON.stringify(given) })])
    for (const { ref } of rows) endings.get(ref)!.isEnded = true
  }
  for (const charge of charges) {
    const ending = endings.get((charge.hold.escrow ?? charge.hold).ref)!
    charge.isEnded = ending.isEnded
    if (!charge.hold.escrow) ending.isEnded = false
  }
}

const unclaimListed = command<{ list: string }>()((tx, p) => {
  const t = tx.of(wallets)
  return tx
    .update(t)
    .set({ balance: sql`${t.balance} - given.charged`, held: sql`${t.held} - given.freed` })
    .from(rowsIn(tx, p.list, { owner: 'text', charged: 'bigint', freed: 'bigint' }))
    .where(sql`${t.id} = given.owner`)
    .returning({ id: t.id, balance: t.balance, capped: t.capped })
})

/** Takes several charges from the wallets, and frees what was held for them. Of a shared hold the rest stays held. */
export async function takeCharges(tx: Tx, charges: readonly Charge[]): Promise<void> {
  const sums = new Map<OwnerScope, { charged: number; freed: number }>()
  for (const { hold, charged } of charges) {
    const freed = hold.escrow ? charged : hold.amount
    const sum = sums.get(hold.owner)
    if (sum) {
      sum.charged += charged
      sum.freed += freed
    } else sums.set(hold.owner, { charged, freed })
  }
  const left = await unclaimSums(tx, sums)
  // Each gets the balance after its own charge, as if the charges ran one after the other.
  for (let at = charges.length - 1; at >= 0; at--) {
    const charge = charges[at]!
    const wallet = left.get(charge.hold.owner)!
    charge.balance = wallet.balance
    charge.ownerCapped = wallet.capped
    wallet.balance += charge.charged
  }
}

async function unclaimSums(
  tx: Tx,
  sums: ReadonlyMap<OwnerScope, { charged: number; freed: number }>,
): Promise<Map<OwnerScope, { balance: number; capped: boolean }>> {
  if (tx.dialect === 'postgres') {
    const params = { list: JSON.stringify([...sums].map(([owner, sum]) => ({ owner, ...sum }))) }
    const [, rows] = await Promise.all([lockWallets(tx, params), unclaimListed(tx, params)])
    return new Map(rows.map(({ id, ...left }) => [id, left]))
  }
  const left = new Map<OwnerScope, { balance: number; capped: boolean }>()
  for (const [id, { charged, freed }] of sums)
    for (const row of await unclaim(tx, { id, charged, held: freed })) left.set(id, row)
  return left
}

/** Expired open holds of this process. Other processes check their own, because expiry uses their clock. */
export const expiredHolds = query<{ node: string; now: number; limit: number }>()((db, p) => {
  const t = db.of(holds)
  return db
    .select(holdFields(t))
    .from(t)
    .where(and(sql`${t.state} = 'open'`, lte(t.expires_at, p.now), eq(t.node, p.node)))
    .limit(p.limit)
})

/**
 * Open holds of processes that have ended: on SQLite all other processes, on Postgres those without a node row. Holds
 * of jobs belong to no process, because another process takes the job over.
 */
export const orphanedHolds = query<{ node: string; limit: number }>()((db, p) => {
  const t = db.of(holds)
  return db
    .select(holdFields(t))
    .from(t)
    .where(and(sql`${t.state} = 'open'`, isOrphaned(db, t, p.node)))
    .limit(p.limit)
})

function isOrphaned(db: Reader, t: typeof holds.sqlite, node: Parameters<typeof ne>[1]): SQL | undefined {
  const foreign = and(ne(t.node, node as string), ne(t.node, OF_JOBS), ne(t.node, OF_SESSIONS))
  return db.dialect === 'sqlite' ? foreign : and(foreign, isGone(db, t.node))
}

/** Whether there is one of either, in one question. */
export const anyAbandoned = query<{ node: string; now: number }>()((db, p) => {
  const t = db.of(holds)
  const ofNode = and(lte(t.expires_at, p.now), eq(t.node, p.node))
  const open = and(sql`${t.state} = 'open'`, or(ofNode, isOrphaned(db, t, p.node)))
  return db.select({ ref: t.ref }).from(t).where(open).limit(1)
})

/** Open holds of jobs, by ref. */
export async function jobHolds(db: Reader, after: string, limit: number): Promise<Hold[]> {
  const t = db.of(holds)
  const wanted = and(sql`${t.state} = 'open'`, eq(t.node, OF_JOBS), gt(t.ref, after))
  return db.select(holdFields(t)).from(t).where(wanted).orderBy(t.ref).limit(limit)
}

/** An open hold of another process that calls of this owner share. */
export const sharedElsewhere = query<{ owner: OwnerScope; node: string }>()((db, p) => {
  const t = db.of(holds)
  const isShared = and(sql`${t.state} = 'open'`, gte(t.expires_at, IDLE), sql`${t.ref} LIKE 'escrow.%'`)
  return db
    .select({ ref: t.ref })
    .from(t)
    .where(and(eq(t.wallet_id, p.owner), ne(t.node, p.node), isShared))
    .limit(1)
})

/** What other processes have in shared holds of this owner of which no call has a part, in micro-cents. */
export const idleElsewhere = query<{ owner: OwnerScope; node: string }>()((db, p) => {
  const t = db.of(holds)
  return db
    .select({ free: sql<number>`coalesce(sum(${t.amount} - ${t.settled_amount}), 0)`.mapWith(Number) })
    .from(t)
    .where(and(sql`${t.state} = 'open'`, eq(t.expires_at, IDLE), eq(t.wallet_id, p.owner), ne(t.node, p.node)))
})

/** Those of these holds that are open. */
export async function openHolds(db: Reader, refs: readonly string[]): Promise<Hold[]> {
  const t = db.of(holds)
  const isOpen = and(sql`${t.state} = 'open'`, inArray(t.ref, [...refs]))
  return db.select(holdFields(t)).from(t).where(isOpen)
}

const holdFields = (t: typeof holds.sqlite) => ({
  ref: t.ref,
  owner: t.wallet_id,
  keyId: t.key_id,
  capped: t.capped,
  // Of a shared hold, the part that was not charged yet.
  amount: sql<number>`${t.amount} - ${t.settled_amount}`.mapWith(Number),
  createdAt: t.created_at,
  isIdle: sql<boolean>`${t.expires_at} = ${IDLE}`.mapWith(Boolean),
})

/** One leg of a movement; returns nothing when this leg had been written before. */
export const insertEntry = command<Omit<LedgerRow, 'id'>>()((tx, p) => {
  const t = tx.of(ledgerEntries)
  return tx
    .insert(t)
    .values({ ref: p.ref, kind: p.kind, account: p.account, amount: p.amount, at: p.at, note: p.note })
    .onConflictDoNothing({ target: [t.ref, t.kind, t.account] })
    .returning({ id: t.id })
})

/** What a call's own hold reserved, in micro-cents. No row for calls that share a hold. */
export const heldUnder = query<{ ref: string }>()((db, p) => {
  const t = db.of(holds)
  return db.select({ amount: t.amount }).from(t).where(eq(t.ref, p.ref))
})

/** The amount a movement gave or took from an account. */
export const entryOf = query<{ ref: string; kind: string; account: string }>()((db, p) => {
  const t = db.of(ledgerEntries)
  return db
    .select({ amount: t.amount })
    .from(t)
    .where(and(eq(t.ref, p.ref), eq(t.kind, p.kind), eq(t.account, p.account)))
})

/** Both legs of a charge in one statement: the wallet pays, revenue receives. */
export const insertCharge = command<{ ref: string; wallet: string; paid: number; received: number; at: number }>()(
  (tx, p) =>
    tx.insert(tx.of(ledgerEntries)).values([
      { ref: p.ref, kind: 'settle', account: p.wallet, amount: p.paid, at: p.at, note: null },
      { ref: p.ref, kind: 'settle', account: REVENUE, amount: p.received, at: p.at, note: null },
    ]),
)
