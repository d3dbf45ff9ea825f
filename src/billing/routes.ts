import { Elysia } from 'elysia'
import type { Exchange } from '../http/context'
import type { Downloads } from '../http/download'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { PAGE_HEADERS } from '../kernel/html'
import { pageAs } from '../kernel/page'
import { checked, checkedQuery, t } from '../kernel/schema'
import type { LimitService } from './limits'
import { BillingLimits, LimitsPatch, LimitsQuery } from './limits-schema'
import type { Receive } from './payments/intake'
import type { Pages, RenderedPage } from './payments/pages'
import { Checkout, NewCheckout, NewPortal, Portal, Received } from './payments/schema'
import type { PaymentService } from './payments/service'
import {
  exportLedger,
  LEDGER_HEADERS,
  LedgerExport,
  LedgerExportQuery,
  LedgerPage,
  LedgerQuery,
  Month,
  readLedger,
  readStatement,
  Statement,
  type StatementDeps,
} from './statements'

type Deps = {
  limits: LimitService
  payments: PaymentService & { receive: Receive }
  statements: StatementDeps
}

/** `/billing` (docs/api.md 18.2). */
export const billingRoutes = ({ limits, payments, statements }: Deps, download: Downloads, guard: Guard) =>
  new Elysia({ prefix: '/billing', tags: ['Billing'] })
    .use(guard)
    .get('/limits', (context) => limits.get(toCall(context), context.query.scope), {
      scope: 'billing',
      query: checkedQuery(LimitsQuery),
      response: { 200: answer(BillingLimits), ...errors(400, 401, 403, 429) },
      detail: { summary: 'Read the spending caps, low-balance threshold, automatic top-up and spending so far' },
    })
    .patch('/limits', (context) => limits.update(toCall(context), context.body), {
      scope: 'billing',
      body: checked(LimitsPatch, { nulls: 'refused' }),
      response: { 200: answer(BillingLimits), ...errors(400, 401, 403, 409, 429) },
      detail: {
        summary: 'Change spending caps, threshold and automatic top-up; omitted members stay, null clears a cap',
      },
    })
    .get(
      '/ledger',
      async (context) => pageAs('entries', await readLedger(statements, toCall(context), context.query)),
      {
        scope: 'billing',
        query: checkedQuery(LedgerQuery),
        response: { 200: answer(LedgerPage), ...errors(400, 401, 403, 429) },
        detail: {
          summary: 'List what came in and went out, newest first, with the balance after each entry',
          description: 'A page can have fewer entries than `limit` while `has_more` is true. Follow `next_cursor`.',
        },
      },
    )
    .get(
      '/ledger/export',
      (context) => {
        const { query, exchange, request, route } = context
        const source = exportLedger(statements, toCall(context), query)
        return download({ source, exchange, request, route, headers: LEDGER_HEADERS[query.format] })
      },
      {
        scope: 'billing',
        timeLimit: 'own',
        query: checkedQuery(LedgerExportQuery),
        response: { 200: answer(LedgerExport), ...errors(400, 401, 403, 429) },
        detail: {
          summary: 'Export the ledger as CSV or JSON, newest first',
          description: 'At most 1,000,000 entries. The filters are those of `GET /billing/ledger`.',
          'x-download': 'text/csv',
          'x-or-json': true,
        } as object,
      },
    )
    .get(
      '/statements/:month',
      (context) => readStatement(statements, toCall(context), context.params.month, context.query.scope),
      {
        scope: 'billing',
        params: checkedQuery(Month),
        query: checkedQuery(LimitsQuery),
        response: { 200: answer(Statement), ...errors(400, 401, 403, 429, 503) },
        detail: {
          summary: 'Read the statement of a month (UTC): opening, entries by kind, closing, costs by key and engine',
        },
      },
    )
    .post('/checkout', (context) => payments.checkout(toCall(context), context.body), {
      scope: 'billing',
      idempotent: true,
      body: checked(NewCheckout),
      response: { 200: answer(Checkout), ...errors(400, 401, 403, 409, 429, 503) },
      detail: { summary: 'Open a checkout to buy credit' },
    })
    .post('/portal', (context) => payments.portal(toCall(context), context.body ?? {}), {
      scope: 'billing',
      idempotent: true,
      body: checked(t.Optional(NewPortal)),
      response: { 200: answer(Portal), ...errors(400, 401, 403, 409, 429, 503) },
      detail: { summary: 'Open the portal for payment methods and receipts' },
    })
    .post(
      '/webhook',
      async ({ body, request, exchange }) => {
        await payments.receive(body as Uint8Array, request.headers.get('stripe-signature'), exchange.requestId)
        return { received: true as const }
      },
      {
        open: true,
        raw: true,
        response: { 200: answer(Received), ...errors(400, 413, 415, 503) },
        detail: { summary: 'Receive events of the payment processor, authenticated by its signature' },
      },
    )

type PageContext = { exchange: Exchange; set: { status?: number | string; headers: Record<string, unknown> } }

/** The billing pages of this server: no script, no cookie, one form (docs/operating.md 5.1). */
export const billingPageRoutes = (pages: Pages, guard: Guard) =>
  new Elysia({ prefix: '/billing', detail: { hide: true } })
    .use(guard)
    .get('/checkout/:id', async (context) => render(context, await pages.checkout(context.params.id)), { open: true })
    .post(
      '/checkout/:id',
      async (context) => {
        const { code = '' } = context.body as Record<string, string>
        const rendered = await pages.redeem(context.params.id, code, context.exchange.requestId)
        return rendered ? render(context, rendered) : redirectToSelf(context)
      },
      { open: true, form: true },
    )
    .get('/portal/:token', async (context) => render(context, await pages.portal(context.params.token)), {
      open: true,
      secretPath: true,
    })

function render({ set }: PageContext, { status, page }: RenderedPage): string {
  Object.assign(set.headers, PAGE_HEADERS)
  set.status = status
  return page
}

/** Redirects to the same page by GET after the form, so that a reload sends nothing. */
function redirectToSelf({ set, exchange }: PageContext): string {
  Object.assign(set.headers, PAGE_HEADERS, { location: exchange.path })
  set.status = 303
  return ''
}
