import { iso } from '../../kernel/clock'
import { html, type Markup, page } from '../../kernel/html'
import { microToCents } from '../../kernel/money'
import type { Balance } from '../schema'
import { dollars } from './errors'
import type { PurchaseRow } from './table'

/** Checkout page without a processor: the amount, the owner, and a field for the code. */
export function checkoutPage(row: PurchaseRow, ownerName: string, problem: string | null = null): string {
  return page(
    `Credit for ${ownerName}`,
    html`<h1>Credit for ${ownerName}</h1>
<p class="sum">${dollars(row.amount_cents)}</p>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
${row.state === 'open' ? (row.provider === 'manual' ? codeForm(row) : waiting) : ended(row)}`,
  )
}

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

/** Portal page without a processor: the balance and past purchases. */
export function portalPage(
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

/** The page for every invalid address; the same text whatever the reason. */
export const notFoundPage = (): string =>
  page(
    'Not found',
    html`<h1>Nothing here</h1>
<p>This link is unknown or has expired. Go back to the page that you came from and start again.</p>`,
  )
