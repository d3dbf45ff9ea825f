import { Elysia } from 'elysia'
import { type SignInLinks, sessionCookie } from '../accounts'
import { statusOf } from '../http/envelope'
import { type Guard, visitOf } from '../http/guard'
import { AppError } from '../kernel/errors'
import { pageHeaders } from '../kernel/html'
import type { Assets } from './assets'
import { linkOverPage, linkPage, linkStartPage, mailedPage } from './link-page'
import { goTo } from './routes-accounts'
import type { Entering } from './routes-entering'

type Deps = {
  links: Pick<SignInLinks, 'look' | 'redeem' | 'ask' | 'canMail'>
  entering: Pick<Entering, 'fromHere'>
  assets: Assets
  secure: boolean
}

const LINK_HEADERS = { ...pageHeaders({ script: 'one' }), 'referrer-policy': 'same-origin' }
const PLAIN_HEADERS = { ...pageHeaders(), 'referrer-policy': 'same-origin' }

/** `/sign-in/link` and `/sign-in/mail`: links that sign in, and how to get one (console 9.6). */
export const linkPageRoutes = ({ links, entering, assets, secure }: Deps, guard: Guard) => {
  const scriptOf = async () => `/assets/${(await assets()).nameOf.link}`
  return new Elysia({ prefix: '/sign-in', detail: { hide: true } })
    .use(guard)
    .get(
      '/link',
      async ({ set }) => {
        Object.assign(set.headers, LINK_HEADERS)
        return linkStartPage(await scriptOf())
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
            return goTo(set, leadsTo)
          } catch (error) {
            if (!(error instanceof AppError)) throw error
            set.status = statusOf(error)
            problem = error.message
          }
        }
        const script = await scriptOf()
        const found = await links.look(token)
        if (found) return linkPage({ ...found, token, problem, script })
        set.status = 401
        return linkOverPage(links.canMail(), script)
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
        return mailedPage(email)
      },
      { open: true, form: true },
    )
}
