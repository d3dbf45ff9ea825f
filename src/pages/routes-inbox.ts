import { Elysia } from 'elysia'
import { invalidSession } from '../accounts'
import type { Guard } from '../http/guard'
import type { Streams } from '../http/sse'
import type { Call } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { checkedQuery, t } from '../kernel/schema'
import { type SseFrame, sseFrame } from '../kernel/stream'
import { goTo } from './routes-accounts'
import type { Entering } from './routes-entering'

type Chat = { session_id: string; config_id: string }
type Transcript = Chat & { messages: { id: string }[] }

/** Functions of other modules that the inbox reads. Each throws 404 for data that is not the caller's. */
type InboxTranscript = {
  widgets(call: Call): Promise<{ id: string }[]>
  chats(call: Call, widgetId: string): Promise<Chat[]>
  chat(call: Call, which: { id: string; sessionId: string }, after: string | undefined): Promise<Transcript>
  /**
   * Calls `changed` at each change in chats of these widgets, until the returned function is called. The argument is
   * the chat's id if only its visitor is typing.
   */
  watch(widgetIds: readonly string[], changed: (writing: string | null) => void): () => void
  /** True while the visitor of this chat is typing. */
  writes(sessionId: string): boolean
}
type Deps = { transcript: InboxTranscript; entering: Entering; base: string; streams: Streams; clock: Clock }

/** Changes are reported at once. Lost notices, new widgets and ended sessions are found within this time. */
const LOOK_MS = 2_000
/** Minimum time between two messages to the page. */
const GATHER_MS = 100
const Which = checkedQuery(t.Object({ chat: t.Optional(t.String({ pattern: '^[\\w-]{1,64}/[\\w-]{1,64}$' })) }))

/** Events for the console's inbox: the queue and the open chat of the owner in `X-Svc-Org` (docs/operating.md 5.3). */
export function inboxRoutes({ transcript: inboxTranscript, entering, base, streams, clock }: Deps, guard: Guard) {
  return new Elysia({ detail: { hide: true } })
    .use(guard)
    .get(
      '/operator',
      ({ set }) => {
        goTo(set, `${base}/console/inbox`)
        set.status = 308
        return ''
      },
      { open: true },
    )
    .get(
      '/console/inbox/events',
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

  /** Writes the queue and the open chat whenever they have changed, while the page is open and signed in. */
  async function follow(call: Call, { headers, signal }: Request, chat: string | undefined, write: Write) {
    const [id, sessionId] = chat?.split('/') ?? []
    let queue = ''
    let current = ''
    let after: string | undefined
    while (!signal.aborted && (await entering.isStill(headers))) {
      const widgets = (await inboxTranscript.widgets(call)).map(({ id }) => id)
      const nap = new AbortController()
      // Listens before it reads, so that changes in between wake it.
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
      const text = JSON.stringify(conversations)
      if (text !== queue) await write({ event: 'queue', data: { conversations } })
      queue = text
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
