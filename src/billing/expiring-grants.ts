import { and, asc, gt, lte, sql } from 'drizzle-orm'
import type { AuditLog } from '../audit'
import { type Jobs, RECURRING, recurring } from '../jobs'
import type { OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { newRequestId } from '../kernel/ids'
import { microToCents } from '../kernel/money'
import { rowsOf } from '../kernel/rows'
import { query, type Reader, type Store, type Tx } from '../kernel/store'
import type { Escrows } from './escrow'
import { spendGrants } from './limits'
import type { BalanceWatch } from './low-balance'
import { claim, debit, insertEntry, walletOf } from './repository'
import { type ExpiringGrant, ISSUED } from './schema'
import { type ExpiringGrantRow, expiringGrants } from './table'

/** Longest time that expired credit stays in a balance. */
const EVERY_MS = 5_000

const NAME = 'billing.expiry'

/** Job that removes expired credit. Also runs at startup, before the first request. */
export const expiredCredit = ({ expireDue, dueAt }: Pick<ExpiringGrants, 'expireDue' | 'dueAt'>) => {
  const work = async () => {
    while ((await expireDue()) > 0);
  }
  return recurring(NAME, EVERY_MS, work, { dueAt })
}

const grantRows = rowsOf(expiringGrants)
/** An owner's grants that are not used up, soonest to expire first. */
const openGrants = (db: Reader, owner: OwnerScope): Promise<ExpiringGrantRow[]> =>
  grantRows.all(db, { owner }, { also: (t) => gt(t.remaining, 0), order: (t) => [asc(t.expires_at), asc(t.ref)] })
/** Owners of expired grants that are not used up, earliest due first. */
const dueGrants = query<{ now: number; limit: number }>()((db, p) => {
  const t = db.of(expiringGrants)
  return db
    .select({ owner: t.owner })
    .from(t)
    .where(and(lte(t.due_at, p.now), gt(t.remaining, 0)))
    .orderBy(asc(t.due_at))
    .limit(p.limit)
})

const soonestDue = query()((db) => {
  const t = db.of(expiringGrants)
  return db
    .select({ at: sql<number | null>`min(${t.due_at})` })
    .from(t)
    .where(gt(t.remaining, 0))
})

/** Stores what was computed for an owner's grants, with the balance at that time. */
async function saveGrants(tx: Tx, grants: readonly ExpiringGrantRow[], seen_balance: number): Promise<void> {
  for (const { ref, remaining, due_at, takings } of grants)
    await grantRows.update(tx, { ref }, { remaining, seen_balance, due_at, takings })
}
export type ExpiringDeps = {
  store: Store
  clock: Clock
  audit: AuditLog
  watch: Pick<BalanceWatch, 'decreased'>
  jobs: Pick<Jobs, 'ensure'>
}

/** When running calls hold some of an expired grant, it is checked again after this time. */
const RECHECK_MS = 10_000
const BATCH = 100

export type ExpiringGrants = ReturnType<typeof createExpiringGrants>

/**
 * Credit with an expiry date. It is spent before all other credit, soonest to expire first. What is left when it
 * expires is taken from the balance. Paid calls do no extra work, because the spent amount follows from the balance.
 */
export function createExpiringGrants({
  store,
  clock,
  audit,
  watch,
  jobs,
  escrows,
}: ExpiringDeps & { escrows: Escrows }) {
  return { open, beforeAdjustment, of, expireDue, dueAt }

  /** Adds a grant, after its credit has been added to the wallet. */
  async function open(tx: Tx, owner: OwnerScope, grant: { ref: string; amount: number; expiresAt: number }) {
    const [wallet] = await walletOf(tx, { id: owner })
    const { ref, amount, expiresAt } = grant
    const dates = { granted_at: clock.now(), expires_at: expiresAt, due_at: expiresAt }
    await grantRows.insert(tx, { ref, owner, remaining: amount, seen_balance: wallet!.balance, ...dates, takings: 0 })
    // Schedules the job for the moment when the new credit expires.
    await jobs.ensure(tx, { name: NAME }, { owner: null, payload: null, uniqueKey: RECURRING, runAt: expiresAt })
  }

  /** When the next grant is due, in epoch milliseconds; null when there is none. */
  async function dueAt(reader: Reader): Promise<number | null> {
    const at = (await soonestDue(reader, {}))[0]?.at ?? null
    return at === null ? null : Number(at)
  }

  /** Call before any balance change that is not a charge, so that the change is not mistaken for spending. */
  async function beforeAdjustment(tx: Tx, owner: OwnerScope, change: number): Promise<void> {
    const locked = await lockWalletAndGrants(tx, owner)
    if (!locked) return
    await saveGrants(tx, locked.grants, locked.balance + change)
  }

  /** The parts of an owner's balance that will expire, soonest first. */
  async function of(reader: Reader, owner: OwnerScope): Promise<ExpiringGrant[]> {
    const grants = await openGrants(reader, owner)
    if (!grants.length) return []
    const [wallet] = await walletOf(reader, { id: owner })
    return unspentGrants(grants, wallet?.balance ?? 0)
      .filter(({ remaining }) => remaining > 0)
      .map(({ ref, remaining, expires_at }) => ({ ref, remaining, expiresAt: expires_at }))
  }

  /** Removes the rest of expired grants, one transaction per owner. Returns how many due grants it looked at. */
  async function expireDue(limit = BATCH): Promise<number> {
    const due = await dueGrants(store.read, { now: clock.now(), limit })
    for (const owner of new Set(due.map((grant) => grant.owner))) await store.write((tx) => expire(tx, owner))
    return due.length
  }

  async function expire(tx: Tx, owner: OwnerScope): Promise<void> {
    const locked = await lockWalletAndGrants(tx, owner)
    if (!locked) return
    const { balance, held, grants } = locked
    const now = clock.now()
    let available = balance - held
    let taken = 0
    for (const grant of grants.filter(({ expires_at }) => expires_at <= now)) {
      const amount = Math.min(grant.remaining, available)
      if (amount > 0) await take(tx, grant, amount)
      available -= amount
      taken += amount
      grant.remaining -= amount
      grant.due_at = now + RECHECK_MS
      grant.takings += amount > 0 ? 1 : 0
    }
    await saveGrants(tx, grants, balance - taken)
    await watch.decreased(tx, owner, balance, balance - taken)
  }

  async function take(tx: Tx, { owner, ref, takings, expires_at }: ExpiringGrantRow, amount: number): Promise<void> {
    const entry = { ref: takings ? `${ref}.${takings}` : ref, kind: 'expire', at: clock.now(), note: null }
    await insertEntry(tx, { ...entry, account: owner, amount: -amount })
    await insertEntry(tx, { ...entry, account: ISSUED, amount })
    await debit(tx, { id: owner, amount })
    const metadata = { amount_cents: microToCents(amount), ref, expired_at: iso(expires_at) }
    const about = { scope: owner, requestId: newRequestId() }
    await audit.recordUnattended(tx, about, {
      action: 'credits.expired',
      entityType: 'billing',
      entityId: null,
      input: { metadata },
    })
  }

  /** An owner's current wallet and grants, locked until the transaction ends; null when there are no grants. */
  async function lockWalletAndGrants(tx: Tx, owner: OwnerScope) {
    // A claim of 0: on Postgres it takes the row lock of the wallet.
    await claim(tx, { id: owner, amount: 0 })
    const grants = await openGrants(tx, owner)
    if (!grants.length) return null
    await escrows.recall(tx, owner)
    const [wallet] = await walletOf(tx, { id: owner })
    const { balance, held } = wallet ?? { balance: 0, held: 0 }
    return { balance, held, grants: unspentGrants(grants, balance) }
  }
}

/**
 * Subtracts from the grants what was spent since they were last computed, or what the wallet no longer covers if that
 * is more. All grants of an owner have the same `seen_balance`, because they are computed together.
 */
function unspentGrants(grants: ExpiringGrantRow[], balance: number): ExpiringGrantRow[] {
  const total = grants.reduce((sum, { remaining }) => sum + remaining, 0)
  return spendGrants(grants, Math.max(grants[0]!.seen_balance - balance, total - balance))
}
