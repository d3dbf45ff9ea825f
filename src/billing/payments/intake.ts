import type { AuditLog } from '../../audit'
import type { Store, Tx } from '../../kernel/store'
import type { AccountLimitsOf } from '../account-limits'
import { stopTopUp } from '../limits-repository'
import type { PaymentDriver, PaymentEvent, PaymentFact } from './driver'
import { unsignedEvent } from './errors'
import type { Cause, PurchaseLedger } from './ledger'
import { insertPaymentEvent, lockPurchase, purchaseByPayment, savePurchase } from './repository'
import { PurchaseId } from './schema'
import type { PurchaseRow } from './table'

type Deps = { store: Store; audit: AuditLog; driver: PaymentDriver; ledger: PurchaseLedger; limits: AccountLimitsOf }

type OfPayment = Extract<PaymentFact, { about: 'payment' }>
type OfMoneyBack = Extract<PaymentFact, { about: 'refund' | 'dispute' }>

export type Receive = ReturnType<typeof createIntake>

/** Takes in what the processor says: each event once, in any order (G10). */
export function createIntake({ store, audit, driver, ledger, limits }: Deps) {
  /**
   * Throws 400 `validation_error` when the signature does not fit the bytes. An event about something that
   * was not bought here is taken in and means nothing, or the processor would send it for days.
   */
  return async function receive(body: Uint8Array, signature: string | null, requestId: string): Promise<void> {
    const event = await driver.readEvent(body, signature)
    if (!event) throw unsignedEvent()
    if (event.about === 'nothing') return
    await store.write(async (tx) => {
      const [first] = await insertPaymentEvent(tx, { id: event.id, type: event.type, at: event.at })
      const row = first && (await subjectOf(tx, event))
      if (!row) return
      const cause = { id: event.id, requestId }
      if (event.about === 'payment') await takePayment(tx, row, event, cause)
      else await takeMoneyBack(tx, row, event, cause)
    })
  }

  async function takePayment(tx: Tx, row: PurchaseRow, fact: OfPayment, cause: Cause): Promise<void> {
    if (fact.state !== 'paid') {
      if (row.state === 'open') await savePurchase(tx, { ...row, state: fact.state, error: fact.error })
      return
    }
    if (fact.amountCents === row.amount_cents && fact.currency === 'usd') {
      await ledger.pay(tx, row, fact.payment, cause)
      return
    }
    const about = { scope: row.owner, requestId: cause.requestId, userId: row.user_id }
    await audit.recordUnattended(tx, about, {
      action: 'credits.purchase_refused',
      entityType: 'billing',
      entityId: row.id,
      input: { metadata: { ordered_cents: row.amount_cents, paid: fact.amountCents, currency: fact.currency } },
    })
  }

  /** Every such event tells the sum so far, so the newest one counts; of two in one second the larger sum. */
  async function takeMoneyBack(tx: Tx, row: PurchaseRow, event: OfMoneyBack & PaymentEvent, cause: Cause) {
    const name = event.about === 'refund' ? 'refunded' : 'disputed'
    const [cents, at] = [row[`${name}_cents`], row[`${name}_at`]]
    if (event.at < at || (event.at === at && event.cents <= cents)) return
    const known = { ...row, [`${name}_cents`]: event.cents, [`${name}_at`]: event.at }
    await savePurchase(tx, known)
    if (event.about === 'dispute' && event.cents > 0) await stopCharging(tx, row, cause)
    await ledger.align(tx, known, cause)
  }

  /** Whoever disputes a payment is not charged again unasked. */
  async function stopCharging(tx: Tx, { owner, user_id: userId }: PurchaseRow, { requestId }: Cause): Promise<void> {
    if (!(await stopTopUp(tx, { owner }))) return
    // Now, for what this unit takes out of the wallet next, and again once readers outside can see it.
    limits.forget(owner)
    tx.afterCommit(() => limits.forget(owner))
    await audit.recordUnattended(
      tx,
      { scope: owner, requestId, userId },
      { action: 'billing.limits_updated', entityType: 'billing', entityId: null, input: { fields: ['auto_top_up'] } },
    )
  }
}

/** The purchase an event is about, kept for this unit; by our own id where the processor carried it along. */
async function subjectOf(tx: Tx, fact: Exclude<PaymentFact, { about: 'nothing' }>): Promise<PurchaseRow | undefined> {
  const [known] = fact.purchaseId === null && fact.payment ? await purchaseByPayment(tx, { payment: fact.payment }) : []
  const id = fact.purchaseId ?? known?.id ?? ''
  return PurchaseId.is(id) ? (await lockPurchase(tx, { id }))[0] : undefined
}
