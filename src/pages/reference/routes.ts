import { Elysia } from 'elysia'
import type { Guard } from '../../http/guard'
import { urlOf } from '../../http/request-url'
import { notFound } from '../../kernel/errors'
import type { Assets } from '../assets'
import { consolePage, consoleScript } from './console-page'
import { htmlOf } from './html-page'
import { LOOK_HEADERS } from './look'
import type { Page, Reference } from './service'

type Deps = {
  reference: Reference
  assets: Assets
  /** The address that readers use; null where it follows from the request. */
  publicOrigin: string | null
}

const MARKDOWN = { 'content-type': 'text/markdown; charset=utf-8' }
const JSON_TYPE = { 'content-type': 'application/json' }
const TEXT = { 'content-type': 'text/plain; charset=utf-8' }
const SCRIPT = { 'content-type': 'text/javascript; charset=utf-8', 'x-content-type-options': 'nosniff' }

/** `/docs`: the reference for people, and the same pages as Markdown for programs (dx 5.5). */
export function referenceRoutes({ reference, assets, publicOrigin }: Deps, guard: Guard) {
  /** What browsers get of a page, for as long as the page is kept: a long one takes 40 ms to draw and to pack. */
  const small = new WeakMap<Page, Uint8Array<ArrayBuffer>>()

  async function show(name: string, request: Request): Promise<Response> {
    const asMarkdown = name.endsWith('.md')
    const path = asMarkdown ? name.slice(0, -'.md'.length) : name
    const page = reference.page(path, publicOrigin ?? originOf(request))
    if (!page) throw notFound('page')
    if (asMarkdown) return packed(page.markdown, MARKDOWN, request)
    const whole = async () => htmlOf(page, path, (await assets()).nameOf.reference)
    if (!takesGzip(request)) return answer(await whole(), LOOK_HEADERS, false)
    const bytes = small.get(page) ?? gzipped(await whole())
    small.set(page, bytes)
    return answer(bytes, LOOK_HEADERS, true)
  }
  return new Elysia({ detail: { hide: true } })
    .use(guard)
    .get('/docs', ({ request }) => show('', request), { open: true })
    .get('/docs.md', ({ request }) => show('.md', request), { open: true })
    .get('/docs/llms.txt', ({ request }) => packed(reference.llms(), TEXT, request), { open: true })
    .get('/llms.txt', ({ request }) => packed(reference.llms(), TEXT, request), { open: true })
    .get(
      '/docs/console',
      async ({ request }) => {
        const { html, headers } = await consolePage()
        return packed(html, headers, request)
      },
      { open: true },
    )
    .get('/docs/scalar.json', ({ request }) => packed(reference.forConsole(), JSON_TYPE, request), { open: true })
    .get('/docs/scalar.js', ({ request }) => scriptFor(request), { open: true })
    .get('/docs/:page', ({ params, request }) => show(params.page, request), { open: true })
    .get('/docs/errors/:code', ({ params, request }) => show(`errors/${params.code}`, request), { open: true })
}

/** A page may be kept for as long as somebody reads around. */
const SHORTLY = 'public, max-age=300'

function packed(text: string, headers: Readonly<Record<string, string>>, request: Request): Response {
  const gzip = takesGzip(request)
  return answer(gzip ? gzipped(text) : text, headers, gzip)
}

async function scriptFor(request: Request): Promise<Response> {
  const { text, gzip } = await consoleScript()
  const isPacked = takesGzip(request)
  return answer(isPacked ? gzip : text, SCRIPT, isPacked)
}

const answer = (
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>>,
  isPacked: boolean,
): Response =>
  new Response(body, {
    headers: {
      ...headers,
      'cache-control': SHORTLY,
      vary: 'Accept-Encoding',
      ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
    },
  })

const gzipped = (text: string): Uint8Array<ArrayBuffer> => Bun.gzipSync(new TextEncoder().encode(text))

const takesGzip = (request: Request): boolean => /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')

/** The origin that the reader's browser asked; a name that is no host name is not repeated. */
function originOf(request: Request): string {
  const { protocol, host } = urlOf(request)
  return /^[\w.:[\]-]{1,255}$/.test(host) ? `${protocol}//${host}` : 'http://localhost'
}
