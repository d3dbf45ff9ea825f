import type { OwnerScope } from '../../kernel/caller'
import { AppError } from '../../kernel/errors'
import { OrgId, UserId } from '../../kernel/ids'
import type { Store } from '../../kernel/store'
import type { OrgService } from '../../orgs'
import type { Billing } from '../service'
import type { ByHand } from './by-hand'
import type { PageLinks } from './page-links'
import { purchaseById, recentPurchases } from './repository'
import { PurchaseId } from './schema'
import { checkoutPage, notFoundPage, portalPage } from './views'

type Deps = { store: Store; orgs: OrgService; billing: Pick<Billing, 'balance'>; byHand: ByHand; links: PageLinks }

/** A page and its status. */
export type RenderedPage = { status: 200 | 400 | 404; page: string }

export type Pages = ReturnType<typeof createPages>

const MOST_LISTED = 50

/** The HTML billing pages of this server. They are for browsers, so errors are pages too. */
export function createPages({ store, orgs, billing, byHand, links }: Deps) {
  return { checkout, redeem, portal }

  async function checkout(id: string, problem: string | null = null): Promise<RenderedPage> {
    const [row] = PurchaseId.is(id) ? await purchaseById(store.read, { id }) : []
    if (row?.kind !== 'checkout') return { status: 404, page: notFoundPage() }
    return { status: problem ? 400 : 200, page: checkoutPage(row, await nameOf(row.owner), problem) }
  }

  /** Returns null when the code was accepted; the browser then reloads the page. */
  async function redeem(id: string, code: string, requestId: string): Promise<RenderedPage | null> {
    try {
      await byHand.redeem(id, code.trim(), requestId)
      return null
    } catch (error) {
      if (error instanceof AppError && error.kind === 'conflict') return checkout(id, error.message)
      if (error instanceof AppError && error.kind === 'missing') return { status: 404, page: notFoundPage() }
      throw error
    }
  }

  async function portal(token: string): Promise<RenderedPage> {
    const link = links.readPortal(token)
    if (!link) return { status: 404, page: notFoundPage() }
    const purchases = await recentPurchases(store.read, { owner: link.owner, limit: MOST_LISTED })
    const balance = await billing.balance(store.read, link.owner)
    return { status: 200, page: portalPage(await nameOf(link.owner), balance, purchases, link.back) }
  }

  async function nameOf(owner: OwnerScope): Promise<string> {
    const id = owner.slice(owner.indexOf(':') + 1)
    if (owner.startsWith('org:') && OrgId.is(id)) return (await orgs.find(store.read, id)).name
    const user = UserId.is(id) ? await orgs.user(store.read, id) : undefined
    return user?.name ?? user?.email ?? 'this account'
  }
}
