import type { AuditLog } from '../../audit'
import type { Store, Tx } from '../../kernel/store'
import type { AccountLimitsOf } from '../limits'
import { limitRows } from '../limits'
import type { PaymentDriver, PaymentEvent, PaymentEventContent } from './driver'
import { paymentErrors } from './errors'
import type { Cause, PurchaseLedger } from './ledger'
import { eventRows, purchaseRows } from './repository'
import { PurchaseId } from './schema'
import type { PurchaseRow } from './table'

type Deps = { store: Store; audit: AuditLog; driver: PaymentDriver; ledger: PurchaseLedger; limits: AccountLimitsOf }

type PaymentOutcome = Extract<PaymentEventContent, { about: 'payment' }>
type Reversal = Extract<PaymentEventContent, { about: 'refund' | 'dispute' }>
type PurchaseEvent = Exclude<PaymentEventContent, { about: 'nothing' }> & PaymentEvent

export type Receive = ReturnType<typeof createIntake>

/** Processes the payment processor's events: each one once, in any order (docs/attacks.md G10). */
export function createIntake({ store, audit, driver, ledger, limits }: Deps) {
  /**
   * Throws 400 `validation_error` for a wrong signature, 503 when the processor must be asked and does not answer, so
   * that it sends the event again. Events about payments from elsewhere are accepted, because the processor would
   * otherwise repeat them for days; refunds and disputes among them are recorded in the audit log.
   */
  return async function receive(body: Uint8Array, signature: string | null, requestId: string): Promise<void> {
    const event = await driver.readEvent(body, signature)
    if (!event) throw paymentErrors.unsignedEvent()
    if (event.about === 'nothing') return
    const purchase = await findPurchase(event)
    await store.write(async (tx) => {
      if (!(await eventRows.add(tx, { id: event.id, type: event.type, at: event.at }))) return
      const cause = { id: event.id, requestId }
      const row = purchase ? await purchaseRows.lock(tx, { id: purchase }) : undefined
      // A negative refund or dispute amount would add credit, so it is rejected.
      if (event.about === 'payment') await (row && applyPayment(tx, row, event, cause))
      else if (row && Number.isSafeInteger(event.cents) && event.cents >= 0) await applyReversal(tx, row, event, cause)
      else await recordUnmatched(tx, row, event, cause)
    })
  }

  /** Finds the purchase by our own id in the event, else by the payment, else by asking the processor. */
  async function findPurchase({ purchaseId, payment, about }: PurchaseEvent): Promise<PurchaseId | null> {
    let id: string | null = purchaseId
    if (id === null && payment !== null && about !== 'payment') {
      const known = await purchaseRows.first(store.read, { payment_ref: payment })
      id = known?.id ?? (await driver.purchaseOf(payment))
    }
    return PurchaseId.is(id ?? '') ? (id as PurchaseId) : null
  }

  /** Records a refund or dispute that cannot be booked (unknown purchase, invalid amount), for operators to see. */
  async function recordUnmatched(tx: Tx, row: PurchaseRow | undefined, event: Reversal & PaymentEvent, cause: Cause) {
    const about = { scope: row?.owner ?? ('server' as const), requestId: cause.requestId }
    await audit.recordUnattended(tx, about, {
      action: `credits.${event.about}_unmatched`,
      entityType: 'billing',
      entityId: row?.id ?? null,
      input: { metadata: { event: event.id, payment: event.payment, cents: event.cents } },
    })
  }

  async function applyPayment(tx: Tx, row: PurchaseRow, fact: PaymentOutcome, cause: Cause): Promise<void> {
    if (fact.state !== 'paid') {
      if (row.state === 'open') await purchaseRows.update(tx, { id: row.id }, { state: fact.state, error: fact.error })
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

  /** Each event carries the total so far, so the newest one counts; of two in the same second, the larger total. */
  async function applyReversal(tx: Tx, row: PurchaseRow, event: Reversal & PaymentEvent, cause: Cause) {
    const name = event.about === 'refund' ? 'refunded' : 'disputed'
    const [cents, at] = [row[`${name}_cents`], row[`${name}_at`]]
    if (event.at < at || (event.at === at && event.cents <= cents)) return
    const change = { [`${name}_cents`]: Math.min(event.cents, row.amount_cents), [`${name}_at`]: event.at }
    const updated = (await purchaseRows.change(tx, { id: row.id }, change))!
    if (event.about === 'dispute' && event.cents > 0) await switchTopUpOff(tx, row, cause)
    await ledger.align(tx, updated, cause)
  }

  /** Switches automatic top-up off after a dispute, so that the payer is not charged again without being asked. */
  async function switchTopUpOff(tx: Tx, { owner, user_id: userId }: PurchaseRow, { requestId }: Cause): Promise<void> {
    if (!(await limitRows.update(tx, { owner, top_up_enabled: true }, { top_up_enabled: false }))) return
    // Now, for the rest of this transaction; and after the commit, when outside readers can see the change.
    limits.forget(owner)
    tx.afterCommit(() => limits.forget(owner))
    await audit.recordUnattended(
      tx,
      { scope: owner, requestId, userId },
      { action: 'billing.limits_updated', entityType: 'billing', entityId: null, input: { fields: ['auto_top_up'] } },
    )
  }
}
