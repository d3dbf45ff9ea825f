import type { OrgService } from '../../accounts'
import type { AuditLog } from '../../audit'
import { storeAnswer } from '../../idempotency'
import type { Call, OwnerScope } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { OrgId, type UserId } from '../../kernel/ids'
import type { Store, Tx } from '../../kernel/store'
import { type BillingScope, payingOwner, scopeOf } from '../scope'
import type { PaymentDriver } from './driver'
import { paymentErrors } from './errors'
import type { PageLinks } from './page-links'
import { customerRows, newPurchase, purchaseRows, recentPurchases } from './repository'
import type { NewCheckout, NewPortal, PurchaseId } from './schema'
import type { PurchaseRow } from './table'

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  orgs: OrgService
  driver: PaymentDriver
  links: PageLinks
  /** Throws 400 `url_blocked`. */
  returnUrl(text: string, field: string): string
}

export type PaymentService = ReturnType<typeof createPayments>

/** Buying credit and managing payment methods (docs/api.md 18.2). */
export function createPayments({ store, clock, audit, orgs, driver, links, returnUrl }: Deps) {
  return { checkout, portal }

  /** Opens a checkout; the credit is added once it is paid. */
  async function checkout(call: Call, input: NewCheckout) {
    const [successUrl, cancelUrl] = (['success_url', 'cancel_url'] as const).map((field) =>
      input[field] ? returnUrl(input[field], field) : null,
    )
    const owner = await payingOwner(orgs, store.read, call.caller, input.scope)
    const { userId } = call.caller
    const purchase = newPurchase(clock.now(), {
      ...{ owner, kind: 'checkout', provider: driver.name, amount_cents: input.amount_cents, user_id: userId },
      ...{ success_url: successUrl, cancel_url: cancelUrl },
    })
    await store.write(async (tx) => {
      await purchaseRows.insert(tx, purchase)
      await audit.record(tx, call, {
        action: 'billing.checkout_created',
        entityType: 'billing',
        entityId: purchase.id,
        scope: owner,
        input: { metadata: { amount_cents: input.amount_cents } },
      })
    })
    const { url, session } = await openAtDriver(purchase)
    return store.write(async (tx) => {
      if (session) await saveDriverAnswer(tx, purchase.id, { session_ref: session })
      return storeAnswer(tx, call, { checkout_url: url, scope: scopeOf(owner), checkout_id: purchase.id })
    })
  }

  async function openAtDriver(purchase: PurchaseRow) {
    const page = links.checkoutUrl(purchase.id)
    try {
      return await driver.openCheckout({
        purchaseId: purchase.id,
        customer: await customerId(purchase.owner, purchase.user_id!),
        amountCents: purchase.amount_cents,
        successUrl: purchase.success_url ?? page,
        cancelUrl: purchase.cancel_url ?? page,
      })
    } catch (error) {
      const end = { state: 'failed', error: 'The checkout could not be opened.', ended_at: clock.now() } as const
      await store.write((tx) => saveDriverAnswer(tx, purchase.id, end))
      throw error
    }
  }

  /** Stores the processor's answer on a purchase, without changing an outcome that arrived meanwhile. */
  async function saveDriverAnswer(tx: Tx, id: PurchaseId, facts: Partial<PurchaseRow>): Promise<void> {
    const row = await purchaseRows.lock(tx, { id })
    const { session_ref = row?.session_ref ?? null } = facts
    await purchaseRows.update(tx, { id }, { ...(row?.state === 'open' && facts), session_ref })
  }

  /**
   * The URL of the page with payment methods and receipts. Throws 400 `url_blocked`, `org_required`, 403 `forbidden`,
   * 409 `team_billing_setup_required` for an organization without a payment method.
   */
  async function portal(call: Call, input: NewPortal): Promise<{ portal_url: string; scope: BillingScope }> {
    const backUrl = input.return_url ? returnUrl(input.return_url, 'return_url') : null
    const owner = await payingOwner(orgs, store.read, call.caller, input.scope)
    const scope = scopeOf(owner)
    const url =
      driver.name === 'manual' ? await ownPortalUrl(owner, backUrl) : await driverPortalUrl(call, owner, backUrl)
    if (!url) throw paymentErrors.teamSetupRequired()
    return store.write(async (tx) => {
      const about = { entityType: 'billing', entityId: null, scope: owner } as const
      await audit.record(tx, call, { action: 'billing.portal_opened', ...about })
      return storeAnswer(tx, call, { portal_url: url, scope })
    })
  }

  /** A person's customer is created here; a team's is created with its first checkout. */
  async function driverPortalUrl(call: Call, owner: OwnerScope, backUrl: string | null): Promise<string | null> {
    const isTeam = scopeOf(owner) === 'org'
    const known = await customerRows.first(store.read, { owner, provider: driver.name })
    const name = known?.customer ?? (isTeam ? null : await customerId(owner, call.caller.userId))
    return driver.openPortal(name, backUrl ?? links.origin(), isTeam)
  }

  /** Without a processor: a page of this server; null for a team that has bought nothing yet. */
  async function ownPortalUrl(owner: OwnerScope, backUrl: string | null): Promise<string | null> {
    const purchases = await recentPurchases(store.read, { owner, state: 'paid' }, 1)
    return scopeOf(owner) === 'org' && !purchases.length ? null : links.portalUrl(owner, backUrl)
  }

  /** The processor's customer of an owner, created on first use. */
  async function customerId(owner: OwnerScope, userId: UserId): Promise<string | null> {
    const account = { owner, provider: driver.name }
    const known = await customerRows.first(store.read, account)
    if (known) return known.customer
    const created = await driver.createCustomer({ owner, ...(await receiptRecipient(owner, userId)) })
    if (!created) return null
    // Two at once hear of the same one: the processor knows the owner by its idempotency key.
    await store.write((tx) => customerRows.add(tx, { ...account, customer: created }))
    return created
  }

  /** Name on the receipt (the org or the person) and the address it is sent to. */
  async function receiptRecipient(owner: OwnerScope, userId: UserId): Promise<{ email: string; name: string }> {
    const user = await orgs.user(store.read, userId)
    const orgId = owner.slice('org:'.length)
    const org = owner.startsWith('org:') && OrgId.is(orgId) ? await orgs.find(store.read, orgId) : null
    return { email: user?.email ?? '', name: org?.name ?? user?.name ?? user?.email ?? '' }
  }
}
