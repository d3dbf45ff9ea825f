import type { AuditLog } from '../../audit'
import type { OwnerScope } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { centsToMicro, microToCents } from '../../kernel/money'
import type { Tx } from '../../kernel/store'
import type { BalanceWatch } from '../low-balance'
import { claim, debit, insertEntry, walletOf } from '../repository'
import { ISSUED } from '../schema'
import type { Billing } from '../service'
import { purchaseRows, purchasesOwingRefunds } from './repository'
import type { PurchaseId } from './schema'
import type { PurchaseRow } from './table'

type TakeBackDeps = { clock: Clock; watch: BalanceWatch } & Pick<Billing, 'expiringGrants' | 'escrows'>

type Deps = {
  clock: Clock
  audit: AuditLog
  billing: Pick<Billing, 'grant' | 'expiringGrants' | 'escrows'>
  watch: BalanceWatch
}

/** The event behind a change of a purchase: its id in the ledger, and the request it came with. */
export type Cause = { id: string; requestId: string }

export type PurchaseLedger = ReturnType<typeof createPurchaseLedger>

/** Adjusts the ledger to the known state of purchases, in whatever order events arrived. */
export function createPurchaseLedger({ clock, audit, billing, watch }: Deps) {
  return { pay, align }

  /** Marks a purchase as paid and adds its credit, once; then takes back what had already been refunded. */
  async function pay(tx: Tx, row: PurchaseRow, payment: string | null, cause: Cause): Promise<PurchaseRow> {
    if (row.state === 'paid') return row
    const outcome = { payment_ref: payment ?? row.payment_ref, error: null, ended_at: clock.now() }
    const paid = (await purchaseRows.change(tx, { id: row.id }, { state: 'paid', ...outcome }))!
    const amount = centsToMicro(row.amount_cents)
    await billing.grant(tx, { owner: row.owner, amount, ref: refOf(row.id), kind: 'purchase', note: row.provider })
    await record(tx, paid, cause, 'credits.purchased', {
      amount_cents: row.amount_cents,
      provider: row.provider,
      by: row.kind,
    })
    const aligned = await align(tx, paid, cause)
    // Earlier refunds that the wallet could not cover are taken from the new credit.
    for (const { id } of await purchasesOwingRefunds(tx, row.owner)) {
      const short = id === row.id ? undefined : await purchaseRows.lock(tx, { id })
      if (short) await align(tx, short, cause)
    }
    return aligned
  }

  /** Takes refunded and disputed amounts of a paid purchase from the wallet, and returns amounts won back. */
  async function align(tx: Tx, row: PurchaseRow, cause: Cause): Promise<PurchaseRow> {
    if (row.state !== 'paid') return row
    const reversedCents = Math.min(row.refunded_cents + row.disputed_cents, row.amount_cents)
    const due = centsToMicro(reversedCents) - row.taken
    if (due === 0) return row
    const moved = due > 0 ? await take(tx, row, due, cause) : -(await restore(tx, row, -due, cause))
    return (await purchaseRows.change(tx, { id: row.id }, { taken: row.taken + moved }))!
  }

  async function take(tx: Tx, row: PurchaseRow, due: number, cause: Cause): Promise<number> {
    const input = { owner: row.owner, amount: due, ref: `${refOf(row.id)}_${cause.id}`, note: row.provider }
    const taken = await takeBack(tx, { clock, watch, ...billing }, input)
    await record(tx, row, cause, 'credits.refunded', {
      taken_cents: microToCents(taken),
      owed_cents: microToCents(due - taken),
    })
    return taken
  }

  async function restore(tx: Tx, row: PurchaseRow, amount: number, cause: Cause): Promise<number> {
    const ref = `${refOf(row.id)}_${cause.id}`
    if (!(await billing.grant(tx, { owner: row.owner, amount, ref, kind: 'restore', note: row.provider }))) return 0
    await record(tx, row, cause, 'credits.restored', { amount_cents: microToCents(amount) })
    return amount
  }

  function record(tx: Tx, row: PurchaseRow, { requestId }: Cause, action: string, facts: Record<string, unknown>) {
    const about = { scope: row.owner, requestId, userId: row.user_id }
    return audit.recordUnattended(tx, about, {
      action,
      entityType: 'billing',
      entityId: row.id,
      input: { metadata: facts },
    })
  }
}

/** The reference of a purchase in the ledger; corrections append the id of their cause. */
const refOf = (id: PurchaseId): string => `purchase_${id}`

/**
 * Takes refunded or disputed credit out of a wallet: as much of the amount as is not on hold. Once per `ref`.
 * Returns what was taken, in micro-cents.
 */
async function takeBack(
  tx: Tx,
  { clock, watch, expiringGrants, escrows }: TakeBackDeps,
  { owner, amount, ref, note }: { owner: OwnerScope; amount: number; ref: string; note: string },
): Promise<number> {
  // A claim of 0: on Postgres it takes the row lock of the wallet.
  await claim(tx, { id: owner, amount: 0 })
  await escrows.recall(tx, owner)
  const [wallet] = await walletOf(tx, { id: owner })
  const taken = Math.min(amount, (wallet?.balance ?? 0) - (wallet?.held ?? 0))
  if (taken <= 0) return 0
  const entry = { ref, kind: 'refund', at: clock.now(), note }
  const [first] = await insertEntry(tx, { ...entry, account: owner, amount: -taken })
  if (!first) return 0
  await insertEntry(tx, { ...entry, account: ISSUED, amount: taken })
  await expiringGrants.beforeAdjustment(tx, owner, -taken)
  const [left] = await debit(tx, { id: owner, amount: taken })
  if (left) await watch.decreased(tx, owner, left.balance + taken, left.balance)
  return taken
}
