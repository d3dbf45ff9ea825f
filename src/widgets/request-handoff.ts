import { EventId } from '../events/schema'
import { defineJob, type Outcome, type Running, type Takeover } from '../jobs'
import { iso } from '../kernel/clock'
import { newRequestId } from '../kernel/ids'
import type { Tx } from '../kernel/store'
import type { Deps } from './deps'
import { isClosed } from './errors'
import { keepPictures, type Stored } from './pictures'
import { presentMessage, sessionRepository as rows } from './repository'
import type { Intents, WidgetId } from './schema'
import type { WidgetSessionId } from './schema-sessions'
import type { MessageRow, SessionRow, WidgetRow } from './table'
import { humanRequested, subjectOf, writeMessage } from './transcript'
import { assertMaySend } from './visitor-auth'

export type IncomingMessage = { widget: WidgetRow; session: SessionRow; content: string; drafts: readonly Stored[] }

/** A stored message, and the notice for the visitor that replaces an answer. */
type ReceivedMessage = { message: MessageRow; session: SessionRow; fence: number; notice: MessageRow | null }

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

/** The job that notifies the owner's own server. */
export const callJob = (deps: Deps) =>
  defineJob<Call, null>({
    name: CALL.name,
    run: (job) => callOwner(deps, job),
    // Attempts end by the schedule of webhooks. These retries are for processes that die.
    retry: { attempts: 20, delayMs: (attempt) => Math.min(2 ** attempt, 30) * 1_000 },
    timeLimitMs: 60_000,
    concurrency: 16,
    concurrencyPerKey: 4,
    keepMs: 0,
  })

const CALL = { name: 'widgets.call' }

/**
 * A visitor asks for a person. The chat then waits for one, and the owner's own server is notified if it has an address
 * (docs/api.md 15.1).
 */
export async function requestPerson(
  { clock, chats, jobs }: Deps,
  tx: Tx,
  { widget, session, reason, message }: Request,
): Promise<Takeover> {
  const subject = subjectOf(session)
  const { status } = await chats.lock(tx, subject)
  const now = await chats.request(tx, subject, { call: null, reason })
  const { enabled, action, url } = widget.intents
  if (status === 'ai' && enabled && action === 'webhook' && url) {
    const about = { widget: widget.id, session: session.id, message: message?.id ?? null, reason }
    const payload: Call = { event: EventId.create(), created: iso(clock.now()), ...about, attempt: 1 }
    await jobs.enqueue(tx, CALL, { owner: widget.owner, payload })
  }
  return now
}

async function callOwner(deps: Deps, { payload }: Running<Call>): Promise<Outcome<null>> {
  const { store, jobs, audit, webhooks, secretOf } = deps
  const { event, attempt } = payload
  const widget = await rows.widget(store.read, payload.widget)
  const [session] = await rows.byIds(store.read, [payload.session])
  const { action, url } = widget?.intents ?? {}
  if (!widget || !session || action !== 'webhook' || !url) return {}
  // A person has already answered, or the request ended.
  if (attempt > 1 && session.takeover_status !== 'requested') return {}
  const body = await bodyOf(deps, payload, session)
  const message = { id: event, body, secret: secretOf(widget.owner) }
  const { httpStatus, verdict } = await webhooks.send({ url, message, attempt })
  if (verdict.ok) return {}
  const { next: runAt, message: error } = verdict
  if (runAt !== null) {
    const later = { owner: widget.owner, payload: { ...payload, attempt: attempt + 1 }, runAt }
    return { effects: (tx) => jobs.enqueue(tx, CALL, later) }
  }
  const input = {
    metadata: { config_id: widget.id, event_id: event, attempts: attempt, http_status: httpStatus, error },
  }
  const entry = { action: 'widget.call_failed', entityType: 'widget_session' as const, entityId: session.id, input }
  return {
    effects: (tx) => audit.recordUnattended(tx, { scope: widget.owner, requestId: newRequestId() }, entry),
  }
}

/** The event in the format of webhooks (docs/api.md 14.2), with the visitor's message. The same in each attempt. */
async function bodyOf(
  { store }: Deps,
  { event, created, message, reason }: Call,
  session: SessionRow,
): Promise<string> {
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

/** Receives a visitor's message in one transaction: counts it, stores it, and checks whether it asks for a person. */
export async function receiveMessage(
  deps: Deps,
  tx: Tx,
  { widget, session: known, content, drafts }: IncomingMessage,
): Promise<ReceivedMessage> {
  const { clock, chats } = deps
  const { id, ip_hash } = known
  const takeover = await chats.lock(tx, subjectOf(known))
  const session = await rows.lock(tx, id)
  if (session?.status !== 'open') throw isClosed()
  const { fence: fencingToken } = takeover
  const [last] = await rows.last(tx, id, 1)
  if (last?.failed && last.content === content && takeover.status !== 'human') {
    await rows.changeMessage(tx, last.id, { failed: false })
    return { message: last, session, fence: fencingToken, notice: null }
  }
  await assertMaySend(deps, tx, widget, session, ip_hash, content)
  const artifacts = await keepPictures(deps, tx, widget, drafts)
  const first = session.first_asked_at === null ? { first_asked_at: clock.now() } : {}
  const message = { role: 'user' as const, content, artifacts, ip_hash }
  const written = await writeMessage(deps, tx, session, message, { asked: session.asked + 1, ...first })
  const isRequestHandoff = takeover.status === 'ai' && asksForPerson(content, widget.intents)
  if (!isRequestHandoff) return { ...written, fence: fencingToken, notice: null }
  return { ...(await fetchPerson(deps, tx, widget, written)), message: written.message, fence: fencingToken }
}

/** Applies the owner's settings when a visitor asks for a person. */
async function fetchPerson(
  deps: Deps,
  tx: Tx,
  widget: WidgetRow,
  { session, message: reply }: { session: SessionRow; message: MessageRow },
) {
  const { action, message } = widget.intents
  const isForPeople = action === 'takeover' || action === 'webhook'
  if (isForPeople)
    await requestPerson(deps, tx, { widget, session, reason: 'The visitor asked for a person.', message: reply })
  const words = message || (isForPeople ? 'You asked for a person. Someone will be with you soon.' : '')
  const now = (await rows.lock(tx, session.id))!
  if (!words && action !== 'redirect') return { session: now, notice: null }
  const { message: notice, session: after } = await writeMessage(deps, tx, now, {
    role: 'system',
    content: words || 'Please continue here.',
  })
  return { session: after, notice }
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

/** True if a message contains one of the phrases as whole words. Linear in its length. */
function asksForPerson(text: string, { enabled, keywords }: Intents): boolean {
  if (!enabled) return false
  const message = text.toLowerCase().replace(/\s+/g, ' ')
  return [...PHRASES, ...keywords.map((word) => word.toLowerCase())].some((phrase) => {
    for (let at = message.indexOf(phrase); at >= 0; at = message.indexOf(phrase, at + 1)) {
      if (!isWordChar(message[at - 1]) && !isWordChar(message[at + phrase.length])) return true
    }
    return false
  })
}
