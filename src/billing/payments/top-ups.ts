import type { AuditLog } from '../../audit'
import type { OwnerScope } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { AppError } from '../../kernel/errors'
import { newRequestId } from '../../kernel/ids'
import { type Loop, startLoop } from '../../kernel/loop'
import type { Store, Tx } from '../../kernel/store'
import type { ChargeResult, PaymentDriver } from './driver'
import type { PurchaseLedger } from './ledger'
import { newPurchase } from './purchase'
import { claimTopUp, customerOf, dueTopUps, insertPurchase, lockPurchase, savePurchase } from './repository'
import type { PurchaseRow } from './table'

type Deps = { store: Store; clock: Clock; audit: AuditLog; driver: PaymentDriver; ledger: PurchaseLedger }

export type TopUps = ReturnType<typeof createTopUps>

const BATCH = 20
const IDLE_MS = 15_000
/** An attempt is repeated with the same idempotency key, so it charges once; the processor keeps keys for a day. */
const ATTEMPT_MS = 60_000
const RETRY_AFTER_MS = [60_000, 300_000, 1_800_000, 7_200_000]
/** A payment that is still pending after this time counts as failed. */
const PENDING_MS = 3 * 86_400_000

const NO_METHOD = 'There is no saved payment method.'
const NO_ANSWER = 'The payment processor did not answer.'
const NO_NEWS = 'The payment was started and never confirmed.'

/**
 * Automatic top-ups: ordered in the transaction of the charge that crossed the threshold, and charged afterwards, once.
 * A failure ends the top-up and is recorded; the next crossing tries again.
 */
export function createTopUps({ store, clock, audit, driver, ledger }: Deps) {
  let loop: Loop | null = null
  return { order, runDue, start }

  /** Does nothing while the owner has an open top-up (a unique index of the table). */
  async function order(tx: Tx, owner: OwnerScope, amountCents: number): Promise<void> {
    if (!driver.charge) return
    await insertPurchase(tx, newPurchase(clock.now(), { owner, kind: 'top_up', provider: driver.name, amountCents }))
    tx.afterCommit(() => loop?.wake())
  }

  /** Makes one attempt for each due top-up. Returns how many were due. */
  async function runDue(): Promise<number> {
    const due = await dueTopUps(store.read, { now: clock.now(), limit: BATCH })
    for (const row of due) {
      const current = clock.now()
      const claimed = await store.write((tx) =>
        claimTopUp(tx, { id: row.id, now: current, until: current + ATTEMPT_MS }),
      )
      if (claimed) await attempt({ ...row, attempts: row.attempts + 1 })
    }
    return due.length
  }

  async function attempt(row: PurchaseRow): Promise<void> {
    const result = row.payment_ref ? failed(row.payment_ref, NO_NEWS) : await charge(row)
    await store.write(async (tx) => {
      const [now] = await lockPurchase(tx, { id: row.id })
      if (now?.state === 'open') await settle(tx, now, result)
    })
  }

  /** Null when the processor did not answer, so the outcome is unknown. */
  async function charge(row: PurchaseRow): Promise<ChargeResult | null> {
    const [known] = await customerOf(store.read, { owner: row.owner, provider: driver.name })
    if (!known || !driver.charge) return failed(null, NO_METHOD)
    try {
      return await driver.charge({ purchaseId: row.id, customer: known.customer, amountCents: row.amount_cents })
    } catch (error) {
      if (row.attempts > RETRY_AFTER_MS.length) return failed(null, NO_ANSWER)
      // Other errors are bugs of ours and go to the log; the next attempt still happens.
      if (error instanceof AppError && error.kind === 'unavailable') return null
      throw error
    }
  }

  async function settle(tx: Tx, row: PurchaseRow, result: ChargeResult | null): Promise<void> {
    const now = clock.now()
    const cause = { id: row.id, requestId: newRequestId() }
    if (result === null) {
      await savePurchase(tx, { ...row, error: NO_ANSWER, next_at: now + RETRY_AFTER_MS[row.attempts - 1]! })
      return
    }
    if (result.state === 'paid') {
      await ledger.pay(tx, row, result.payment, cause)
      return
    }
    if (result.state === 'pending') {
      await savePurchase(tx, { ...row, payment_ref: result.payment, next_at: now + PENDING_MS })
      return
    }
    await savePurchase(tx, { ...row, state: 'failed', payment_ref: result.payment, error: result.error, ended_at: now })
    const about = { scope: row.owner, requestId: cause.requestId }
    await audit.recordUnattended(tx, about, {
      action: 'credits.top_up_failed',
      entityType: 'billing',
      entityId: row.id,
      input: { metadata: { amount_cents: row.amount_cents, reason: result.error } },
    })
  }

  /** Runs due top-ups while the server runs; a charge that crosses a threshold wakes the loop. */
  function start(onError: (name: string, error: unknown) => void): Loop {
    loop = startLoop({ name: 'top-ups', idleMs: IDLE_MS, clock, onError, tick: runDue })
    return loop
  }
}

const failed = (payment: string | null, error: string): ChargeResult => ({ state: 'failed', payment, error })
