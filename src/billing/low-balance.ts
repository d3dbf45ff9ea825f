import { defineEvent, type EventBus } from '../events'
import type { OwnerScope } from '../kernel/caller'
import { microToCents } from '../kernel/money'
import type { Tx } from '../kernel/store'
import type { AccountLimits, AccountLimitsOf } from './limits'
import { crossed } from './limits'

/** `credits.low` (docs/api.md 14.2): the balance fell below the owner's threshold. */
const creditsLow = defineEvent<{
  scope: 'user' | 'org'
  org_id: string | null
  balance_cents: number
  threshold_cents: number
}>('credits.low')

/** Requests an automatic top-up in the transaction of the charge that made it due; does nothing while one is open. */
export type InputTopUp = (tx: Tx, owner: OwnerScope, amountCents: number) => Promise<void>

export type BalanceWatch = ReturnType<typeof createBalanceWatch>

/**
 * Detects when a charge takes a balance below one of its owner's thresholds. Each crossing is reported once: the
 * balance has to rise above the threshold before it can cross it again.
 */
export function createBalanceWatch({ limits, events }: { limits: AccountLimitsOf; events: EventBus }) {
  let orderTopUp: InputTopUp | null = null

  return { charged, decreased, limitsChanged, onTopUp }

  /** Registers what requests top-ups. Without it there are none. */
  function onTopUp(order: InputTopUp): void {
    orderTopUp = order
  }

  /** Call after a charge, with the `balance` it left. Synchronous if limits are cached and nothing is crossed. */
  function charged(tx: Tx, owner: OwnerScope, amount: number, balance: number): void | Promise<void> {
    const ownerLimits = limits.of(tx, owner)
    if (ownerLimits instanceof Promise)
      return ownerLimits.then((loaded) => reportCrossings(tx, owner, loaded, balance + amount, balance))
    const { lowBalance, topUp } = ownerLimits
    const before = balance + amount
    if (crossed(before, balance, lowBalance) || (topUp !== null && crossed(before, balance, topUp.below)))
      return reportCrossings(tx, owner, ownerLimits, before, balance)
  }

  /** Call after any other decrease: a correction, a refund, an expiry. */
  async function decreased(tx: Tx, owner: OwnerScope, before: number, after: number): Promise<void> {
    await reportCrossings(tx, owner, await limits.of(tx, owner), before, after)
  }

  /** Call after a change of thresholds: a threshold raised above the balance counts as crossed. */
  async function limitsChanged(tx: Tx, owner: OwnerScope, from: AccountLimits, to: AccountLimits, balance: number) {
    if (from.lowBalance <= balance && balance < to.lowBalance) await emitCreditsLow(tx, owner, to.lowBalance, balance)
    const before = from.topUp?.below ?? 0
    if (to.topUp && before <= balance && balance < to.topUp.below) {
      await orderTopUp?.(tx, owner, to.topUp.amountCents)
    }
  }

  async function reportCrossings(
    tx: Tx,
    owner: OwnerScope,
    ownerLimits: AccountLimits,
    before: number,
    after: number,
  ): Promise<void> {
    if (crossed(before, after, ownerLimits.lowBalance)) await emitCreditsLow(tx, owner, ownerLimits.lowBalance, after)
    if (ownerLimits.topUp && crossed(before, after, ownerLimits.topUp.below))
      await orderTopUp?.(tx, owner, ownerLimits.topUp.amountCents)
  }

  async function emitCreditsLow(tx: Tx, owner: OwnerScope, threshold: number, balance: number): Promise<void> {
    const orgId = owner.startsWith('org:') ? owner.slice('org:'.length) : null
    await events.emit(tx, creditsLow, owner, {
      scope: orgId ? 'org' : 'user',
      org_id: orgId,
      balance_cents: microToCents(balance),
      threshold_cents: microToCents(threshold),
    })
  }
}
