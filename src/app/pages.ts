import { Elysia } from 'elysia'
import { assertOwnPage } from '../accounts'
import type { Guard } from '../http/guard'
import type { Streams } from '../http/sse'
import type { Call } from '../kernel/caller'
import { AppError } from '../kernel/errors'
import { html, PAGE_HEADERS, page } from '../kernel/html'
import { hasPlayground } from '../pages/reference/config'
import { assetRoutes, type FindWidget, widgetPageRoutes } from '../pages/routes'
import { accountPageRoutes } from '../pages/routes-accounts'
import { consoleRoutes } from '../pages/routes-console'
import { createEntering } from '../pages/routes-entering'
import { homeRoutes } from '../pages/routes-home'
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
  const { auth, signInLinks, usageReading, keys, limiter, assets, clock, orgs, widgets: chats } = container
  const { widgets } = chats
  const entering = createEntering({
    authenticate: container.authenticate,
    assertOwnPage: (headers) => assertOwnPage(headers, ownOrigin),
    admit: limiter.admitRequest,
  })
  const listed = async (call: Call) => (await widgets.list(call, { limit: MAX })).items
  const canMail = signInLinks.canMail()
  const secure = config.publicUrl.startsWith('https://')
  return new Elysia()
    .use(assetRoutes(assets, guard))
    .use(widgetPageRoutes(findWidget(chats), assets, guard))
    .use(accountPageRoutes({ auth, entering, secure, signUp: config.signup === 'open', canMail }, guard))
    .use(linkPageRoutes({ links: signInLinks, entering, assets, secure }, guard))
    .use(
      consoleRoutes(
        {
          entering,
          assets: container.consoleAssets,
          me: auth.me,
          about: {
            version: RELEASE,
            mode: config.production ? 'production' : 'dev',
            public_url: config.publicUrl || null,
            features: { mail: canMail, signup: config.signup === 'open' },
          },
        },
        guard,
      ),
    )
    .use(
      homeRoutes(
        {
          entering,
          me: auth.me,
          playground: hasPlayground(config),
          password: { mayOmitCurrent: auth.mayOmitCurrent, change: auth.changePassword, canMail },
          usage: (call) => usageReading.report(call, {}),
          keys: {
            list: (call, cursor) => keys.list(call, { limit: MAX, ...(cursor === undefined ? {} : { cursor }) }),
            get: keys.get,
            make: (call, name) => keys.create(call, { name }),
            rotate: keys.rotate,
            revoke: keys.revoke,
          },
          widgets: {
            list: listed,
            make: widgets.create,
            preview: async (call, id) => ({
              widget: await widgets.get(call, id),
              token: (await chats.preview(call, id)).token,
            }),
          },
        },
        guard,
      ),
    )
    .use(
      inboxRoutes(
        {
          transcript: {
            me: auth.me,
            team: async (call) => {
              const { activeOrgId } = call.caller
              return activeOrgId === null ? [] : orgs.members.all(container.store.read, activeOrgId)
            },
            widgets: listed,
            chats: async (call, id) => (await listChats(chats.deps, call, id, { limit: MAX })).conversations,
            chat: (call, which, after) => readChat(chats.deps, call, which, after),
            ...chats.watch,
          },
          entering,
          assets,
          streams,
          clock,
        },
        guard,
      ),
    )
}

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
