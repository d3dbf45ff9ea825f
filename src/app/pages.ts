import { Elysia } from 'elysia'
import { actingIn, assertOwnPage } from '../accounts'
import type { Guard } from '../http/guard'
import type { Streams } from '../http/sse'
import { AppError } from '../kernel/errors'
import { html, PAGE_HEADERS, page } from '../kernel/html'
import { hasOperators } from '../pages/reference/config'
import { originOf } from '../pages/reference/routes'
import { assetRoutes, type FindWidget, widgetPageRoutes } from '../pages/routes'
import { accountPageRoutes, goTo } from '../pages/routes-accounts'
import { consoleRoutes } from '../pages/routes-console'
import { createEntering } from '../pages/routes-entering'
import { inboxRoutes } from '../pages/routes-inbox'
import { invitationPageRoutes, linkPageRoutes } from '../pages/routes-links'
import { frameOf, listChats, presentPublic, readChat } from '../widgets'
import type { Config } from './config'
import type { Container } from './container'
import { RELEASE } from './version'

type Deps = { config: Config; container: Container; guard: Guard; streams: Streams; ownOrigin: string | null }

/** Prefix of every path of this server, when a proxy puts it below one. */
const basePathOf = ({ publicUrl }: Config): string => URL.parse(publicUrl)?.pathname.replace(/\/$/, '') ?? ''

/** Maximum number of items per list on a page, newest first. */
const MAX = 100

/** All browser pages, with the module functions each page needs. */
export function pageRoutes({ config, container, guard, streams, ownOrigin }: Deps) {
  const { auth, signInLinks, limiter, assets, clock, widgets: chats } = container
  const { invitations } = container.orgs
  const { widgets } = chats
  const entering = createEntering({
    authenticate: container.authenticate,
    actingIn: (caller, org) => actingIn(container.store.read, caller, org),
    assertOwnPage: (headers) => assertOwnPage(headers, ownOrigin),
    admit: limiter.admitRequest,
  })
  const base = basePathOf(config)
  const canMail = signInLinks.canMail()
  const secure = config.publicUrl.startsWith('https://')
  const consolePages = new Elysia()
    .use(
      consoleRoutes(
        {
          base,
          entering,
          assets: container.consoleAssets,
          me: auth.me,
          settings: ({ caller }) => container.settings.read(container.store.read, caller.userId),
          hasOperators: hasOperators(config),
          about: {
            version: RELEASE,
            mode: config.production ? 'production' : 'dev',
            public_url: config.publicUrl || null,
            features: {
              mail: canMail,
              signup: config.signup === 'open',
              payments: config.paymentProvider === 'stripe',
            },
          },
        },
        guard,
      ),
    )
    .use(
      invitationPageRoutes(
        { ...{ auth, base, entering, assets, secure }, invitations, authenticate: container.authenticate },
        guard,
      ),
    )
    .use(
      inboxRoutes(
        {
          transcript: {
            widgets: async (call) => (await widgets.list(call, { limit: MAX })).items,
            chats: async (call, id) => (await listChats(chats.deps, call, id, { limit: MAX })).conversations,
            chat: (call, which, after) => readChat(chats.deps, call, which, after),
            ...chats.watch,
          },
          entering,
          base,
          streams,
          clock,
        },
        guard,
      ),
    )
  return new Elysia()
    .use(assetRoutes(assets, guard))
    .use(widgetPageRoutes(findWidget(chats), assets, guard))
    .use(accountPageRoutes({ auth, entering, secure, signUp: config.signup === 'open', canMail, base }, guard))
    .use(linkPageRoutes({ links: signInLinks, base, entering, assets, secure }, guard))
    .use(config.console === 'on' ? consolePages : new Elysia())
    .use(movedRoutes(base, guard))
}

/** Redirects from pages that the console replaced, so that old links keep working. */
const movedRoutes = (base: string, guard: Guard) =>
  [
    ['/home', '/console'],
    ['/home/password', '/console/settings'],
    ['/docs/playground', '/console/playground'],
    ['/docs/console', '/docs'],
  ].reduce(
    (routes, [from, to]) =>
      routes.get(
        from!,
        ({ set }) => {
          goTo(set, base + to)
          set.status = 308
          return ''
        },
        { open: true },
      ),
    new Elysia({ detail: { hide: true } }).use(guard),
  )

/** Finds the page of a widget. Returns nothing for an unknown widget or an expired preview. */
const findWidget =
  ({ deps }: Container['widgets']): FindWidget =>
  async (id, preview) => {
    try {
      const { widget, ancestors } = await frameOf(deps, id, preview ?? undefined)
      const config = await presentPublic(deps, widget)
      return { config, frameAncestors: [ancestors] }
    } catch (error) {
      if (error instanceof AppError) return null
      throw error
    }
  }

/** Start time of this process, to the minute. */
const since = `${new Date(performance.timeOrigin).toISOString().slice(0, 16).replace('T', ' ')} UTC`

type HomeDeps = { config: Config; health: Pick<Container['health'], 'check'>; publicOrigin: string | null }

/** `GET /`: tells a person who opens the address in a browser what this is, and which page to open next. */
export const homePageRoutes = ({ config, health, publicOrigin }: HomeDeps, guard: Guard) =>
  new Elysia({ detail: { hide: true } }).use(guard).get(
    '/',
    async ({ request, set }) => {
      Object.assign(set.headers, PAGE_HEADERS)
      const base = basePathOf(config)
      const found = (await health.check()).health
      const state = { healthy: '✓ healthy', degraded: '! degraded', down: '✗ down' }[found.status]
      const about = html`<h1>svc, an AI orchestration server</h1>
<p>One API in front of every model, tool and workflow. State: <b>${state}</b>, running since ${since}, version ${RELEASE}.</p>`
      if (config.root === 'minimal') return page('svc', html`${about}<p><a href="${base}/api/v1/health">Health</a></p>`)
      const isSignedIn = request.headers.get('cookie')?.includes('svc_session=') === true
      const api = `${publicOrigin ? publicOrigin + base : originOf(request)}/api/v1`
      const curl = `curl ${api}/completions \\\n  -H "Authorization: Bearer $SVC_API_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"prompt": "What is 17 * 23?"}'`
      return page(
        'svc',
        html`${about}
<p class="links">${config.console === 'on' && html`<a href="${base}/console">${isSignedIn ? 'Open console' : 'Sign in'}</a>`} <a href="${base}/docs">Docs</a> <a href="${base}/openapi.json">OpenAPI</a> <a href="${base}/api/v1/health">Health</a></p>
<h2>The API</h2>
<p>Base address <code>${api}</code>. Clients of other APIs use <code>/v1</code> on this host.</p>
<pre tabindex="0"><code>${curl}</code></pre>
${!config.production && config.console === 'on' && STEPS}`,
      )
    },
    { open: true },
  )

const STEPS = html`<h2>The first steps</h2>
<ol><li>Sign in to the console: <code>svc-admin open console</code></li>
<li>Create a key there, and send the call above.</li>
<li>Connect a model there: choose All owners, then Engines.</li></ol>`
