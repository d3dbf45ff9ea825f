import { findOwner } from '../accounts'
import type { AuditLog } from '../audit'
import { type AccountBilling, type Billing, type LedgerEntry, listLedger, refAlreadyUsed } from '../billing'
import type { BillingLimits } from '../billing/schema'
import type { Call, OperatorCaller } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { randomBase62 } from '../kernel/crypto'
import { centsToMicro, microToCents } from '../kernel/money'
import type { Page } from '../kernel/page'
import type { Store } from '../kernel/store'
import type { GrantCode, LedgerQuery, LedgerRow, NewAdjustment, NewCaps, NewCode } from './schema'

type Deps = {
  store: Store
  billing: Pick<Billing, 'adjust' | 'amountOf'>
  accountBilling: Pick<AccountBilling, 'byHand' | 'limits'>
  audit: AuditLog
}

const CODE_MS = 30 * 86_400_000
const DEFAULT_LIMIT = 50

/** Accounting by operators, for any owner: corrections, the ledger, grant codes and caps (dx 2.16). */
export function createBookVerbs({ store, billing, accountBilling, audit }: Deps) {
  return { adjust, ledger, createCode, setCaps }

  /** Corrects a balance, once per reference. Throws 409 `conflict` when less than the amount is available. */
  async function adjust(call: Call<OperatorCaller>, input: NewAdjustment) {
    const owner = await findOwner(store.read, input.owner)
    const ref = `adjust_${input.idempotency_key ?? randomBase62(24)}`
    const { amount_cents, note = call.caller.reason } = input
    const booked = await store.write(async (tx) => {
      const input = { owner: owner.scope, amount: centsToMicro(amount_cents), ref, note }
      const added = await billing.adjust(tx, input)
      const isDifferent = !added && (await billing.amountOf(tx, { ...input, kind: 'adjust' })) !== input.amount
      if (isDifferent) throw refAlreadyUsed(ref)
      if (!added) return false
      await audit.record(tx, call, {
        action: 'credits.adjusted',
        entityType: 'billing',
        entityId: null,
        scope: owner.scope,
        input: { metadata: { amount_cents, ref } },
      })
      return true
    })
    return { owner: owner.scope, amount_cents, ref, already: !booked }
  }

  /** An owner's ledger, newest first, each row with the balance after it. */
  async function ledger(_call: Call<OperatorCaller>, query: LedgerQuery): Promise<Page<LedgerRow>> {
    const owner = await findOwner(store.read, query.owner)
    const page = await listLedger(store.read, owner.scope, query.limit ?? DEFAULT_LIMIT, query)
    return { items: page.items.map(present), next: page.next }
  }

  /** Creates a code that completes one checkout of its amount. Only this answer contains the code. */
  async function createCode(call: Call<OperatorCaller>, input: NewCode): Promise<GrantCode> {
    const validMs = input.valid_seconds === undefined ? CODE_MS : input.valid_seconds * 1000
    const params = { amountCents: input.amount_cents, validMs, note: input.note ?? call.caller.reason }
    const { code, expiresAt } = await accountBilling.byHand.createCode(call, params)
    return { object: 'grant_code', code, amount_cents: input.amount_cents, expires_at: iso(expiresAt) }
  }

  /** Sets caps on everything an owner spends; null removes one, missing members stay. */
  async function setCaps(call: Call<OperatorCaller>, { owner: ref, ...caps }: NewCaps): Promise<BillingLimits> {
    const { scope } = await findOwner(store.read, ref)
    const about = { action: 'billing.limits_updated', entityType: 'billing', entityId: null, scope } as const
    return accountBilling.limits.setCaps(scope, caps, (tx, fields) =>
      audit.record(tx, call, { ...about, input: { fields } }),
    )
  }
}

const present = ({ id, at, kind, ref, amount, balance, note }: LedgerEntry): LedgerRow => ({
  id,
  at: iso(at),
  kind,
  ref,
  amount_cents: microToCents(amount),
  balance_cents: microToCents(balance),
  note,
})
