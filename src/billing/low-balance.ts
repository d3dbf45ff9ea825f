import { LRUCache } from 'lru-cache'
import type { EventBus } from '../events'
import type { OwnerScope } from '../kernel/caller'
import { microToCents } from '../kernel/money'
import type { Reader, Tx } from '../kernel/store'
import type { AccountLimits, AccountLimitsOf } from './account-limits'
import { creditsLow } from './events'
import { walletOf } from './repository'
import { crossed } from './rules'

type Deps = {
  limits: AccountLimitsOf
  events: EventBus
  /** How many wallets are cached. */
  most?: number
}

/** Orders an automatic top-up in the transaction of the charge that made it due; does nothing while one is open. */
export type OrderTopUp = (tx: Tx, owner: OwnerScope, amountCents: number) => Promise<void>

export type BalanceWatch = ReturnType<typeof createBalanceWatch>

/**
 * Detects when a charge takes a balance below one of its owner's thresholds. Each crossing is reported once: the
 * balance has to rise above the threshold before it can cross it again. A cached lower bound of the balance
 * saves the statement for charges that stay far from every threshold.
 */
export function createBalanceWatch({ limits, events, most = 50_000 }: Deps) {
  /** Lower bound of each balance in micro-cents. For SQLite only, where no other process writes; Postgres returns it. */
  const atLeast = new LRUCache<OwnerScope, number>({ max: most })
  let orderTopUp: OrderTopUp | null = null

  return { charged, moved, credited, limitsMoved, onTopUp }

  /** Registers what orders top-ups; without it none are ordered. */
  function onTopUp(order: OrderTopUp): void {
    orderTopUp = order
  }

  /** Call after a charge, with the `balance` it left where that is known. Usually synchronous. */
  function charged(tx: Tx, owner: OwnerScope, amount: number, balance: number | null): void | Promise<void> {
    const known = limits.of(tx, owner)
    if (known instanceof Promise) return known.then((set) => look(tx, owner, set, amount, balance))
    if (balance !== null)
      return isCrossed(known, balance + amount, balance) ? look(tx, owner, known, amount, balance) : undefined
    const before = atLeast.get(owner)
    if (before === undefined) return look(tx, owner, known, amount, null)
    const after = before - amount
    if (isCrossed(known, before, after)) return look(tx, owner, known, amount, null)
    atLeast.set(owner, after)
  }

  /** Reads the balance, and caches it once the charge has committed. */
  async function look(tx: Tx, owner: OwnerScope, set: AccountLimits, amount: number, told: number | null) {
    const balance = told ?? (await read(tx, owner))
    if (told === null) {
      atLeast.delete(owner)
      tx.afterCommit(() => atLeast.set(owner, balance))
    }
    await tell(tx, owner, set, balance + amount, balance)
  }

  /** Call after any other decrease: a correction, a refund, an expiry. */
  async function moved(tx: Tx, owner: OwnerScope, before: number, after: number): Promise<void> {
    credited(tx, owner)
    await tell(tx, owner, await limits.of(tx, owner), before, after)
  }

  /** Call after a credit. The cached bound is too low now; it is dropped again at commit, in case a charge re-cached it. */
  function credited(tx: Tx, owner: OwnerScope): void {
    atLeast.delete(owner)
    tx.afterCommit(() => atLeast.delete(owner))
  }

  /** Call after a change of thresholds: a threshold raised above the balance counts as crossed. */
  async function limitsMoved(tx: Tx, owner: OwnerScope, from: AccountLimits, to: AccountLimits, balance: number) {
    if (from.lowBalance <= balance && balance < to.lowBalance) await tellLow(tx, owner, to.lowBalance, balance)
    const before = from.topUp?.below ?? 0
    if (to.topUp && before <= balance && balance < to.topUp.below) {
      await orderTopUp?.(tx, owner, to.topUp.amountCents)
    }
  }

  async function tell(tx: Tx, owner: OwnerScope, set: AccountLimits, before: number, after: number): Promise<void> {
    if (crossed(before, after, set.lowBalance)) await tellLow(tx, owner, set.lowBalance, after)
    if (set.topUp && crossed(before, after, set.topUp.below)) await orderTopUp?.(tx, owner, set.topUp.amountCents)
  }

  async function tellLow(tx: Tx, owner: OwnerScope, threshold: number, balance: number): Promise<void> {
    const orgId = owner.startsWith('org:') ? owner.slice('org:'.length) : null
    await events.emit(tx, creditsLow, owner, {
      scope: orgId ? 'org' : 'user',
      org_id: orgId,
      balance_cents: microToCents(balance),
      threshold_cents: microToCents(threshold),
    })
  }
}

const isCrossed = ({ lowBalance, topUp }: AccountLimits, before: number, after: number): boolean =>
  crossed(before, after, lowBalance) || (topUp !== null && crossed(before, after, topUp.below))

async function read(reader: Reader, owner: OwnerScope): Promise<number> {
  return (await walletOf(reader, { id: owner }))[0]?.balance ?? 0
}
