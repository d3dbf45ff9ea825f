import type { AuditLog } from '../../audit'
import { defineJob, type Jobs, type Outcome, type Running } from '../../jobs'
import type { OwnerScope } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { newRequestId } from '../../kernel/ids'
import type { Store, Tx } from '../../kernel/store'
import type { ChargeResult, PaymentDriver } from './driver'
import type { PurchaseLedger } from './ledger'
import { customerRows, newPurchase, purchaseRows } from './repository'
import type { PurchaseId } from './schema'
import type { PurchaseRow } from './table'

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  jobs: Pick<Jobs, 'register' | 'enqueue'>
  driver: PaymentDriver
  ledger: PurchaseLedger
}
type Due = { purchaseId: PurchaseId }

const RETRY_AFTER_MS = [60_000, 300_000, 1_800_000, 7_200_000]
/** Longer than the driver waits for an answer, its own repetitions included. */
const ATTEMPT_MS = 300_000
/** A payment that is still pending after this time counts as failed. */
const PENDING_MS = 3 * 86_400_000

const NO_METHOD = 'There is no saved payment method.'
const NO_ANSWER = 'The payment processor did not answer.'
const NO_NEWS = 'The payment was started and never confirmed.'

/**
 * Automatic top-ups: ordered in the transaction of the charge that crossed the threshold, and charged afterwards by a
 * job, once: an attempt is repeated with the same idempotency key, which the processor keeps for a day. A failure ends
 * the top-up and is recorded; the next crossing tries again.
 */
export function createTopUps({ store, clock, audit, jobs, driver, ledger }: Deps) {
  const kind = defineJob<Due>({
    name: 'billing.top_up',
    run: attempt,
    retry: { attempts: RETRY_AFTER_MS.length + 1, delayMs: (tried) => RETRY_AFTER_MS[tried - 1]! },
    timeLimitMs: ATTEMPT_MS,
    concurrency: 4,
    keepMs: 0,
    onFailed: (tx, { payload }) => end(tx, payload.purchaseId, failed(null, NO_ANSWER)),
  })
  jobs.register(kind)
  return { order, kind: kind.name }

  /** Does nothing while the owner has an open top-up (a unique index of the table). */
  async function order(tx: Tx, owner: OwnerScope, amountCents: number): Promise<void> {
    if (!driver.charge) return
    const row = newPurchase(clock.now(), { owner, kind: 'top_up', provider: driver.name, amount_cents: amountCents })
    if (await purchaseRows.add(tx, row)) await jobs.enqueue(tx, kind, { owner, payload: { purchaseId: row.id } })
  }

  async function attempt(job: Running<Due>): Promise<Outcome<null>> {
    const { purchaseId: id } = job.payload
    const row = await purchaseRows.first(store.read, { id })
    if (row?.state !== 'open') return {}
    const result = row.payment_ref ? failed(row.payment_ref, NO_NEWS) : await charge(job, row)
    const effects = (tx: Tx) => end(tx, id, result)
    return result.state === 'pending' ? { again: { at: clock.now() + PENDING_MS }, effects } : { effects }
  }

  /** Throws when the processor did not answer, so that the outcome is unknown; the owner sees that meanwhile. */
  async function charge(job: Running<Due>, row: PurchaseRow): Promise<ChargeResult> {
    const known = await customerRows.first(store.read, { owner: row.owner, provider: driver.name })
    if (!known || !driver.charge) return failed(null, NO_METHOD)
    try {
      return await driver.charge({ purchaseId: row.id, customer: known.customer, amountCents: row.amount_cents })
    } catch (error) {
      await job.write((tx) => purchaseRows.update(tx, { id: row.id, state: 'open' }, { error: NO_ANSWER }))
      throw error
    }
  }

  /** Ends a top-up that is still open, or notes that its payment is under way. */
  async function end(tx: Tx, id: PurchaseId, result: ChargeResult): Promise<void> {
    const row = await purchaseRows.lock(tx, { id })
    if (row?.state !== 'open') return
    const cause = { id, requestId: newRequestId() }
    if (result.state === 'paid') {
      await ledger.pay(tx, row, result.payment, cause)
      return
    }
    if (result.state === 'pending') {
      await purchaseRows.update(tx, { id }, { payment_ref: result.payment })
      return
    }
    const { payment, error } = result
    await purchaseRows.update(tx, { id }, { state: 'failed', payment_ref: payment, error, ended_at: clock.now() })
    const about = { scope: row.owner, requestId: cause.requestId }
    await audit.recordUnattended(tx, about, {
      action: 'credits.top_up_failed',
      entityType: 'billing',
      entityId: row.id,
      input: { metadata: { amount_cents: row.amount_cents, reason: error } },
    })
  }
}

const failed = (payment: string | null, error: string): ChargeResult => ({ state: 'failed', payment, error })
