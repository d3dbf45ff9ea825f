import type { AuditLog } from '../audit'
import type { Billing, BillingDesk } from '../billing'
import type { Call, OperatorCaller } from '../kernel/caller'
import { randomBase62 } from '../kernel/crypto'
import { invalidInput } from '../kernel/errors'
import { centsToMicro, microToCents } from '../kernel/money'
import type { Reader, Store } from '../kernel/store'
import type { OrgService } from '../orgs'
import { findOwner, type Owner, personOf } from './owner'
import type { Balance, Grant, NewGrant } from './schema'

type Deps = {
  store: Store
  orgs: OrgService
  billing: Pick<Billing, 'balance' | 'grant'>
  moneyDesk: Pick<BillingDesk, 'byHand'>
  audit: AuditLog
}

/** What operators do with anyone's credit (dx 2.16). */
export function createCreditVerbs({ store, orgs, billing, moneyDesk, audit }: Deps) {
  return { balance, grant, balanceOf }

  /** What an owner has, what running calls hold of it, and what is left. Throws 404. */
  async function balance(_call: Call<OperatorCaller>, ref?: string): Promise<Balance> {
    const owner = await findOwner(orgs, store.read, ref)
    return { ...(await read(store.read, owner)), object: 'balance' }
  }

  /** The same after a correction, by the owner's own name. */
  async function balanceOf(scope: string): Promise<Omit<Balance, 'object'>> {
    return read(store.read, await findOwner(orgs, store.read, scope))
  }

  /** Adds credit, once for each reference; or completes a checkout that waits for it. Throws 400, 404, 409. */
  async function grant(call: Call<OperatorCaller>, { amount_cents, checkout, ...order }: NewGrant): Promise<Grant> {
    if (checkout !== undefined) return completed(call, checkout)
    if (amount_cents === undefined) throw invalidInput('amount_cents', '"amount_cents" is missing. Say how much.')
    const input = { ...order, amount_cents }
    const owner = await findOwner(orgs, store.read, input.owner)
    personOf(owner)
    const ref = `grant_${input.idempotency_key ?? randomBase62(24)}`
    const added = await addOnce(call, owner, ref, input)
    const after = await read(store.read, owner)
    return { ...after, object: 'credit_grant', amount_cents: input.amount_cents, ref, already: !added }
  }

  async function completed(call: Call<OperatorCaller>, checkout: string): Promise<Grant> {
    const { purchase, already } = await moneyDesk.byHand.complete(call, checkout)
    const after = await balanceOf(purchase.owner)
    const { amount_cents, id } = purchase
    return { ...after, object: 'credit_grant', amount_cents, ref: `purchase_${id}`, already }
  }

  function addOnce(
    call: Call<OperatorCaller>,
    owner: Owner,
    ref: string,
    input: NewGrant & { amount_cents: number },
  ): Promise<boolean> {
    const { amount_cents, note = call.caller.reason } = input
    return store.write(async (tx) => {
      const amount = centsToMicro(amount_cents)
      const added = await billing.grant(tx, { owner: owner.scope, amount, ref, kind: 'grant', note })
      if (!added) return false
      await audit.record(tx, call, {
        action: 'credits.granted',
        entityType: 'billing',
        entityId: null,
        scope: owner.scope,
        input: { metadata: { amount_cents, ref } },
      })
      return true
    })
  }

  async function read(reader: Reader, { scope, name }: Owner): Promise<Omit<Balance, 'object'>> {
    const wallet = await billing.balance(reader, scope)
    return {
      id: scope,
      owner: name,
      balance_cents: microToCents(wallet.balance),
      held_cents: microToCents(wallet.held),
      available_cents: microToCents(wallet.available),
    }
  }
}
