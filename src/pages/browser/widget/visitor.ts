import { call, type Failure, type Input, json } from '../shared/http'
import type { Attachment, Current, Message, Status } from './wire'

/** `read_until`: time of the newest message that was shown in the open chat. */
type Stored = { session_id: string; token: string; expires_at: string; read_until?: string }
type Begun = { session_id: string; token: string; expires_at: string; takeover_status: Status }
type Answered = { message: Message; reply: Message | null; takeover_status: Status; redirect_url?: string }

export type Visitor = ReturnType<typeof createVisitor>
/** The visitor's identity as the host's page claims it. The server verifies it. */
type Spoken = { name?: unknown; email?: unknown; external_id?: unknown; hash?: unknown; context?: unknown }
type Options = {
  configId: string
  pageUrl: string | null
  botCheck(): Promise<string | undefined>
  /** The server rejected the identity from the page. */
  unknown(failure: Failure): void
}
export type Sent = { stream: Response } | { answer: Answered }

/** The visitor's calls of docs/api.md 15, and the only data that the frame stores: its session. */
export function createVisitor({ configId, pageUrl, botCheck, unknown }: Options) {
  const base = `/api/v1/iframes/${configId}/sessions`
  const place = `svc-widget:${configId}`
  const preview = new URLSearchParams(location.search).get('preview')
  let stored = recall()
  let beginning: Promise<Stored> | null = null
  let message: Spoken | null = null

  function recall(): Stored | null {
    try {
      const found = JSON.parse(localStorage.getItem(place) ?? 'null') as Stored | null
      return found && Date.parse(found.expires_at) > performance.timeOrigin + performance.now() ? found : null
    } catch {
      return null
    }
  }

  function keep(value: Stored | null): void {
    stored = value
    try {
      if (value) localStorage.setItem(place, JSON.stringify(value))
      else localStorage.removeItem(place)
    } catch {
      // Without storage the chat lasts as long as the page.
    }
  }

  const headers = (session: Stored) => ({ authorization: `Bearer ${session.token}` })

  async function begin(): Promise<Stored> {
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

  /** Sends the identity that was set before there was a session. A visit alone leaves no trace. */
  async function tellWho(session: Stored): Promise<void> {
    if (!message) return
    const input = { method: 'POST', body: message, headers: headers(session) }
    await call(`${base}/${session.session_id}/identify`, input).catch((error: unknown) => unknown(error as Failure))
  }

  /** The session. It starts with the first message, so that a visit alone leaves no trace. */
  const session = (): Promise<Stored> => {
    if (stored) return Promise.resolve(stored)
    beginning ??= begin().finally(() => {
      beginning = null
    })
    return beginning
  }

  async function ask(path: string, input: Input = {}): Promise<Response> {
    const mine = await session()
    return call(`${base}/${mine.session_id}${path}`, { ...input, headers: { ...headers(mine), ...input.headers } })
  }

  const sameElsewhere = (): Stored | null => {
    const found = recall()
    return found?.session_id === stored?.session_id ? found : null
  }

  /** Includes messages that another tab has shown. */
  const hasRead = (at: string): boolean =>
    [stored, sameElsewhere()].some((known) => known?.read_until !== undefined && at <= known.read_until)

  return {
    has: () => stored !== null,
    hasRead,
    /** Marks all messages up to this time as read. */
    markRead(until: string): void {
      if (!stored || !until || hasRead(until)) return
      const now = { ...stored, read_until: until }
      // A session that another tab has forgotten stays forgotten.
      if (sameElsewhere()) keep(now)
      else stored = now
    },
    forget: () => keep(null),
    identify(more: Spoken): void {
      message = { ...message, ...more }
      if (stored) void tellWho(stored)
    },
    current: async (): Promise<Current> => (await ask('')).json() as Promise<Current>,
    /** A stream of the answer, or the stored message at once if a person has the chat. */
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
