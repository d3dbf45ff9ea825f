import { afterAll } from 'bun:test'
import type { Server } from 'bun'
import { type BuiltAssets, buildAssets, createAssets } from '../../../src/pages'
import { frameHeaders, framePage } from '../../../src/pages/frame-page'

type Received = { path: string; method: string; body: Record<string, unknown> | null; token: string | null }
type Answer = Response | Promise<Response>

/** What the scripted API answers; what is not said is a chat that goes well. */
export type Script = {
  config?: { appearance?: object; behavior?: object; security?: object; handoff?: boolean }
  session?(received: Received): Answer
  message?(received: Received): Answer
  current?(): Answer
  /** The chat's own script is served when this is over. */
  chatScript?: Promise<unknown>
}

const WIDGET = '7f5f6f4e-2d6f-4f0f-9c47-1f0d2f7f7a10'
const SESSION = '2c1f6f4e-2d6f-4f0f-9c47-1f0d2f7f7a11'

let built: Promise<BuiltAssets> | null = null
const assets = createAssets(() => {
  built ??= buildAssets()
  return built
})

const frame = (event: string, data: unknown, id?: string) =>
  `${id ? `id: ${id}\n` : ''}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
const SSE = { 'content-type': 'text/event-stream' }

/** An answer of the native stream, token by token (docs/api.md 3). */
export const streamed = (...tokens: string[]): Response =>
  new Response(
    [
      frame('meta', { id: 'cmpl_1' }),
      ...tokens.map((token) => frame('token', { token })),
      frame('done', { content: tokens.join(''), follow_ups: [{ label: 'And then?', prompt: 'And then?' }] }),
    ].join(''),
    { headers: SSE },
  )

/** As `streamed`, with the messages as they are kept (docs/api.md 15). */
export const streamedAs = (stored: { message: object; reply: { content: string } & object; takeover_status: string }) =>
  new Response(
    [
      frame('token', { token: stored.reply.content }),
      frame('reply', stored),
      frame('done', { content: stored.reply.content }),
    ].join(''),
    { headers: SSE },
  )

export const refusal = (
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response => Response.json({ error: { code, message, type: 'x', request_id: 'req_x' } }, { status, headers })

/**
 * The real pages over an API that a test scripts, and a host page on another origin: for what a healthy server never
 * says. Whatever a healthy server says is tested with the real one.
 */
export async function scripted(script: Script = {}) {
  const received: Received[] = []
  const listeners = new Set<ReadableStreamDefaultController<string>>()
  let status = 'ai'
  const { files, nameOf } = await assets()
  const config = {
    id: WIDGET,
    name: 'Shop',
    appearance: { title: 'Shop help', ...script.config?.appearance },
    behavior: {
      welcomeMessage: 'Hello. What are you looking for?',
      suggestedPrompts: ['Where is my order?'],
      ...script.config?.behavior,
    },
    security: { ...script.config?.security },
    handoff: script.config?.handoff ?? true,
  }
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: answer })
  const host = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      new Response(hostPage(server.url.origin, new URL(url).searchParams.get('more') ?? ''), {
        headers: {
          'content-type': 'text/html',
          'content-security-policy': `default-src 'none'; script-src ${server.url.origin}; frame-src ${server.url.origin}; style-src 'unsafe-inline'`,
        },
      }),
  })
  afterAll(() => Promise.all([server.stop(true), host.stop(true)]))

  async function answer(request: Request, { timeout }: Server<unknown>): Promise<Response> {
    void timeout
    const { pathname } = new URL(request.url)
    if (pathname === '/embed.js') return fileOf(nameOf.embed)
    if (pathname === `/assets/${nameOf.widget}`) await script.chatScript
    if (pathname.startsWith('/assets/')) return fileOf(pathname.slice('/assets/'.length))
    if (pathname.startsWith('/embed/widget/')) {
      const shown = { config, frameAncestors: [host.url.origin] }
      const set = await assets()
      return new Response(framePage(shown, set), { headers: frameHeaders(shown, set) })
    }
    const path = pathname.split('/sessions')[1] ?? ''
    const body = request.method === 'POST' ? ((await request.json()) as Record<string, unknown>) : null
    const got = { path, method: request.method, body, token: request.headers.get('authorization') }
    received.push(got)
    if (path === '') return (await script.session?.(got)) ?? Response.json(begun(), { status: 201 })
    if (path.endsWith('/messages')) return (await script.message?.(got)) ?? streamed('Good ', 'day.')
    if (path.endsWith('/events')) return events(request)
    if (path.endsWith('/request-human')) {
      status = 'requested'
      return Response.json({ session_id: SESSION, takeover_status: status })
    }
    if (path.endsWith('/feedback')) return Response.json({ recorded: true })
    return (
      (await script.current?.()) ??
      Response.json({ session_id: SESSION, status: 'open', takeover_status: status, messages: [] })
    )
  }

  function fileOf(name: string): Response {
    const file = files.get(name)
    return file
      ? new Response(file.text, { headers: { 'content-type': file.type } })
      : new Response('', { status: 404 })
  }

  const events = ({ signal }: Request) => {
    let mine: ReadableStreamDefaultController<string>
    return new Response(
      new ReadableStream<string>({
        start(controller) {
          mine = controller
          listeners.add(controller)
          controller.enqueue(': hello\n\n')
          signal.addEventListener('abort', () => listeners.delete(controller))
        },
        cancel: () => void listeners.delete(mine),
      }) as never,
      { headers: SSE },
    )
  }

  const begun = () => ({
    session_id: SESSION,
    token: 'svc_wt_test',
    expires_at: new Date(performance.timeOrigin + performance.now() + 3_600_000).toISOString(),
    takeover_status: 'ai',
    welcome_message: null,
  })

  return {
    received,
    origin: server.url.origin,
    hostUrl: (more = '') => `${host.url.origin}/?more=${encodeURIComponent(more)}`,
    messages: () => received.filter(({ path }) => path.endsWith('/messages')).map(({ body }) => body?.content),
    listening: () => listeners.size,
    /** Tells every open page an event. */
    tell(event: string, data: unknown): void {
      for (const listener of listeners) listener.enqueue(frame(event, data, `e${received.length}`))
    },
  }
}

const hostPage = (origin: string, more: string): string => `<!doctype html>
<html lang="en"><head><title>A shop</title><style>* { color: red; } iframe { display: none !important; width: 9px !important; }
body { background: #fff; margin: 2rem; font: 16px sans-serif }</style></head>
<body><main><h1>A shop</h1><p>Lamps, tables and chairs.</p><button id="own">A button of the shop</button></main>
<script async src="${origin}/embed.js" data-config-id="${WIDGET}" ${more}></script></body></html>`
