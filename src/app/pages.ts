import { Elysia } from 'elysia'
import { actingIn, assertOwnPage } from '../accounts'
import type { Guard } from '../http/guard'
import type { Streams } from '../http/sse'
import { AppError } from '../kernel/errors'
import { html, PAGE_HEADERS, page } from '../kernel/html'
import { roleInBrowser } from '../operators'
import { hasOperators } from '../pages/reference/config'
import { assetRoutes, type FindWidget, widgetPageRoutes } from '../pages/routes'
import { accountPageRoutes, goTo } from '../pages/routes-accounts'
import { consoleRoutes } from '../pages/routes-console'
import { createEntering } from '../pages/routes-entering'
import { inboxRoutes } from '../pages/routes-inbox'
import { linkPageRoutes } from '../pages/routes-links'
import { frameOf, listChats, presentPublic, readChat } from '../widgets'
import type { Config } from './config'
import type { Container } from './container'
import { RELEASE } from './version'

const home = (playground: boolean): string =>
  page(
    'svc',
    html`<h1>svc, an AI orchestration server</h1>
<p>It answers prompts through an API. Almost every call needs a key, which you get from the operator of this server.</p>
<dl>
<dt>Base address of the API</dt>
<dd><code>/api/v1</code> on this host</dd>
<dt>Base URL for existing clients</dt>
<dd><code>/v1</code> on this host, with the packages of OpenAI, Anthropic and others</dd>
<dt>API reference</dt>
<dd><a href="/docs">/docs</a> for people, and the OpenAPI 3.1 document <a href="/openapi.json">/openapi.json</a> for tools</dd>
${
  playground &&
  html`<dt>Try prompts in the browser</dt>
<dd><a href="/docs/playground">the playground</a>, with a key</dd>`
}
<dt>Server health</dt>
<dd><a href="/api/v1/health">/api/v1/health</a></dd>
<dt>Sign in</dt>
<dd><a href="/sign-in">Sign in</a>, or open the link that you were sent. Programs send a key as <code>Authorization: Bearer</code></dd>
</dl>`,
  )

type Deps = { config: Config; container: Container; guard: Guard; streams: Streams; ownOrigin: string | null }

/** Pages show this many of each, the newest. */
const MAX = 100

/** Everything that people see in a browser, with what each page needs of the modules. */
export function pageRoutes({ config, container, guard, streams, ownOrigin }: Deps) {
  const { auth, signInLinks, limiter, assets, clock, widgets: chats } = container
  const { widgets } = chats
  const entering = createEntering({
    authenticate: container.authenticate,
    actingIn: (caller, org) => actingIn(container.store.read, caller, org),
    assertOwnPage: (headers) => assertOwnPage(headers, ownOrigin),
    admit: limiter.admitRequest,
  })
  const base = URL.parse(config.publicUrl)?.pathname.replace(/\/$/, '') ?? ''
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
          operatorRole: async (userId) =>
            hasOperators(config)
              ? ((await roleInBrowser({ ...container, production: config.production }, userId))?.role ?? null)
              : null,
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
    .use(accountPageRoutes({ auth, entering, secure, signUp: config.signup === 'open', canMail }, guard))
    .use(linkPageRoutes({ links: signInLinks, entering, assets, secure }, guard))
    .use(config.console === 'on' ? consolePages : new Elysia())
    .use(movedRoutes(base, guard))
}

/** Pages that the console took the place of; links to them go on working (console 9.15). */
const movedRoutes = (base: string, guard: Guard) =>
  [
    ['/home', '/console'],
    ['/home/password', '/console/settings'],
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

/** A page for a widget that may be shown; a preview that is over, or no widget, has none. */
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

/** `GET /`: tells a person who opens the address in a browser what this is, and where to go on (dx 5.1). */
export function homePageRoutes(guard: Guard, playground: boolean) {
  const shown = home(playground)
  return new Elysia({ detail: { hide: true } }).use(guard).get(
    '/',
    ({ set }) => {
      Object.assign(set.headers, PAGE_HEADERS)
      return shown
    },
    { open: true },
  )
}
