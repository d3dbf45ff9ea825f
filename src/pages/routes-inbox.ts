import { Elysia } from 'elysia'
import { invalidSession } from '../accounts'
import type { Guard } from '../http/guard'
import type { Streams } from '../http/sse'
import type { Call } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { dataOf, html } from '../kernel/html'
import { checkedQuery, t } from '../kernel/schema'
import { type SseFrame, sseFrame } from '../kernel/stream'
import { publicName } from '../widgets'
import type { AssetSet, Assets } from './assets'
import { goTo } from './routes-accounts'
import type { Entering } from './routes-entering'

/** Who answers, the names of their widgets by id, and the colleagues who could have a chat. */
type Me = {
  id: string
  name: string
  widgets: Record<string, string>
  people: { id: string; name: string }[]
}

const INBOX_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; " +
    "frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'x-frame-options': 'DENY',
}

/** The page of the inbox; its script draws what is in it. */
const inboxPage = (me: Me, { nameOf }: AssetSet): string =>
  html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<title>Inbox</title>
<link rel="stylesheet" href="/assets/${nameOf.inboxStyle}">
<script type="application/json" id="me">${{ markup: dataOf(me) }}</script>
<script src="/assets/${nameOf.inbox}" data-text="/assets/${nameOf.widgetText}" defer></script>
</head>
<body><div id="inbox"><noscript>The inbox needs JavaScript. On the command line: svc-admin takeovers.</noscript></div></body>
</html>
`.markup

type Chat = { session_id: string; config_id: string }
type Transcript = Chat & { messages: { id: string }[] }

/** What the inbox reads of the modules; each throws 404 for what is not the caller's. */
type InboxTranscript = {
  me(call: Call): Promise<{ user: { id: string; email: string; name: string | null } }>
  /** The team of the caller; empty without one. */
  team(call: Call): Promise<{ user_id: string; name: string | null }[]>
  widgets(call: Call): Promise<{ id: string; name: string }[]>
  chats(call: Call, widgetId: string): Promise<Chat[]>
  chat(call: Call, which: { id: string; sessionId: string }, after: string | undefined): Promise<Transcript>
  /** Calls back at each change in chats of these widgets, with the chat whose visitor only writes, until the returned function is called. */
  watch(widgetIds: readonly string[], changed: (writing: string | null) => void): () => void
  /** Whether the visitor of this chat writes something now. */
  writes(sessionId: string): boolean
}
type Deps = { transcript: InboxTranscript; entering: Entering; assets: Assets; streams: Streams; clock: Clock }

/** What happens is told at once. What is missed, a new widget or a session that has ended, is found within this. */
const LOOK_MS = 2_000
/** Under many changes the page is told at most this often. */
const GATHER_MS = 100
const Which = checkedQuery(t.Object({ chat: t.Optional(t.String({ pattern: '^[\\w-]{1,64}/[\\w-]{1,64}$' })) }))

/** `/operator`: where people answer visitors in a browser (dx 5.3). What they do there are calls of the API. */
export function inboxRoutes({ transcript: inboxTranscript, entering, assets, streams, clock }: Deps, guard: Guard) {
  return new Elysia({ prefix: '/operator', detail: { hide: true } })
    .use(guard)
    .get(
      '',
      async ({ set, exchange, request, route }) => {
        const call = await entering.person({ exchange, request, route })
        if (!call) return goTo(set, '/sign-in?next=/operator')
        const [{ user }, widgets, team] = await Promise.all([
          inboxTranscript.me(call),
          inboxTranscript.widgets(call),
          inboxTranscript.team(call),
        ])
        Object.assign(set.headers, INBOX_HEADERS)
        const names = Object.fromEntries(widgets.map(({ id, name }) => [id, name]))
        const people = team
          .filter(({ user_id }) => user_id !== user.id)
          .map(({ user_id, name }) => ({ id: user_id, name: publicName(name) }))
        return inboxPage({ id: user.id, name: publicName(user.name), widgets: names, people }, await assets())
      },
      { open: true },
    )
    .get(
      '/events',
      async ({ exchange, request, route, query }) => {
        const call = await entering.person({ exchange, request, route })
        if (!call) throw invalidSession()
        return streams.open<SseFrame>({
          exchange,
          request,
          route,
          source: (write) => follow(call, request, query.chat, write),
          frame: sseFrame,
          follows: true,
          endsWithDone: false,
        }) as never
      },
      { open: true, timeLimit: 'own', query: Which },
    )

  /** Writes the queue and the open chat whenever they have changed, as long as the page is open and signed in. */
  async function follow(call: Call, { headers, signal }: Request, chat: string | undefined, write: Write) {
    const [id, sessionId] = chat?.split('/') ?? []
    let queue = ''
    let current = ''
    let after: string | undefined
    while (!signal.aborted && (await entering.isStill(headers))) {
      const widgets = (await inboxTranscript.widgets(call)).map(({ id }) => id)
      const nap = new AbortController()
      // Listens before it reads: what comes in between wakes it.
      const stop = inboxTranscript.watch(widgets, (writing) => {
        if (writing === null || writing === sessionId) nap.abort()
      })
      try {
        await look(widgets)
        await clock.sleep(GATHER_MS, signal)
        await clock.sleep(LOOK_MS, AbortSignal.any([signal, nap.signal]))
      } finally {
        stop()
      }
    }

    async function look(widgets: string[]): Promise<void> {
      const conversations = (await Promise.all(widgets.map((widget) => inboxTranscript.chats(call, widget)))).flat()
      const notice = JSON.stringify(conversations)
      if (notice !== queue) await write({ event: 'queue', data: { conversations } })
      queue = notice
      if (!id || !sessionId) return
      if (inboxTranscript.writes(sessionId)) await write({ event: 'typing', data: {} })
      const transcript = await inboxTranscript.chat(call, { id, sessionId }, after)
      const { messages, ...state } = transcript
      const now = JSON.stringify(state)
      if (now !== current || messages.length > 0) await write({ event: 'chat', data: transcript })
      current = now
      after = messages.at(-1)?.id ?? after
    }
  }
}

type Write = (item: SseFrame) => void | Promise<void>
