import { call, type Failure, json, type Order } from '../shared/http'
import type { Attachment, Current, Message, Status } from './wire'

/** `read_until`: when the newest message came that was shown in the open chat. */
type Kept = { session_id: string; token: string; expires_at: string; read_until?: string }
type Begun = { session_id: string; token: string; expires_at: string; takeover_status: Status }
type Answered = { message: Message; reply: Message | null; takeover_status: Status; redirect_url?: string }

export type Visitor = ReturnType<typeof createVisitor>
/** What the host's page says about its visitor; the server checks it. */
type Said = { name?: unknown; email?: unknown; external_id?: unknown; hash?: unknown; context?: unknown }
type Options = {
  configId: string
  pageUrl: string | null
  botCheck(): Promise<string | undefined>
  /** The server did not take what the page said. */
  unknown(failure: Failure): void
}
export type Sent = { stream: Response } | { answer: Answered }

/** The visitor's calls of contract 15, and the one thing that the frame remembers: its session. */
export function createVisitor({ configId, pageUrl, botCheck, unknown }: Options) {
  const base = `/api/v1/iframes/${configId}/sessions`
  const place = `svc-widget:${configId}`
  const preview = new URLSearchParams(location.search).get('preview')
  let kept = recall()
  let beginning: Promise<Kept> | null = null
  let said: Said | null = null

  function recall(): Kept | null {
    try {
      const found = JSON.parse(localStorage.getItem(place) ?? 'null') as Kept | null
      return found && Date.parse(found.expires_at) > performance.timeOrigin + performance.now() ? found : null
    } catch {
      return null
    }
  }

  function keep(value: Kept | null): void {
    kept = value
    try {
      if (value) localStorage.setItem(place, JSON.stringify(value))
      else localStorage.removeItem(place)
    } catch {
      // Without storage the chat lives as long as the page.
    }
  }

  const headers = (session: Kept) => ({ authorization: `Bearer ${session.token}` })

  async function begin(): Promise<Kept> {
    const checked = preview ? undefined : await botCheck()
    const body = {
      ...(checked ? { turnstile_token: checked } : {}),
      ...(pageUrl ? { page_url: pageUrl } : {}),
      ...(preview ? { preview_token: preview } : {}),
    }
    const begun = await json<Begun>(base, { method: 'POST', body })
    keep(begun)
    await tellWho(begun)
    return begun
  }

  /** What was said before there is a session waits for it, as a visit alone leaves no trace. */
  async function tellWho(session: Kept): Promise<void> {
    if (!said) return
    const order = { method: 'POST', body: said, headers: headers(session) }
    await call(`${base}/${session.session_id}/identify`, order).catch((error: unknown) => unknown(error as Failure))
  }

  /** The session, begun with the first message so that a visit alone leaves no trace. */
  const session = (): Promise<Kept> => {
    if (kept) return Promise.resolve(kept)
    beginning ??= begin().finally(() => {
      beginning = null
    })
    return beginning
  }

  async function ask(path: string, order: Order = {}): Promise<Response> {
    const mine = await session()
    return call(`${base}/${mine.session_id}${path}`, { ...order, headers: { ...headers(mine), ...order.headers } })
  }

  const sameElsewhere = (): Kept | null => {
    const found = recall()
    return found?.session_id === kept?.session_id ? found : null
  }

  /** Also by what another tab has shown. */
  const hasRead = (at: string): boolean =>
    [kept, sameElsewhere()].some((known) => known?.read_until !== undefined && at <= known.read_until)

  return {
    has: () => kept !== null,
    hasRead,
    /** All messages that came until then are read. */
    markRead(until: string): void {
      if (!kept || !until || hasRead(until)) return
      const now = { ...kept, read_until: until }
      // A session that another tab has forgotten stays forgotten.
      if (sameElsewhere()) keep(now)
      else kept = now
    },
    forget: () => keep(null),
    identify(more: Said): void {
      said = { ...said, ...more }
      if (kept) void tellWho(kept)
    },
    current: async (): Promise<Current> => (await ask('')).json() as Promise<Current>,
    /** A stream of the answer, or at once what was kept, when a person has the chat. */
    async send(content: string, attachments: Attachment[], signal: AbortSignal): Promise<Sent> {
      const body = { content, stream: true, ...(attachments.length ? { attachments } : {}) }
      const response = await ask('/messages', { method: 'POST', body, signal })
      const streams = response.headers.get('content-type')?.startsWith('text/event-stream')
      return streams ? { stream: response } : { answer: (await response.json()) as Answered }
    },
    events(lastId: string | null, signal: AbortSignal): Promise<Response> {
      const resume: Record<string, string> = lastId ? { 'last-event-id': lastId } : {}
      return ask('/events', { headers: { accept: 'text/event-stream', ...resume }, signal })
    },
    async askPerson(): Promise<void> {
      await ask('/request-human', { method: 'POST', body: {} })
    },
    async typing(): Promise<void> {
      await ask('/typing', { method: 'POST', body: {} })
    },
    async rate(rating: number, comment: string): Promise<void> {
      await ask('/feedback', { method: 'POST', body: { rating, ...(comment ? { comment } : {}) } })
    },
  }
}
