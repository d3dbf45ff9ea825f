import { Elysia } from 'elysia'
import { pathOf } from '../http/context'
import { NOWHERE_HEADERS, NOWHERE_PAGE } from '../http/envelope'
import type { Guard } from '../http/guard'
import { AppError } from '../kernel/errors'
import { checkedQuery, t } from '../kernel/schema'
import type { Asset, Assets } from './assets'
import { frameHeaders, framePage, type ShownWidget } from './frame-page'

const Preview = checkedQuery(t.Object({ preview: t.Optional(t.String({ maxLength: 200 })) }))

/** A name contains the hash of its content, so a file never changes. */
const FOREVER = 'public, max-age=31536000, immutable'
/** The loader keeps its name. Pages that contain it get a new version within ten minutes. */
const TEN_MINUTES = 'public, max-age=600'

/** A file, in the smallest form that the browser accepts. */
export function served({ type, text, gzip, brotli }: Asset, request: Request, cacheControl: string): Response {
  const taken = request.headers.get('accept-encoding') ?? ''
  const packed = brotli && /\bbr\b/.test(taken) ? 'br' : /\bgzip\b/.test(taken) ? 'gzip' : null
  return new Response(packed === 'br' ? brotli : packed ? gzip : text, {
    headers: {
      'content-type': type,
      'cache-control': cacheControl,
      'cross-origin-resource-policy': 'cross-origin',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
      ...(packed ? { 'content-encoding': packed } : {}),
    },
  })
}

const nothing = () => new Response(NOWHERE_PAGE, { status: 404, headers: NOWHERE_HEADERS })

/** Browsers request this icon for each page, whatever its policy allows. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#1d4ed8"/><path d="M11 5.5C10 4 6 4 6 6s5 1.5 5 4-4.5 2-5.5.5" fill="none" stroke="#fff" stroke-width="1.8" stroke-linecap="round"/></svg>'

/** `/embed.js`, the icon and the files of the pages (docs/api.md 15). */
export const assetRoutes = (assets: Assets, guard: Guard) =>
  new Elysia({ detail: { hide: true } })
    .use(guard)
    .get(
      '/embed.js',
      async ({ request }) => {
        const { files, nameOf } = await assets()
        return served(files.get(nameOf.embed)!, request, TEN_MINUTES)
      },
      { open: true },
    )
    .get(
      '/favicon.ico',
      () =>
        new Response(ICON, {
          headers: {
            'content-type': 'image/svg+xml',
            'content-security-policy': "default-src 'none'; sandbox",
            'cache-control': 'public, max-age=86400',
          },
        }),
      { open: true },
    )
    .get(
      '/assets/:name',
      async ({ params, request }) => {
        const file = (await assets()).files.get(params.name)
        return file ? served(file, request, FOREVER) : nothing()
      },
      { open: true },
    )

/** Finds a widget that may be shown: an active one, or any with a valid preview token. Null otherwise. */
export type FindWidget = (id: string, preview: string | null) => Promise<ShownWidget | null>

/** `/embed/widget/{id}`: the page inside the frame (docs/api.md 15). */
export const widgetPageRoutes = (find: FindWidget, assets: Assets, guard: Guard) =>
  new Elysia({ prefix: '/embed', detail: { hide: true } }).use(guard).get(
    '/widget/:id',
    async ({ params, query }) => {
      const shown = await find(params.id, query.preview ?? null)
      if (!shown) return nothing()
      const set = await assets()
      return new Response(framePage(shown, set), { headers: frameHeaders(shown, set) })
    },
    { open: true, query: Preview },
  )

type OperatorApi = { handle(request: Request): Response | Promise<Response> }
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/**
 * The operator API for the console, on the browsers' port. It serves only requests with a cookie and without a bearer
 * token. For all others, and if it is disabled, it answers 404.
 */
export function operatorApiRoutes(api: () => OperatorApi | null, guard: Guard) {
  const app = new Elysia({ prefix: '/ops/v1', detail: { hide: true } }).use(guard)
  const pass = async ({ request, body }: { request: Request; body?: unknown }): Promise<Response> => {
    const { method, url, headers, signal } = request
    const operatorApi = headers.get('cookie') && !headers.has('authorization') ? api() : null
    // The same answer as for any unknown address. The command line relies on it.
    if (!operatorApi) throw new AppError('not_found', `No route ${pathOf(url).slice(0, 120)} on this server.`)
    const sent = body instanceof Uint8Array && body.byteLength ? { body: body as BodyInit } : {}
    return operatorApi.handle(new Request(url, { method, headers, signal, ...sent }))
  }
  type Mounted = Record<(typeof METHODS)[number], (path: string, handle: unknown, options: object) => void>
  const mounted = app as unknown as Mounted
  for (const method of METHODS) {
    mounted[method]('/*', pass, { open: true, timeLimit: 'own', ...(method === 'get' ? {} : { raw: true }) })
  }
  return app
}
