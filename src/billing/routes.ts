import { Elysia } from 'elysia'
import type { Exchange } from '../http/context'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { PAGE_HEADERS } from '../kernel/html'
import { checked, checkedQuery, t } from '../kernel/schema'
import type { LimitService } from './limits'
import { BillingLimits, LimitsPatch, LimitsQuery } from './limits-schema'
import type { Receive } from './payments/intake'
import type { Pages, RenderedPage } from './payments/pages'
import { Checkout, NewCheckout, NewPortal, Portal, Received } from './payments/schema'
import type { PaymentService } from './payments/service'

type Deps = { limits: LimitService; payments: PaymentService & { receive: Receive } }

/** `/billing` (contract 18.2). */
export const billingRoutes = ({ limits, payments }: Deps, guard: Guard) =>
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
      body: checked(LimitsPatch),
      response: { 200: answer(BillingLimits), ...errors(400, 401, 403, 409, 429) },
      detail: {
        summary: 'Change spending caps, threshold and automatic top-up; omitted members stay, null clears a cap',
      },
    })
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

/** The billing pages of this server: no script, no cookie, one form (dx 5.1). */
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
