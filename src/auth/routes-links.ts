import { Elysia } from 'elysia'
import { type Exchange, routeName } from '../http/context'
import { readForm } from '../http/small-body'
import { PAGE_HEADERS } from '../kernel/html'
import type { SignInLinks } from './links'
import { sessionCookie } from './rules'

const MAX_FORM_BYTES = 4 * 1024

/** `/sign-in/{token}`: pages outside the API, for browsers (dx 2.9). */
export const signInPageRoutes = (links: SignInLinks, { secure }: { secure: boolean }) =>
  new Elysia({ prefix: '/sign-in', detail: { hide: true } })
    .decorate('exchange', null as unknown as Exchange)
    .get('/:token', async ({ params, set }) => {
      const { status, page } = await links.show(params.token)
      Object.assign(set.headers, PAGE_HEADERS)
      set.status = status
      return page
    })
    .post(
      '/:token',
      async ({ params, set, body, exchange, request, route }) => {
        const { password = '' } = body as Record<string, string>
        const { requestId, method } = exchange
        const visit = { requestId, route: routeName(method, route), signal: request.signal, ip: exchange.ip() }
        const { status, page, session } = await links.redeem(visit, params.token, password)
        Object.assign(set.headers, PAGE_HEADERS)
        if (session) set.headers['set-cookie'] = sessionCookie(session.token, secure)
        set.status = status
        return page
      },
      { parse: ({ request }) => readForm(request, MAX_FORM_BYTES) },
    )
