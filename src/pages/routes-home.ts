import { Elysia } from 'elysia'
import { statusOf } from '../http/envelope'
import type { Guard } from '../http/guard'
import type { Call } from '../kernel/caller'
import { AppError, notFound } from '../kernel/errors'
import { pageHeaders } from '../kernel/html'
import { checkedQuery, t } from '../kernel/schema'
import { type HomeDeps, homePage, keyPage, type Outcome, previewPage } from './home'
import { passwordPage } from './link-page'
import { FORM_PAGE, goTo } from './routes-accounts'
import type { Context, Entering } from './routes-entering'

type Deps = HomeDeps & { entering: Entering }
type Page = Context & {
  set: { headers: Record<string, string | number | string[] | undefined>; status?: number | string }
}

const ONCE = 'It is shown only once; store it now.'
/** How long an old secret may go on, as the page of a key offers: not at all, an hour, a day. */
const GRACES = [0, 3_600, 86_400]

const Older = checkedQuery(t.Object({ older: t.Optional(t.String({ maxLength: 512 })) }))

const FRAMING = { ...pageHeaders({ frames: true }), 'referrer-policy': 'same-origin' }

/** `/home`: what a person who signed in has here; all of it works without a script. */
export function homeRoutes(deps: Deps, guard: Guard) {
  const { entering } = deps

  /** Shows a page to whoever is signed in, and the sign-in page to others. */
  async function signedIn({ set, exchange, request, route }: Page, show: (call: Call) => Promise<string>) {
    const call = await entering.person({ exchange, request, route })
    if (!call) return goTo(set, '/sign-in')
    Object.assign(set.headers, FORM_PAGE)
    return show(call)
  }

  /** What a form asks for, and the page with what came of it. */
  const changed = (page: Page, change: (call: Call) => Promise<Outcome>) =>
    signedIn(page, async (call) => {
      try {
        return await homePage(deps, call, await change(call))
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        page.set.status = statusOf(error)
        return homePage(deps, call, { problem: error.message })
      }
    })

  async function passwordForm(call: Call, problem: string | null): Promise<string> {
    const { email } = (await deps.me(call)).user
    const needsCurrent = !(await deps.password.mayOmitCurrent(call))
    return passwordPage({ email, problem, needsCurrent, canMail: deps.password.canMail })
  }

  return new Elysia({ prefix: '/home', detail: { hide: true } })
    .use(guard)
    .get(
      '',
      ({ query, set, exchange, request, route }) =>
        signedIn({ set, exchange, request, route }, (call) => homePage(deps, call, {}, query.older)),
      { open: true, query: Older },
    )
    .post(
      '/keys',
      ({ set, exchange, request, route, body }) =>
        changed({ set, exchange, request, route }, async (call) => {
          const { name: wanted = '' } = body as Record<string, string>
          const { name, key } = await deps.keys.make(call, wanted.slice(0, 128) || 'My key')
          return { note: `The key “${name}” was created. ${ONCE}`, secret: key }
        }),
      { open: true, form: true },
    )
    .get(
      '/password',
      ({ set, exchange, request, route }) =>
        signedIn({ set, exchange, request, route }, (call) => passwordForm(call, null)),
      { open: true },
    )
    .post(
      '/password',
      ({ set, exchange, request, route, body }) =>
        signedIn({ set, exchange, request, route }, async (call) => {
          const { current, new_password: wanted = '' } = body as Record<string, string>
          try {
            const input = { new: wanted, ...(current === undefined ? {} : { current: current.slice(0, 1_000) }) }
            const { ended } = await deps.password.change({ ...call, ip: exchange.ip() }, input)
            const others = ended === 0 ? '' : ` ${ended} other ${ended === 1 ? 'session' : 'sessions'} ended.`
            return await homePage(deps, call, { note: `Your password was set.${others}` })
          } catch (error) {
            if (!(error instanceof AppError)) throw error
            set.status = statusOf(error)
            return passwordForm(call, error.message)
          }
        }),
      { open: true, form: true },
    )
    .get(
      '/keys/:id',
      ({ set, exchange, request, route, params }) =>
        signedIn({ set, exchange, request, route }, async (call) => keyPage(await deps.keys.get(call, params.id))),
      { open: true },
    )
    .post(
      '/keys/:id/rotate',
      ({ set, exchange, request, route, params, body }) =>
        changed({ set, exchange, request, route }, async (call) => {
          const grace = Number((body as Record<string, string>).grace)
          const input = GRACES.includes(grace) ? { grace_period_seconds: grace } : {}
          const { name, key } = await deps.keys.rotate(call, params.id, input)
          return { note: `The key “${name}” has a new secret. ${ONCE}`, secret: key }
        }),
      { open: true, form: true },
    )
    .post(
      '/keys/:id/revoke',
      ({ set, exchange, request, route, params }) =>
        changed({ set, exchange, request, route }, async (call) => {
          const { name } = await deps.keys.get(call, params.id)
          await deps.keys.revoke(call, params.id)
          return { note: `The key “${name}” was revoked.` }
        }),
      { open: true, form: true },
    )
    .post(
      '/widgets',
      ({ set, exchange, request, route, body }) =>
        changed({ set, exchange, request, route }, async (call) => {
          const { name = '', key = '', site = '' } = body as Record<string, string>
          await deps.widgets?.make(call, {
            name: name.slice(0, 128) || 'My Widget',
            api_key_id: key,
            security: { allowedOrigins: site ? [site.slice(0, 300)] : [] },
          })
          return {}
        }),
      { open: true, form: true },
    )
    .get(
      '/widgets/:id',
      ({ set, exchange, request, route, params }) =>
        signedIn({ set, exchange, request, route }, async (call) => {
          if (!deps.widgets) throw notFound('widget')
          const { widget, token } = await deps.widgets.preview(call, params.id)
          Object.assign(set.headers, FRAMING)
          return previewPage(widget, token)
        }),
      { open: true },
    )
}
