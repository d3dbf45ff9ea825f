import { actingUserOf, findOwner, type Owner } from '../accounts'
import type { AuditLog } from '../audit'
import { type AccountBilling, type Billing, refAlreadyUsed } from '../billing'
import type { Call, OperatorCaller } from '../kernel/caller'
import { type Clock, iso, isoOrNull } from '../kernel/clock'
import { randomBase62 } from '../kernel/crypto'
import { invalidInput } from '../kernel/errors'
import { centsToMicro, microToCents } from '../kernel/money'
import type { Reader, Store } from '../kernel/store'
import { endInThePast } from './errors'
import type { Balance, Grant, NewGrant } from './schema'

type Deps = {
  store: Store
  billing: Pick<Billing, 'balance' | 'grant' | 'amountOf' | 'expiringGrants'>
  clock: Clock
  accountBilling: Pick<AccountBilling, 'byHand'>
  audit: AuditLog
}

/** Credit of any owner, for operators (dx 2.16). */
export function createCreditVerbs({ store, billing, accountBilling, audit, clock }: Deps) {
  return { balance, grant, balanceOf }

  /** An owner's balance, the part on hold, and the available rest. */
  async function balance(_call: Call<OperatorCaller>, ref?: string): Promise<Balance> {
    const owner = await findOwner(store.read, ref)
    return { ...(await presentBalance(store.read, owner)), object: 'balance' }
  }

  /** The balance after a correction, by owner scope. */
  async function balanceOf(scope: string): Promise<Omit<Balance, 'object'>> {
    return presentBalance(store.read, await findOwner(store.read, scope))
  }

  /** Adds credit, once per reference, or completes an open checkout. */
  async function grant(call: Call<OperatorCaller>, { amount_cents, checkout, ...params }: NewGrant): Promise<Grant> {
    if (checkout !== undefined) return completeCheckout(call, checkout, params.expires_at)
    if (amount_cents === undefined)
      throw invalidInput('amount_cents', '"amount_cents" is missing. Send the amount in cents.')
    const input = { ...params, amount_cents, expiresAt: expiryOf(params.expires_at) }
    const owner = await findOwner(store.read, input.owner)
    actingUserOf(owner)
    const ref = `grant_${input.idempotency_key ?? randomBase62(24)}`
    const added = await addOnce(call, owner, ref, input)
    const after = await presentBalance(store.read, owner)
    return {
      ...after,
      object: 'credit_grant',
      amount_cents,
      expires_at: isoOrNull(input.expiresAt),
      ref,
      already: !added,
    }
  }

  /** Epoch ms. Throws 400 for a time in the past. */
  function expiryOf(at: string | null | undefined): number | null {
    if (!at) return null
    if (Date.parse(at) <= clock.now()) throw endInThePast(at)
    return Date.parse(at)
  }

  async function completeCheckout(
    call: Call<OperatorCaller>,
    checkout: string,
    end: string | null | undefined,
  ): Promise<Grant> {
    if (end)
      throw invalidInput(
        'expires_at',
        'Credit bought in a checkout does not expire. Leave out "expires_at" or "checkout".',
      )
    const { purchase, already } = await accountBilling.byHand.complete(call, checkout)
    const after = await balanceOf(purchase.owner)
    const { amount_cents, id } = purchase
    return { ...after, object: 'credit_grant', amount_cents, expires_at: null, ref: `purchase_${id}`, already }
  }

  function addOnce(
    call: Call<OperatorCaller>,
    owner: Owner,
    ref: string,
    input: NewGrant & { amount_cents: number; expiresAt: number | null },
  ): Promise<boolean> {
    const { amount_cents, expiresAt, note = call.caller.reason } = input
    return store.write(async (tx) => {
      const amount = centsToMicro(amount_cents)
      const added = await billing.grant(tx, { owner: owner.scope, amount, ref, kind: 'grant', note, expiresAt })
      if (!added && (await billing.amountOf(tx, { owner: owner.scope, ref, kind: 'grant' })) !== amount) {
        throw refAlreadyUsed(ref)
      }
      if (!added) return false
      await audit.record(tx, call, {
        action: 'credits.granted',
        entityType: 'billing',
        entityId: null,
        scope: owner.scope,
        input: { metadata: { amount_cents, ref, ...(expiresAt === null ? {} : { expires_at: iso(expiresAt) }) } },
      })
      return true
    })
  }

  async function presentBalance(reader: Reader, { scope, name }: Owner): Promise<Omit<Balance, 'object'>> {
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
}
