import type { AuditLog } from '../../audit'
import type { Call, OperatorCaller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { randomBase62, sha256Hex } from '../../kernel/crypto'
import { notFound } from '../../kernel/errors'
import type { Store, Tx } from '../../kernel/store'
import { paymentErrors } from './errors'
import type { PurchaseLedger } from './ledger'
import { codeRows, purchaseRows } from './repository'
import { PurchaseId } from './schema'
import type { PurchaseRow } from './table'

type Deps = { store: Store; clock: Clock; audit: AuditLog; ledger: PurchaseLedger }
type CodeInput = { amountCents: number; validMs: number; note: string | null }

export type ByHand = ReturnType<typeof createByHand>

const CODE = /^svc_gc_[0-9A-Za-z]{24}$/

/** Checkouts without a payment processor: completed by an operator, or with a code that an operator handed out. */
export function createByHand({ store, clock, audit, ledger }: Deps) {
  return { complete, createCode, redeem }

  /** Completes a checkout. Returns its row, and whether it had already been paid. */
  function complete(call: Call<OperatorCaller>, id: string): Promise<{ purchase: PurchaseRow; already: boolean }> {
    return store.write(async (tx) => {
      const row = await manualCheckout(tx, id)
      if (row.state === 'paid') return { purchase: row, already: true }
      if (row.state !== 'open') throw paymentErrors.checkoutEnded(row.state, row.error)
      const purchase = await ledger.pay(tx, row, null, { id: 'operator', requestId: call.requestId })
      await audit.record(tx, call, {
        action: 'credits.granted',
        entityType: 'billing',
        entityId: row.id,
        scope: row.owner,
        input: { metadata: { amount_cents: row.amount_cents, checkout: row.id } },
      })
      return { purchase, already: false }
    })
  }

  /** Creates a code for one checkout of exactly this amount. Only its hash is stored. */
  async function createCode(call: Call<OperatorCaller>, { amountCents, validMs, note }: CodeInput) {
    const code = `svc_gc_${randomBase62(24)}`
    const now = clock.now()
    const row = { amount_cents: amountCents, note, created_at: now, expires_at: now + validMs }
    await store.write(async (tx) => {
      await codeRows.insert(tx, { hash: sha256Hex(code), ...row })
      await audit.record(tx, call, {
        action: 'credits.code_created',
        entityType: 'billing',
        entityId: null,
        scope: 'server',
        input: { metadata: { amount_cents: amountCents, expires_at: row.expires_at } },
      })
    })
    return { code, expiresAt: row.expires_at }
  }

  /** Completes a checkout with a code and uses the code up. Throws 404, 409 `conflict` without using the code. */
  function redeem(id: string, code: string, requestId: string): Promise<PurchaseRow> {
    return store.write(async (tx) => {
      const row = await manualCheckout(tx, id)
      if (row.state !== 'open') throw paymentErrors.checkoutEnded(row.state, row.error)
      const hash = sha256Hex(code)
      const found = CODE.test(code) ? await codeRows.first(tx, { hash }) : undefined
      if (!found || found.used_at !== null || found.expires_at <= clock.now()) throw paymentErrors.codeRefused()
      if (found.amount_cents !== row.amount_cents)
        throw paymentErrors.codeAmountMismatch(found.amount_cents, row.amount_cents)
      const use = { used_at: clock.now(), used_for: row.id }
      if (!(await codeRows.update(tx, { hash, used_at: null }, use))) throw paymentErrors.codeRefused()
      return ledger.pay(tx, row, null, { id: 'code', requestId })
    })
  }
}

async function manualCheckout(tx: Tx, id: string): Promise<PurchaseRow> {
  const row = PurchaseId.is(id) ? await purchaseRows.lock(tx, { id }) : undefined
  if (!row) throw notFound('checkout')
  if (row.provider !== 'manual') throw paymentErrors.notManualCheckout(id)
  return row
}
