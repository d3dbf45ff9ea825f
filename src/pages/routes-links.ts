import { Elysia } from 'elysia'
import { type AuthService, type OpenInvitation, type SignInLinks, sessionCookie } from '../accounts'
import type { Org } from '../accounts/orgs/schema'
import { callOf } from '../http/context'
import { statusOf } from '../http/envelope'
import { type Guard, visitOf } from '../http/guard'
import type { Call, TenantCaller } from '../kernel/caller'
import { AppError } from '../kernel/errors'
import { pageHeaders } from '../kernel/html'
import type { Assets } from './assets'
import { invitationOverPage, invitationPage, linkOverPage, linkPage, linkStartPage, mailedPage } from './link-page'
import { goTo } from './routes-accounts'
import type { Entering } from './routes-entering'

type PageDeps = { base: string; entering: Pick<Entering, 'fromHere' | 'person'>; assets: Assets; secure: boolean }
type Deps = PageDeps & { links: Pick<SignInLinks, 'look' | 'redeem' | 'ask' | 'canMail'> }

const LINK_HEADERS = { ...pageHeaders({ script: 'one' }), 'referrer-policy': 'same-origin' }
const PLAIN_HEADERS = { ...pageHeaders(), 'referrer-policy': 'same-origin' }

const placeOf = async (base: string, assets: Assets) => ({
  base,
  script: `${base}/assets/${(await assets()).nameOf.link}`,
})

/** `/sign-in/link` and `/sign-in/mail`: use and request sign-in links. */
export const linkPageRoutes = ({ links, base, entering, assets, secure }: Deps, guard: Guard) => {
  return new Elysia({ prefix: '/sign-in', detail: { hide: true } })
    .use(guard)
    .get(
      '/link',
      async ({ set }) => {
        Object.assign(set.headers, LINK_HEADERS)
        return linkStartPage(await placeOf(base, assets))
      },
      { open: true },
    )
    .post(
      '/link',
      async (context) => {
        const { set, body, request } = context
        entering.fromHere(request)
        const { token = '', step, new_password: chosen = '' } = body as Record<string, string>
        Object.assign(set.headers, LINK_HEADERS)
        let problem: string | null = null
        if (step === 'sign-in' || step === 'password') {
          try {
            const choice = step === 'password' ? { new_password: chosen } : {}
            const { session, leadsTo } = await links.redeem(visitOf(context), { token, ...choice })
            set.headers['set-cookie'] = sessionCookie(session.session_token, secure)
            return goTo(set, base + leadsTo)
          } catch (error) {
            if (!(error instanceof AppError)) throw error
            set.status = statusOf(error)
            problem = error.message
          }
        }
        const at = await placeOf(base, assets)
        const found = await links.look(token)
        if (found) return linkPage({ ...found, token, problem, ...at })
        set.status = 401
        return linkOverPage(links.canMail(), at)
      },
      { open: true, form: true },
    )
    .post(
      '/mail',
      async (context) => {
        const { set, body, request } = context
        entering.fromHere(request)
        const email = (body as Record<string, string>).email?.slice(0, 254) ?? ''
        await links.ask(visitOf(context), { email })
        Object.assign(set.headers, PLAIN_HEADERS)
        return mailedPage(base, email)
      },
      { open: true, form: true },
    )
}

type InvitationDeps = PageDeps & {
  auth: Pick<AuthService, 'signIn' | 'signUp' | 'me'>
  invitations: {
    look(token: string): Promise<OpenInvitation | null>
    accept(call: Call, token: string): Promise<{ organization: Org }>
  }
  authenticate(headers: { authorization: null; cookie: string }): TenantCaller | Promise<TenantCaller>
}

/** `/console/invitation`: the invited account accepts an invitation. The account may be created here. */
export const invitationPageRoutes = (deps: InvitationDeps, guard: Guard) => {
  const { auth, invitations, authenticate, base, entering, assets, secure } = deps
  return new Elysia({ prefix: '/console', detail: { hide: true } })
    .use(guard)
    .get(
      '/invitation',
      async ({ set }) => {
        Object.assign(set.headers, LINK_HEADERS)
        return linkStartPage(await placeOf(base, assets))
      },
      { open: true },
    )
    .post(
      '/invitation',
      async (context) => {
        const { set, body, exchange, request, route } = context
        entering.fromHere(request)
        Object.assign(set.headers, LINK_HEADERS)
        const { token = '', step, password = '', name = '' } = body as Record<string, string>
        const at = await placeOf(base, assets)
        const found = await invitations.look(token)
        if (!found) {
          set.status = 404
          return invitationOverPage(at)
        }
        const call = await entering.person({ exchange, request, route })
        const isSignedIn = call !== null && (await auth.me(call)).user.email === found.email
        let problem: string | null = null
        try {
          if (step === 'join' && isSignedIn) return await joined(call)
          if (step === 'sign-in' || step === 'sign-up') return await joined(await entered())
        } catch (error) {
          if (!(error instanceof AppError)) throw error
          set.status = statusOf(error)
          problem = error.message
        }
        return invitationPage({ found, token, problem, isSignedIn, ...at })

        async function joined(by: Call): Promise<string> {
          const { organization } = await invitations.accept(by, token)
          return goTo(set, `${base}/console/${organization.slug}`)
        }

        /** The call of the invited account, signed in with the submitted password. */
        async function entered(): Promise<Call> {
          const { email } = found!
          const credentials = { email, password: password.slice(0, 1_000) }
          const { session_token } =
            step === 'sign-in'
              ? await auth.signIn(visitOf(context), credentials)
              : await auth.signUp(visitOf(context), { ...credentials, name: name.trim().slice(0, 128) || null }, true)
          const cookie = sessionCookie(session_token, secure)
          exchange.caller = await authenticate({ authorization: null, cookie: cookie.split(';')[0]! })
          set.headers['set-cookie'] = cookie
          return callOf(exchange, route, request.signal)
        }
      },
      { open: true, form: true },
    )
}
