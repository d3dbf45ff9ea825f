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

type Deps = { store: Store; clock: Clock; audit: AuditLog; watch: Pick<BalanceWatch, 'moved'> }

/** While calls hold some of what has ended, it is looked at again this much later. */
const AGAIN_MS = 10_000
const BATCH = 100

export type CreditLots = ReturnType<typeof createLots>

/**
 * Credit that ends: spent before all other credit, what ends first before the rest, and what is left at its end
 * leaves the balance. A paid call costs nothing more for it: what calls spent is what the balance went down by.
 */
export function createLots({ store, clock, audit, watch }: Deps) {
  return { open, moving, of, expireDue }

  /** After the credit of a grant that ends is in the wallet. */
  async function open(tx: Tx, owner: OwnerScope, lot: { ref: string; amount: number; expiresAt: number }) {
    const [wallet] = await walletOf(tx, { id: owner })
    const { ref, amount, expiresAt } = lot
    const ends = { granted_at: clock.now(), expires_at: expiresAt, due_at: expiresAt }
    await insertLot(tx, { ref, owner, remaining: amount, seen_balance: wallet!.balance, ...ends, takings: 0 })
  }

  /** Before a balance moves by anything but a charge, so that the move is not taken for spending. */
  async function moving(tx: Tx, owner: OwnerScope, by: number): Promise<void> {
    const { balance, lots } = await current(tx, owner)
    for (const lot of lots) await setLot(tx, { ...lot, seen_balance: balance + by })
  }

  /** What of an owner's balance will end, and when; what ends first before the rest. */
  async function of(reader: Reader, owner: OwnerScope): Promise<Lot[]> {
    const lots = await openLots(reader, { owner })
    const [wallet] = lots.length ? await walletOf(reader, { id: owner }) : []
    return left(lots, wallet?.balance ?? 0)
      .filter(({ remaining }) => remaining > 0)
      .map(({ ref, remaining, expires_at }) => ({ ref, remaining, expiresAt: expires_at }))
  }

  /** Takes what is left of lots that have ended, a unit an owner. Answers how many lots it looked at. */
  async function expireDue(limit = BATCH): Promise<number> {
    const due = await dueLots(store.read, { now: clock.now(), limit })
    for (const owner of new Set(due.map((lot) => lot.owner))) await store.write((tx) => expire(tx, owner))
    return due.length
  }

  async function expire(tx: Tx, owner: OwnerScope): Promise<void> {
    const { balance, held, lots } = await current(tx, owner)
    const now = clock.now()
    let available = balance - held
    let taken = 0
    for (const lot of lots.filter(({ expires_at }) => expires_at <= now)) {
      const amount = Math.min(lot.remaining, available)
      if (amount > 0) await take(tx, lot, amount)
      available -= amount
      taken += amount
      lot.remaining -= amount
      lot.due_at = now + AGAIN_MS
      lot.takings += amount > 0 ? 1 : 0
    }
    for (const lot of lots) await setLot(tx, { ...lot, seen_balance: balance - taken })
    if (taken > 0) await watch.moved(tx, owner, balance, balance - taken)
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

  /** An owner's wallet and lots as they are now, nobody else's to move until the unit ends. */
  async function current(tx: Tx, owner: OwnerScope) {
    // A claim of nothing: on Postgres the wallet's row is ours from here on.
    await claim(tx, { id: owner, amount: 0 })
    const lots = await openLots(tx, { owner })
    const [wallet] = lots.length ? await walletOf(tx, { id: owner }) : []
    const { balance, held } = wallet ?? { balance: 0, held: 0 }
    return { balance, held, lots: left(lots, balance) }
  }
}

/**
 * What was spent since they were last looked at has come out of them, and so has what is not in the wallet any
 * more, wherever it went. All lots of an owner were looked at together.
 */
function left(lots: LotRow[], balance: number): LotRow[] {
  const whole = lots.reduce((sum, { remaining }) => sum + remaining, 0)
  return spendLots(lots, Math.max((lots[0]?.seen_balance ?? 0) - balance, whole - balance))
}
