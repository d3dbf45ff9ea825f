import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import type { Guard } from '../http/guard'
import { dataOf, documentOf, html, PAGE_HEADERS, page } from '../kernel/html'
import { checkedQuery, t } from '../kernel/schema'
import type { Assets } from '../pages'
import { LiveView, type Recording } from './schema'
import type { BrowserService } from './service'

const Link = checkedQuery(
  t.Object({ token: t.String({ default: '', maxLength: 200 }), force: t.Optional(t.String({ maxLength: 8 })) }),
)
const ById = checkedQuery(t.Object({ id: t.String() }))
const MAX_MESSAGE = 16 * 1024

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors *",
}

const expired = () =>
  new Response(
    page('Link over', html`<h1>This link no longer works</h1><p>Get a new link from the page where you found it.</p>`),
    {
      status: 401,
      headers: {
        ...PAGE_HEADERS,
        ...HEADERS,
        'content-security-policy': PAGE_HEADERS['content-security-policy']!.replace(
          "frame-ancestors 'none'",
          'frame-ancestors *',
        ),
        'x-frame-options': '',
      },
    },
  )

/** `/embed/browser/{id}`: the page of a live view, its facts and its stream (docs/api.md 16.3). */
export const browserEmbedRoutes = ({ embed }: BrowserService, assets: Assets, guard: Guard) =>
  new Elysia({ prefix: '/embed/browser', detail: { hide: true } })
    .use(guard)
    .get(
      '/:id',
      async ({ params, query }) => {
        const guest = await embed.admit(params.id, query.token).catch(() => null)
        if (!guest) return expired()
        return new Response(livePage(await assets()), { headers: HEADERS })
      },
      { open: true, params: ById, query: Link },
    )
    .get('/:id/live', ({ params, query }) => embed.live(params.id, query.token, query.force === '1'), {
      open: true,
      cors: 'anyone',
      params: ById,
      query: Link,
      response: { 200: answer(LiveView), ...errors(400, 401, 404) },
    })
    .get(
      '/:id/recording',
      async ({ params, query }) => {
        const found = await embed.recording(params.id, query.token).catch(() => null)
        if (!found) return expired()
        return new Response(playerPage(await assets(), found), { headers: HEADERS })
      },
      { open: true, params: ById, query: Link },
    )
    .use(streamRoutes(embed))

type Viewer = ReturnType<BrowserService['embed']['connect']>

/** A separate instance: `open` is a socket hook here, but an option of the guard. The first message has the token. */
const streamRoutes = (embed: BrowserService['embed']) =>
  new Elysia().ws('/:id/stream', {
    detail: { security: [], hide: true },
    maxPayloadLength: MAX_MESSAGE,
    idleTimeout: 120,
    open(ws) {
      const data = ws.data as unknown as { params: { id: string }; viewer?: Viewer }
      data.viewer = embed.connect(data.params.id, {
        sendText: (text) => ws.raw.sendText(text),
        sendBinary: (bytes) => ws.raw.sendBinary(bytes),
        close: (code, why) => ws.raw.close(code, why),
      })
    },
    message: (ws, message) => viewerOf(ws.data)?.message(message),
    close: (ws) => viewerOf(ws.data)?.left(),
  })

const viewerOf = (data: unknown): Viewer | undefined => (data as { viewer?: Viewer }).viewer

const livePage = ({ nameOf }: Awaited<ReturnType<Assets>>): string =>
  documentOf(
    'Live browser',
    html`<meta name="robots" content="noindex">
<link rel="stylesheet" href="/assets/${nameOf.liveStyle}">
<script src="/assets/${nameOf.live}" defer></script>`,
    html``,
  )

const playerPage = ({ nameOf }: Awaited<ReturnType<Assets>>, { actions }: Recording): string =>
  documentOf(
    'Recording of a browser session',
    html`<meta name="robots" content="noindex">
<link rel="stylesheet" href="/assets/${nameOf.liveStyle}">
<script type="application/json" id="recording">${{ markup: dataOf(actions) }}</script>
<script src="/assets/${nameOf.player}" defer></script>`,
    html``,
  )
