import type { AuditLog } from '../../audit'
import type { Clock } from '../../kernel/clock'
import { centsToMicro, microToCents } from '../../kernel/money'
import type { Tx } from '../../kernel/store'
import type { BalanceWatch } from '../low-balance'
import type { Billing } from '../service'
import { takeBack } from '../take-back'
import { lockPurchase, savePurchase, shortPurchases } from './repository'
import type { PurchaseId } from './schema'
import type { PurchaseRow } from './table'

type Deps = { clock: Clock; audit: AuditLog; billing: Pick<Billing, 'grant' | 'lots'>; watch: BalanceWatch }

/** What brought news of a purchase: its name in the ledger, and the request behind it. */
export type Cause = { id: string; requestId: string }

export type PurchaseLedger = ReturnType<typeof createPurchaseLedger>

/** Brings the ledger into line with what is known of purchases, in whatever order it became known. */
export function createPurchaseLedger({ clock, audit, billing, watch }: Deps) {
  return { pay, align }

  /** A purchase is paid: its credit is added, once, and what of it was already paid back is taken out again. */
  async function pay(tx: Tx, row: PurchaseRow, payment: string | null, cause: Cause): Promise<PurchaseRow> {
    if (row.state === 'paid') return row
    const paid: PurchaseRow = {
      ...row,
      state: 'paid',
      payment_ref: payment ?? row.payment_ref,
      error: null,
      ended_at: clock.now(),
    }
    await savePurchase(tx, paid)
    const amount = centsToMicro(row.amount_cents)
    await billing.grant(tx, { owner: row.owner, amount, ref: refOf(row.id), kind: 'purchase', note: row.provider })
    await tell(tx, paid, cause, 'credits.purchased', {
      amount_cents: row.amount_cents,
      provider: row.provider,
      by: row.kind,
    })
    const aligned = await align(tx, paid, cause)
    // New credit first pays what an earlier purchase still owes.
    for (const { id } of await shortPurchases(tx, { owner: row.owner })) {
      const [short] = id === row.id ? [] : await lockPurchase(tx, { id })
      if (short) await align(tx, short, cause)
    }
    return aligned
  }

  /** Takes out of the wallet what was paid back or disputed of a paid purchase, and gives back what came back. */
  async function align(tx: Tx, row: PurchaseRow, cause: Cause): Promise<PurchaseRow> {
    if (row.state !== 'paid') return row
    const gone = Math.min(row.refunded_cents + row.disputed_cents, row.amount_cents)
    const due = centsToMicro(gone) - row.taken
    if (due === 0) return row
    const moved = due > 0 ? await take(tx, row, due, cause) : -(await restore(tx, row, -due, cause))
    const aligned = { ...row, taken: row.taken + moved }
    await savePurchase(tx, aligned)
    return aligned
  }

  async function take(tx: Tx, row: PurchaseRow, due: number, cause: Cause): Promise<number> {
    const order = { owner: row.owner, amount: due, ref: `${refOf(row.id)}_${cause.id}`, note: row.provider }
    const taken = await takeBack(tx, { clock, watch, lots: billing.lots }, order)
    await tell(tx, row, cause, 'credits.refunded', {
      taken_cents: microToCents(taken),
      owed_cents: microToCents(due - taken),
    })
    return taken
  }

  async function restore(tx: Tx, row: PurchaseRow, amount: number, cause: Cause): Promise<number> {
    const ref = `${refOf(row.id)}_${cause.id}`
    if (!(await billing.grant(tx, { owner: row.owner, amount, ref, kind: 'restore', note: row.provider }))) return 0
    await tell(tx, row, cause, 'credits.restored', { amount_cents: microToCents(amount) })
    return amount
  }

  function tell(tx: Tx, row: PurchaseRow, { requestId }: Cause, action: string, facts: Record<string, unknown>) {
    const about = { scope: row.owner, requestId, userId: row.user_id }
    return audit.recordUnattended(tx, about, {
      action,
      entityType: 'billing',
      entityId: row.id,
      input: { metadata: facts },
    })
  }
}

/** The ledger's name of a purchase; with the cause behind it, of one correction. */
const refOf = (id: PurchaseId): string => `purchase_${id}`
