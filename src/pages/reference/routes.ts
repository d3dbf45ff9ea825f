import { Elysia } from 'elysia'
import { urlOf } from '../../http/context'
import type { Guard } from '../../http/guard'
import { notFound } from '../../kernel/errors'
import { createLru } from '../../kernel/read-cache'
import type { Assets } from '../assets'
import { htmlHeaders, htmlOf, startHtml } from './html-page'
import type { Reference } from './service'
import { VIEWER_POLICY, viewerPage, viewerScript } from './viewer'

type Deps = {
  reference: Reference
  assets: Assets
  /** The public origin of the pages. Null if the request determines it. */
  publicOrigin: string | null
}

const MARKDOWN = { 'content-type': 'text/markdown; charset=utf-8' }
const JSON_TYPE = { 'content-type': 'application/json' }
const TEXT = { 'content-type': 'text/plain; charset=utf-8' }
const SCRIPT = { 'content-type': 'text/javascript; charset=utf-8', 'x-content-type-options': 'nosniff' }

/** Maximum number of compressed answers to cache, by their readers' origin. Some take 100 ms to make. */
const MAX_PACKED = 50

/** `/docs`: the reference for people, and as Markdown for programs (docs/operating.md 5.5). */
export function referenceRoutes({ reference, assets, publicOrigin }: Deps, guard: Guard) {
  const packed = createLru<string, Uint8Array<ArrayBuffer>>(MAX_PACKED)

  async function send(
    key: string,
    headers: Readonly<Record<string, string>>,
    make: () => string | Uint8Array<ArrayBuffer> | Promise<string | Uint8Array<ArrayBuffer>>,
    request: Request,
  ): Promise<Response> {
    const all = { ...headers, 'cache-control': SHORTLY, vary: 'Accept-Encoding' }
    if (!/\bgzip\b/.test(request.headers.get('accept-encoding') ?? ''))
      return new Response(await make(), { headers: all })
    const bytes = packed.get(key) ?? Bun.gzipSync(await make())
    packed.set(key, bytes)
    return new Response(bytes, { headers: { ...all, 'content-encoding': 'gzip' } })
  }

  async function show(name: string, request: Request): Promise<Response> {
    const path = name.replace(/\.md$/, '')
    if (path === name) {
      const moved = reference.anchor(path)
      if (moved) return new Response(null, { status: 308, headers: { location: moved } })
    }
    const origin = publicOrigin ?? originOf(request)
    const text = reference.markdown(path, origin)
    if (text === null) throw notFound('page')
    const key = `${origin} ${name}`
    if (path !== name) return send(key, MARKDOWN, () => text, request)
    const { nameOf } = await assets()
    if (path === '')
      return send(key, htmlHeaders(VIEWER_POLICY), () => viewerPage(startHtml(text), nameOf.viewer), request)
    return send(key, htmlHeaders(), () => htmlOf(text, path, nameOf.reference), request)
  }

  const llms = ({ request }: { request: Request }) => send('llms.txt', TEXT, reference.llms, request)
  return new Elysia({ detail: { hide: true } })
    .use(guard)
    .get('/docs', ({ request }) => show('', request), { open: true })
    .get('/docs.md', ({ request }) => show('.md', request), { open: true })
    .get('/docs/llms.txt', llms, { open: true })
    .get('/llms.txt', llms, { open: true })
    .get(
      '/docs/scalar.json',
      ({ request }) => {
        const origin = publicOrigin ?? originOf(request)
        return send(`${origin} scalar.json`, JSON_TYPE, () => reference.viewer(origin), request)
      },
      { open: true },
    )
    .get('/docs/scalar.js', ({ request }) => send('scalar.js', SCRIPT, viewerScript, request), { open: true })
    .get('/docs/:page', ({ params, request }) => show(params.page, request), { open: true })
    .get('/docs/errors/:code', ({ params, request }) => show(`errors/${params.code}`, request), { open: true })
}

/** A page may be cached for a typical reading session. */
const SHORTLY = 'public, max-age=300'

/** The origin that the reader's browser requested. An invalid host name is not echoed. */
export function originOf(request: Request): string {
  const { protocol, host } = urlOf(request)
  return /^[\w.:[\]-]{1,255}$/.test(host) ? `${protocol}//${host}` : 'http://localhost'
}
