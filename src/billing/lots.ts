import type { AuditLog } from '../audit'
import type { OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { newRequestId } from '../kernel/ids'
import { microToCents } from '../kernel/money'
import type { Reader, Store, Tx } from '../kernel/store'
import { dueLots, insertLot, openLots, setLot } from './lots-repository'
import type { BalanceWatch } from './low-balance'
import { claim, debit, insertEntry, walletOf } from './repository'
import { spendLots } from './rules'
import { ISSUED, type Lot } from './schema'
import type { LotRow } from './table'

type Deps = { store: Store; clock: Clock; audit: AuditLog; watch: Pick<BalanceWatch, 'decreased'> }

/** When running calls hold some of an expired lot, it is checked again after this time. */
const RECHECK_MS = 10_000
const BATCH = 100

export type CreditLots = ReturnType<typeof createLots>

/**
 * Credit with an expiry date. It is spent before all other credit, soonest to expire first, and what is left at its
 * end is taken from the balance. Paid calls do no extra work: how much was spent follows from the balance.
 */
export function createLots({ store, clock, audit, watch }: Deps) {
  return { open, beforeAdjustment, of, expireDue }

  /** Adds a lot, after its credit has been added to the wallet. */
  async function open(tx: Tx, owner: OwnerScope, lot: { ref: string; amount: number; expiresAt: number }) {
    const [wallet] = await walletOf(tx, { id: owner })
    const { ref, amount, expiresAt } = lot
    const dates = { granted_at: clock.now(), expires_at: expiresAt, due_at: expiresAt }
    await insertLot(tx, { ref, owner, remaining: amount, seen_balance: wallet!.balance, ...dates, takings: 0 })
  }

  /** Call before any balance change that is not a charge, so that the change is not mistaken for spending. */
  async function beforeAdjustment(tx: Tx, owner: OwnerScope, change: number): Promise<void> {
    const { balance, lots } = await lockWalletAndLots(tx, owner)
    for (const lot of lots) await setLot(tx, { ...lot, seen_balance: balance + change })
  }

  /** The parts of an owner's balance that will expire, soonest first. */
  async function of(reader: Reader, owner: OwnerScope): Promise<Lot[]> {
    const lots = await openLots(reader, { owner })
    const [wallet] = lots.length ? await walletOf(reader, { id: owner }) : []
    return unspentLots(lots, wallet?.balance ?? 0)
      .filter(({ remaining }) => remaining > 0)
      .map(({ ref, remaining, expires_at }) => ({ ref, remaining, expiresAt: expires_at }))
  }

  /** Removes the rest of expired lots, one transaction per owner. Returns how many due lots it looked at. */
  async function expireDue(limit = BATCH): Promise<number> {
    const due = await dueLots(store.read, { now: clock.now(), limit })
    for (const owner of new Set(due.map((lot) => lot.owner))) await store.write((tx) => expire(tx, owner))
    return due.length
  }

  async function expire(tx: Tx, owner: OwnerScope): Promise<void> {
    const { balance, held, lots } = await lockWalletAndLots(tx, owner)
    const now = clock.now()
    let available = balance - held
    let taken = 0
    for (const lot of lots.filter(({ expires_at }) => expires_at <= now)) {
      const amount = Math.min(lot.remaining, available)
      if (amount > 0) await take(tx, lot, amount)
      available -= amount
      taken += amount
      lot.remaining -= amount
      lot.due_at = now + RECHECK_MS
      lot.takings += amount > 0 ? 1 : 0
    }
    for (const lot of lots) await setLot(tx, { ...lot, seen_balance: balance - taken })
    if (taken > 0) await watch.decreased(tx, owner, balance, balance - taken)
  }

  async function take(tx: Tx, { owner, ref, takings, expires_at }: LotRow, amount: number): Promise<void> {
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

  /** An owner's current wallet and lots, locked until the transaction ends. */
  async function lockWalletAndLots(tx: Tx, owner: OwnerScope) {
    // A claim of 0: on Postgres it takes the row lock of the wallet.
    await claim(tx, { id: owner, amount: 0 })
    const lots = await openLots(tx, { owner })
    const [wallet] = lots.length ? await walletOf(tx, { id: owner }) : []
    const { balance, held } = wallet ?? { balance: 0, held: 0 }
    return { balance, held, lots: unspentLots(lots, balance) }
  }
}

/**
 * Subtracts from the lots what was spent since they were last computed, or whatever the wallet no longer covers if
 * that is more. `seen_balance` is the same in all lots of an owner, because they are computed together.
 */
function unspentLots(lots: LotRow[], balance: number): LotRow[] {
  const total = lots.reduce((sum, { remaining }) => sum + remaining, 0)
  return spendLots(lots, Math.max((lots[0]?.seen_balance ?? 0) - balance, total - balance))
}
