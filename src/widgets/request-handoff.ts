import type { AuditLog } from '../audit'
import { EventId } from '../events/schema'
import { defineJob, type Jobs, type Outcome, type Running, type Takeover } from '../jobs'
import type { OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { newRequestId } from '../kernel/ids'
import type { Store, Tx } from '../kernel/store'
import type { Send } from '../webhooks'
import { subjectOf } from './operators'
import { presentMessage } from './present'
import { sessionRepository as rows } from './repository'
import type { Intents, WidgetId } from './schema'
import type { WidgetSessionId } from './schema-sessions'
import type { MessageRow, SessionRow, WidgetRow } from './table'
import { humanRequested, type Transcript } from './transcript'

type Deps = {
  store: Store
  clock: Clock
  transcript: Transcript
  jobs: Pick<Jobs, 'register' | 'enqueue'>
  audit: Pick<AuditLog, 'recordUnattended'>
  webhooks: { send: Send }
  /** What signs calls to addresses of this owner. */
  secretOf(owner: OwnerScope): string
}
type Request = { widget: WidgetRow; session: SessionRow; reason: string | null; message: MessageRow | null }
type Call = {
  event: EventId
  created: string
  widget: WidgetId
  session: WidgetSessionId
  message: MessageRow['id'] | null
  reason: string | null
  attempt: number
}

export type RequestHandoff = ReturnType<typeof createRequestHandoff>

/**
 * A visitor asks for a person: the chat waits for one, and the owner's own server is told if it has an address
 * (contract 15.1).
 */
export function createRequestHandoff({ store, clock, transcript, jobs, audit, webhooks, secretOf }: Deps) {
  const kind = defineJob<Call, null>({
    name: 'widgets.call',
    run: call,
    // Attempts end by the schedule of webhooks; these are for processes that die.
    retry: { attempts: 20, delayMs: (attempt) => Math.min(2 ** attempt, 30) * 1_000 },
    timeLimitMs: 60_000,
    concurrency: 16,
    concurrencyPerKey: 4,
    keepMs: 0,
  })
  jobs.register(kind)

  return async function ask(tx: Tx, { widget, session, reason, message }: Request): Promise<Takeover> {
    const subject = subjectOf(session)
    const { status } = await transcript.chats.lock(tx, subject)
    const now = await transcript.chats.request(tx, subject, { call: null, reason })
    const { enabled, action, url } = widget.intents
    if (status === 'ai' && enabled && action === 'webhook' && url) {
      const about = { widget: widget.id, session: session.id, message: message?.id ?? null, reason }
      const payload: Call = { event: EventId.create(), created: iso(clock.now()), ...about, attempt: 1 }
      await jobs.enqueue(tx, kind, { owner: widget.owner, payload })
    }
    return now
  }

  async function call({ payload }: Running<Call>): Promise<Outcome<null>> {
    const { event, attempt } = payload
    const widget = await rows.widget(store.read, payload.widget)
    const [session] = await rows.byIds(store.read, [payload.session])
    const { action, url } = widget?.intents ?? {}
    if (!widget || !session || action !== 'webhook' || !url) return {}
    // Nobody needs to be fetched any more.
    if (attempt > 1 && session.takeover_status !== 'requested') return {}
    const body = await bodyOf(payload, session)
    const message = { id: event, body, secret: secretOf(widget.owner) }
    const { httpStatus, verdict } = await webhooks.send({ url, message, attempt })
    if (verdict.ok) return {}
    const { next: runAt, message: error } = verdict
    if (runAt !== null) {
      const later = { owner: widget.owner, payload: { ...payload, attempt: attempt + 1 }, runAt }
      return { effects: (tx) => jobs.enqueue(tx, kind, later) }
    }
    const input = {
      metadata: { config_id: widget.id, event_id: event, attempts: attempt, http_status: httpStatus, error },
    }
    const entry = { action: 'widget.call_failed', entityType: 'widget_session' as const, entityId: session.id, input }
    return {
      effects: (tx) => audit.recordUnattended(tx, { scope: widget.owner, requestId: newRequestId() }, entry),
    }
  }

  /** The event as webhooks have it (contract 14.2), with what the visitor said; the same in each attempt. */
  async function bodyOf({ event, created, message, reason }: Call, session: SessionRow): Promise<string> {
    const reply = message === null ? undefined : await rows.message(store.read, session.id, message)
    const data = {
      config_id: session.config_id,
      session_id: session.id,
      takeover_status: 'requested',
      operator_id: null,
      reason,
      message: reply ? presentMessage(reply) : null,
      page_url: session.page_url,
    }
    return JSON.stringify({ id: event, type: humanRequested.type, created, data })
  }
}

/** Phrases that ask for a person, besides the owner's own keywords. */
const PHRASES = [
  'talk to a human',
  'talk to a person',
  'talk to someone',
  'talk to an agent',
  'speak to a human',
  'speak to a person',
  'speak to someone',
  'speak to an agent',
  'speak with a human',
  'human agent',
  'real person',
  'real human',
  'live agent',
  'echter mensch',
  'mit einem menschen',
  'hablar con una persona',
  'parler à un humain',
  'parler à une personne',
]

const isWordChar = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char)

/** Whether a message asks for a person: it has one of the phrases as whole words. Linear in its length. */
export function asksForPerson(text: string, { enabled, keywords }: Intents): boolean {
  if (!enabled) return false
  const message = text.toLowerCase().replace(/\s+/g, ' ')
  return [...PHRASES, ...keywords.map((word) => word.toLowerCase())].some((phrase) => {
    for (let at = message.indexOf(phrase); at >= 0; at = message.indexOf(phrase, at + 1)) {
      if (!isWordChar(message[at - 1]) && !isWordChar(message[at + phrase.length])) return true
    }
    return false
  })
}
