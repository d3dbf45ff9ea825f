import { actingUserOf, assertConfirmed, findOwner, type Owner, ownerToRead } from '../accounts'
import type { AuditLog } from '../audit'
import { type AccountBilling, type Billing, billingErrors, type Difference, listLedger } from '../billing'
import type { BillingLimits } from '../billing/schema'
import { bind } from '../kernel/bind'
import type { Call, OperatorCaller } from '../kernel/caller'
import { type Clock, iso, isoOrNull } from '../kernel/clock'
import { randomBase62 } from '../kernel/crypto'
import { invalidInput } from '../kernel/errors'
import { centsToMicro, microToCents } from '../kernel/money'
import { mapPage, type Page } from '../kernel/page'
import type { Reader, Store, Tx } from '../kernel/store'
import { operatorErrors } from './errors'
import type {
  Adjustment,
  Balance,
  Grant,
  GrantCode,
  LedgerQuery,
  LedgerRow,
  NewAdjustment,
  NewCaps,
  NewCode,
  NewGrant,
  Reconciliation,
} from './schema'

type Deps = {
  store: Store
  billing: Pick<Billing, 'balance' | 'grant' | 'adjust' | 'amountOf' | 'expiringGrants' | 'reconciliation'>
  clock: Clock
  accountBilling: Pick<AccountBilling, 'byHand' | 'limits'>
  audit: AuditLog
}
type By = Call<OperatorCaller>

const CODE_MS = 30 * 86_400_000
const DEFAULT_LIMIT = 50

/** Credit of any owner, the ledger, grant codes and caps, for operators (docs/operating.md 2.16). */
export const createCreditVerbs = (deps: Deps) =>
  bind(deps, { balance, grant, adjust, ledger, createCode, setCaps, compare, apply })

/** An owner's balance, the held part, and the available rest. */
async function balance(deps: Deps, _call: By, ref?: string): Promise<Balance> {
  const { read } = deps.store
  return { ...(await presentBalance(deps, read, await ownerToRead(read, ref))), object: 'balance' }
}

/** Adds credit, once per reference, or completes an open checkout. */
async function grant(deps: Deps, call: By, { amount_cents, checkout, ...input }: NewGrant): Promise<Grant> {
  await assertConfirmed(call.caller)
  const { read } = deps.store
  if (checkout !== undefined) return completeCheckout(deps, call, checkout, input.expires_at)
  if (amount_cents === undefined)
    throw invalidInput('amount_cents', '"amount_cents" is missing. Send the amount in cents.')
  const expiresAt = input.expires_at ? Date.parse(input.expires_at) : null
  if (expiresAt !== null && expiresAt <= deps.clock.now()) throw operatorErrors.endInThePast(input.expires_at!)
  const owner = await findOwner(read, input.owner)
  actingUserOf(owner)
  const ref = `grant_${input.idempotency_key ?? randomBase62(24)}`
  const { note = call.caller.reason } = input
  const amount = centsToMicro(amount_cents)
  const kind = 'grant'
  const added = await bookOnce(deps, call, { owner, ref, kind, amount_cents, expiresAt }, (tx) =>
    deps.billing.grant(tx, { owner: owner.scope, amount, ref, kind, note, expiresAt }),
  )
  const after = await presentBalance(deps, read, owner)
  return { ...after, object: 'credit_grant', amount_cents, expires_at: isoOrNull(expiresAt), ref, already: !added }
}

async function completeCheckout(
  deps: Deps,
  call: By,
  checkout: string,
  end: string | null | undefined,
): Promise<Grant> {
  if (end)
    throw invalidInput(
      'expires_at',
      'Credit bought in a checkout does not expire. Leave out "expires_at" or "checkout".',
    )
  const { read } = deps.store
  const { purchase, already } = await deps.accountBilling.byHand.complete(call, checkout)
  const after = await presentBalance(deps, read, await findOwner(read, purchase.owner))
  const { amount_cents, id } = purchase
  return { ...after, object: 'credit_grant', amount_cents, expires_at: null, ref: `purchase_${id}`, already }
}

/** Corrects a balance, once per reference. Throws 409 `conflict` when less than the amount is available. */
async function adjust(deps: Deps, call: By, input: NewAdjustment): Promise<Adjustment> {
  const { read } = deps.store
  const owner = await findOwner(read, input.owner)
  const ref = `adjust_${input.idempotency_key ?? randomBase62(24)}`
  const { amount_cents, note = call.caller.reason } = input
  await assertConfirmed(call.caller)
  const amount = centsToMicro(amount_cents)
  const added = await bookOnce(deps, call, { owner, ref, kind: 'adjust', amount_cents, expiresAt: null }, (tx) =>
    deps.billing.adjust(tx, { owner: owner.scope, amount, ref, note }),
  )
  const after = await presentBalance(deps, read, owner)
  return { ...after, amount_cents, ref, already: !added, object: 'credit_adjustment' }
}

type Booking = {
  owner: Owner
  ref: string
  kind: 'grant' | 'adjust'
  amount_cents: number
  expiresAt: number | null
}

/** False when the reference was already booked. Throws 409 when it was booked with another amount. */
function bookOnce(
  { store, billing, audit }: Deps,
  call: By,
  { owner: { scope }, ref, kind, amount_cents, expiresAt }: Booking,
  book: (tx: Tx) => Promise<boolean>,
): Promise<boolean> {
  return store.write(async (tx) => {
    const added = await book(tx)
    if (!added) {
      const booked = await billing.amountOf(tx, { owner: scope, ref, kind })
      if (booked !== centsToMicro(amount_cents)) throw billingErrors.refAlreadyUsed(ref)
      return false
    }
    await audit.record(tx, call, {
      action: kind === 'grant' ? 'credits.granted' : 'credits.adjusted',
      entityType: 'billing',
      entityId: null,
      scope,
      input: { metadata: { amount_cents, ref, ...(expiresAt === null ? {} : { expires_at: iso(expiresAt) }) } },
    })
    return true
  })
}

/** An owner's ledger, newest first, each row with the balance after it. */
async function ledger({ store }: Deps, _call: By, query: LedgerQuery): Promise<Page<LedgerRow>> {
  const { scope } = await ownerToRead(store.read, query.owner)
  const page = await listLedger(store.read, scope, query.limit ?? DEFAULT_LIMIT, query)
  return mapPage(page, ({ id, at, kind, ref, amount, balance, note }) => ({
    id,
    at: iso(at),
    kind,
    ref,
    amount_cents: microToCents(amount),
    balance_cents: microToCents(balance),
    note,
  }))
}

/** Creates a code that completes one checkout of its amount. Only this response contains the code. */
async function createCode({ accountBilling }: Deps, call: By, input: NewCode): Promise<GrantCode> {
  const validMs = input.valid_seconds === undefined ? CODE_MS : input.valid_seconds * 1000
  const params = { amountCents: input.amount_cents, validMs, note: input.note ?? call.caller.reason }
  const { code, expiresAt } = await accountBilling.byHand.createCode(call, params)
  return { object: 'grant_code', code, amount_cents: input.amount_cents, expires_at: iso(expiresAt) }
}

/** Sets caps on all spending of an owner. Null removes a cap, omitted members stay unchanged. */
async function setCaps(
  { store, accountBilling, audit }: Deps,
  call: By,
  { owner: ref, ...caps }: NewCaps,
): Promise<BillingLimits> {
  const { scope } = await findOwner(store.read, ref)
  const about = { action: 'billing.limits_updated', entityType: 'billing', entityId: null, scope } as const
  return accountBilling.limits.setCaps(scope, caps, (tx, fields) =>
    audit.record(tx, call, { ...about, input: { fields } }),
  )
}

async function presentBalance(
  { billing }: Deps,
  reader: Reader,
  { scope, name }: Owner,
): Promise<Omit<Balance, 'object'>> {
  const wallet = await billing.balance(reader, scope)
  return {
    id: scope,
    owner: name,
    balance_cents: microToCents(wallet.balance),
    held_cents: microToCents(wallet.held),
    available_cents: microToCents(wallet.available),
    expiring: (await billing.expiringGrants.of(reader, scope)).map(({ remaining, expiresAt }) => ({
      amount_cents: microToCents(remaining),
      expires_at: iso(expiresAt),
    })),
  }
}

/** Compares balances with the ledger. */
async function compare({ billing: { reconciliation } }: Deps, _call: By): Promise<Reconciliation> {
  const differences = await reconciliation.differences()
  return reconciled(differences.map((difference) => ({ ...facts(difference), applied: false })))
}

/** Corrects every correctable wallet. Each correction has its own transaction and is recorded in the owner's chain. */
async function apply({ audit, billing: { reconciliation } }: Deps, call: By): Promise<Reconciliation> {
  const shown: Reconciliation['differences'] = []
  for (const found of await reconciliation.differences()) {
    const applied = await reconciliation.apply(found.owner, (tx, difference) => {
      const { id: scope, ...metadata } = facts(difference)
      const about = { action: 'credits.reconciled', entityType: 'billing', entityId: null } as const
      return audit.record(tx, call, { ...about, scope, input: { metadata } })
    })
    shown.push({ ...facts(applied ?? found), applied: applied !== null })
  }
  return reconciled(shown)
}

const reconciled = (differences: Reconciliation['differences']): Reconciliation => ({
  object: 'credit_reconciliation',
  ok: differences.every(({ applied }) => applied),
  differences,
})

const facts = ({ owner, balance, held, entries, open }: Difference) => ({
  id: owner,
  balance_cents: balance === null ? null : microToCents(balance),
  ledger_cents: microToCents(entries),
  held_cents: held === null ? null : microToCents(held),
  open_cents: microToCents(open),
})
