import { LRUCache } from 'lru-cache'
import { defineEvent } from '../events'
import type { Change } from '../jobs'
import { newRequestId } from '../kernel/ids'
import type { Tx } from '../kernel/store'
import { MessageId } from '../skills/conversations/schema'
import type { Deps } from './deps'
import { isClosed, sessionNotFound } from './errors'
import { sessionRepository as rows } from './repository'
import type { WidgetSessionId } from './schema-sessions'
import type { MessageRow, SessionRow } from './table'

/** Data of the three (contract 14.2). */
type SessionState = {
  config_id: string
  session_id: string
  takeover_status: string
  operator_id: string | null
}

export const humanRequested = defineEvent<SessionState>('widget.human_requested')
const takeoverStarted = defineEvent<SessionState>('widget.takeover_started')
const takeoverReleased = defineEvent<SessionState>('widget.takeover_released')

const MAX = 500

export type Recent = ReturnType<typeof createRecent>

/**
 * Messages that this process has just committed, so that whoever listens here need not read them again. A message never
 * changes in what listeners are told, and one that is not here is read from the store.
 */
export function createRecent() {
  const messages = new LRUCache<string, MessageRow>({ max: MAX })
  const keyOf = (session: WidgetSessionId, seq: number) => `${session} ${seq}`
  return {
    keep: (message: MessageRow): void => void messages.set(keyOf(message.session_id, message.seq), message),
    /** The one message after a number; undefined where it is not known here. */
    after: (session: WidgetSessionId, seq: number) => messages.get(keyOf(session, seq + 1)),
  }
}

type Written = Pick<MessageRow, 'role' | 'content'> & Partial<Pick<MessageRow, 'artifacts' | 'ip_hash' | 'failed'>>

type Place = Pick<SessionRow, 'id' | 'config_id'>

/** The topic of what listeners of a chat are told: `begun`, `message`, `takeover`, `typing`, `closed`, `left` and `back`. */
export const CHAT = 'widget.session'
export const CHAT_KIND = 'widget_session'
/** Chats as a kind of takeover; an operator may be silent for half an hour (contract 15.2). */
export const CHATS = { name: CHAT_KIND, title: 'conversation', silenceMs: 30 * 60_000 }

/** Writes a message at the end of a chat, and tells who listens. The chat must be locked by this unit. */
export async function writeMessage(
  deps: Deps,
  tx: Tx,
  session: SessionRow,
  { role, content, artifacts = [], ip_hash = null, failed = false }: Written,
  more: Partial<SessionRow> = {},
): Promise<{ message: MessageRow; session: SessionRow }> {
  const { clock } = deps
  const now = clock.now()
  const seq = session.message_count + 1
  const message = messageOf(session, { role, content, artifacts, ip_hash, failed }, seq, now)
  await rows.insertMessage(tx, message)
  const { first_asked_at: requested, first_response_ms: answered } = session
  const isFirst = answered === null && requested !== null && (role === 'assistant' || role === 'operator')
  const response = isFirst ? { first_response_ms: Math.max(0, now - requested) } : {}
  const changes = { message_count: seq, last_message_at: now, changed_at: now, ...response, ...more }
  const changed = await rows.change(tx, session.id, changes)
  tellChat(deps, tx, session, { what: 'message', seq }, message)
  return { message, session: changed }
}

/**
 * As `write`, for the person who has the chat, whose time of silence begins anew. Few statements, sent together where
 * they can be: people type into many chats at once. Throws 404, and 409 unless it is open and theirs.
 */
export async function writeReply(
  deps: Deps,
  tx: Tx,
  { id, owner }: SessionRow,
  { holderId, content }: { holderId: string; content: string },
): Promise<MessageRow> {
  const { clock, chats } = deps
  const now = clock.now()
  const [, session] = await together([chats.touch(tx, { id, owner }, holderId), rows.countReply(tx, id, now)])
  if (!session) throw (await rows.byIds(tx, [id])).length ? isClosed() : sessionNotFound()
  const response = { role: 'operator' as const, content, artifacts: [], ip_hash: null, failed: false }
  const message = messageOf(session, response, session.message_count, now)
  tellChat(deps, tx, session, { what: 'message', seq: message.seq }, message)
  await rows.insertMessage(tx, message)
  return message
}

/** Changes a chat in a way that its listeners are to see. */
export async function markChat(
  { clock }: Deps,
  tx: Tx,
  id: WidgetSessionId,
  columns: Partial<SessionRow>,
): Promise<SessionRow> {
  return rows.change(tx, id, { ...columns, changed_at: clock.now() })
}

export function tellChat(
  { recent, live }: Deps,
  tx: Tx,
  { id, config_id: widget }: Place,
  heard: Record<string, string | number>,
  message?: MessageRow,
): void {
  tx.afterCommit(() => {
    if (message) recent.keep(message)
    live.tell(CHAT, id, { ...heard, widget })
  })
}

/** Part of each change of who answers: the chat's own columns, the record, the event, and who is told. */
export async function takeoverChanged(
  deps: Deps,
  tx: Tx,
  { subject, now, before, cause, call }: Change,
): Promise<void> {
  const { events, audit } = deps
  const isPickedUp = cause === 'taken' && before.status === 'requested' && before.since !== null
  const session = await markChat(deps, tx, subject.id as WidgetSessionId, {
    takeover_status: now.status,
    operator_id: now.holder?.id ?? null,
    operator_name: now.holder?.name ?? null,
    reason: now.reason,
    ...(isPickedUp ? { waited_ms: Math.max(0, now.since! - before.since!) } : {}),
  })
  tellChat(deps, tx, session, { what: 'takeover', status: now.status })
  if (cause === 'taken' || cause === 'stolen' || cause === 'handed')
    await rows.change(tx, session.id, { takeovers: session.takeovers + 1 })
  const { kind, action } = NAMES[cause]
  await events.emit(tx, kind, subject.owner, {
    config_id: session.config_id,
    session_id: session.id,
    takeover_status: now.status,
    operator_id: (now.holder ?? before.holder)?.id ?? null,
  })
  if (!action) return
  const about = { entityType: 'widget_session' as const, entityId: session.id }
  const input = { metadata: { config_id: session.config_id, cause, operator: (now.holder ?? before.holder)?.name } }
  if (call) await audit.record(tx, call, { action, ...about, scope: subject.owner, input })
  else
    await audit.recordUnattended(tx, { scope: subject.owner, requestId: newRequestId() }, { action, ...about, input })
}

/** A chat as what is taken over. */
export const subjectOf = ({ id, owner }: Pick<SessionRow, 'id' | 'owner'>) => ({ id, owner })

/**
 * As `Promise.all`, but also waits where one fails: nothing may go on in a unit that has ended. Throws what failed first;
 * what fails after it says only that the unit is over.
 */
export async function together<const Work extends readonly Promise<unknown>[]>(work: Work) {
  const all = Promise.all(work)
  await Promise.allSettled([all, ...work])
  return all
}

const messageOf = (
  { id, config_id }: SessionRow,
  message: Omit<MessageRow, 'id' | 'session_id' | 'config_id' | 'seq' | 'created_at'>,
  seq: number,
  now: number,
): MessageRow => ({ id: MessageId.create(), session_id: id, config_id, seq, ...message, created_at: now })

const STARTED = { kind: takeoverStarted, action: 'widget.takeover_started' }
const RELEASED = { kind: takeoverReleased, action: 'widget.takeover_released' }
const NAMES = {
  requested: { kind: humanRequested, action: null },
  taken: STARTED,
  stolen: STARTED,
  handed: STARTED,
  released: RELEASED,
  silent: RELEASED,
}
