import { Elysia } from 'elysia'
import { routeName } from '../http/context'
import type { Guard } from '../http/guard'
import { PAGE_HEADERS } from '../kernel/html'
import type { InboxLinks } from './inbox-links'
import type { SignInLinks } from './links'
import { sessionCookie } from './rules'

/** Spread where it is used: the framework takes the options out of the object it is given. */
const PAGE = { open: true, secretPath: true } as const

/** `/sign-in/{token}`: pages outside the API, for browsers (dx 2.9). */
export const signInPageRoutes = (
  { links, inbox }: { links: SignInLinks; inbox: InboxLinks },
  guard: Guard,
  { secure }: { secure: boolean },
) =>
  new Elysia({ prefix: '/sign-in', detail: { hide: true } })
    .use(guard)
    .get(
      '/:token',
      async ({ params, set }) => {
        const { status, page } = await links.show(params.token)
        Object.assign(set.headers, PAGE_HEADERS)
        set.status = status
        return page
      },
      { ...PAGE },
    )
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
      { ...PAGE, form: true },
    )
    .get(
      '/inbox/:token',
      async ({ params, set }) => {
        const { status, page } = await inbox.show(params.token)
        Object.assign(set.headers, PAGE_HEADERS)
        set.status = status
        return page
      },
      { ...PAGE },
    )
    .post(
      '/inbox/:token',
      async ({ params, set, exchange, request, route }) => {
        const { requestId, method } = exchange
        const visit = { requestId, route: routeName(method, route), signal: request.signal, ip: exchange.ip() }
        const { status, page, session } = await inbox.redeem(visit, params.token)
        Object.assign(set.headers, PAGE_HEADERS)
        if (session) set.headers['set-cookie'] = sessionCookie(session.token, secure)
        if (session) set.headers.location = '/operator'
        set.status = status
        return page
      },
      { ...PAGE, form: true },
    )
