import type { OrgService } from '../../accounts'
import type { OwnerScope } from '../../kernel/caller'
import { iso } from '../../kernel/clock'
import { AppError } from '../../kernel/errors'
import { html, type Markup, page } from '../../kernel/html'
import { OrgId, UserId } from '../../kernel/ids'
import { microToCents } from '../../kernel/money'
import type { Store } from '../../kernel/store'
import type { Balance } from '../schema'
import type { Billing } from '../service'
import type { ByHand } from './by-hand'
import { dollars } from './errors'
import type { PageLinks } from './page-links'
import { purchaseRows, recentPurchases } from './repository'
import { PurchaseId } from './schema'
import type { PurchaseRow } from './table'

const codeForm = (
  row: PurchaseRow,
): Markup => html`<p>Pay as agreed with the operator of this server. They give you a code, or complete this checkout
themselves. Its number is <code>${row.id}</code>.</p>
<form method="post">
<label for="code">Code</label>
<input id="code" name="code" required maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false">
<button>Add credit</button>
</form>
${row.cancel_url && html`<p><a href="${row.cancel_url}" rel="noopener noreferrer">Back without paying</a></p>`}`

const waiting = html`<p>The payment has not been confirmed yet. Load this page again in a moment.</p>`

const ended = (row: PurchaseRow): Markup =>
  row.state === 'paid'
    ? html`<p>Paid. The credit has been added.</p>
${row.success_url && html`<p><a href="${row.success_url}" rel="noopener noreferrer">Continue</a></p>`}`
    : html`<p>This checkout is ${row.state}. ${row.error} Nothing was charged.</p>
${row.cancel_url && html`<p><a href="${row.cancel_url}" rel="noopener noreferrer">Go back</a></p>`}`

/** The page for every invalid address; the same text whatever the reason. */
const notFoundPage = (): string =>
  page(
    'Not found',
    html`<h1>Nothing here</h1>
<p>This link is unknown or has expired. Go back to the page that you came from and start again.</p>`,
  )

type Deps = { store: Store; orgs: OrgService; billing: Pick<Billing, 'balance'>; byHand: ByHand; links: PageLinks }

/** A page and its status. */
export type RenderedPage = { status: 200 | 400 | 404; page: string }

export type Pages = ReturnType<typeof createPages>

const MAX_LISTED = 50

/** The HTML billing pages of this server. They are for browsers, so errors are pages too. */
export function createPages({ store, orgs, billing, byHand, links }: Deps) {
  return { checkout, redeem, portal }

  async function checkout(id: string, problem: string | null = null): Promise<RenderedPage> {
    const row = PurchaseId.is(id) ? await purchaseRows.first(store.read, { id }) : undefined
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
    const purchases = await recentPurchases(store.read, { owner: link.owner, state: 'paid' }, MAX_LISTED)
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

/** Checkout page without a processor: the amount, the owner, and a field for the code. */
function checkoutPage(row: PurchaseRow, ownerName: string, problem: string | null = null): string {
  return page(
    `Credit for ${ownerName}`,
    html`<h1>Credit for ${ownerName}</h1>
<p class="sum">${dollars(row.amount_cents)}</p>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
${row.state === 'open' ? (row.provider === 'manual' ? codeForm(row) : waiting) : ended(row)}`,
  )
}

/** Portal page without a processor: the balance and past purchases. */
function portalPage(
  ownerName: string,
  balance: Balance,
  purchases: readonly PurchaseRow[],
  back: string | null,
): string {
  const rows = purchases.map(
    (
      row,
    ) => html`<tr><td>${iso(row.ended_at ?? row.created_at).slice(0, 10)}</td><td>${dollars(row.amount_cents)}</td></tr>
`,
  )
  return page(
    `Billing of ${ownerName}`,
    html`<h1>Billing of ${ownerName}</h1>
<p class="sum">${dollars(microToCents(balance.available))}</p>
<p>is available now; ${dollars(microToCents(balance.held))} is held by calls that are running.</p>
<table>
<caption>Credit bought</caption>
<thead><tr><th scope="col">Day</th><th scope="col">Amount</th></tr></thead>
<tbody>
${rows.length ? rows : html`<tr><td>None yet</td><td></td></tr>`}
</tbody>
</table>
${back && html`<p><a href="${back}" rel="noopener noreferrer">Back</a></p>`}`,
  )
}
