import { LRUCache } from 'lru-cache'
import { type CompletionRequest, DEFAULT_ITERATIONS, type Progress } from '../completions'
import { defineEvent } from '../events'
import { storeAnswer } from '../idempotency'
import type { Change } from '../jobs'
import type { Mode } from '../kernel/caller'
import { type Call, type Caller, type KeyCaller, ownerOf } from '../kernel/caller'
import { AppError } from '../kernel/errors'
import { newRequestId } from '../kernel/ids'
import { centsToMicro, microToCents } from '../kernel/money'
import type { Tx } from '../kernel/store'
import type { ConversationService } from '../skills'
import { ConversationId, MessageId } from '../skills/conversations/schema'
import type { Deps } from './deps'
import { isClosed, nothingRequested, sessionNotFound, widgetErrors } from './errors'
import { isForVisitors, personaOf } from './groups'
import { sessionRepository as rows } from './repository'
import type { Drafted, WidgetSessionId } from './schema-sessions'
import type { MessageRow, SessionRow, WidgetRow } from './table'

type Turn = {
  widget: WidgetRow
  session: SessionRow
  message: MessageRow
  /** Fence of the takeover when the message arrived. An answer under an older fence is never shown. */
  fence: number
  caller: KeyCaller
  images: readonly CompletionRequest['images'][number]['attachment'][]
  requestId: string
  route: string
}

type Show = (progress: Progress) => void | Promise<void>

type Alongside = NonNullable<CompletionRequest['alongside']>

/** Number of messages that an answer sees: 20 turns (docs/api.md 22.6). */
const HISTORY = 40

/** Maximum cost of one answer to a visitor. */
const MAX_MICRO = centsToMicro(100)

/** A person took over, or the chat ended, while the AI was answering. */
class Superseded extends Error {
  override name = 'Superseded'
}

/** Data of three events (docs/api.md 14.2). */
type SessionEventData = {
  config_id: string
  session_id: string
  takeover_status: string
  operator_id: string | null
}

export const humanRequested = defineEvent<SessionEventData>('widget.human_requested')
const takeoverStarted = defineEvent<SessionEventData>('widget.takeover_started')
const takeoverReleased = defineEvent<SessionEventData>('widget.takeover_released')

const MAX = 500

export type Recent = ReturnType<typeof createRecent>

/**
 * Cache of messages that this process just committed, so that local listeners need not read them again. The parts of a
 * message that listeners see never change. Other messages are read from the store.
 */
export function createRecent() {
  const messages = new LRUCache<string, MessageRow>({ max: MAX })
  const keyOf = (session: WidgetSessionId, seq: number) => `${session} ${seq}`
  return {
    keep: (message: MessageRow): void => void messages.set(keyOf(message.session_id, message.seq), message),
    /** The message after a number. Undefined if not cached. */
    after: (session: WidgetSessionId, seq: number) => messages.get(keyOf(session, seq + 1)),
  }
}

type Written = Pick<MessageRow, 'role' | 'content'> & Partial<Pick<MessageRow, 'artifacts' | 'ip_hash' | 'failed'>>

/** The topic of a chat's notices to listeners: `begun`, `message`, `takeover`, `typing`, `closed`, `left`, `back`. */
export const CHAT = 'widget.session'
export const CHAT_KIND = 'widget_session'
/** Chats as a kind of takeover. An operator may be silent for half an hour (docs/api.md 15.2). */
export const CHATS = { name: CHAT_KIND, title: 'conversation', silenceMs: 30 * 60_000 }

/** Appends a message to a chat, and notifies listeners. This transaction must have locked the chat. */
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
  publishChat(deps, tx, session, { what: 'message', seq }, message)
  return { message, session: changed }
}

/**
 * Like `writeMessage`, for the person who has the chat, after this transaction touched the takeover for them. Uses few
 * statements, sent together if possible, because people type into many chats at once. Throws 404, and 409 unless the
 * chat is open.
 */
export async function writeReply(deps: Deps, tx: Tx, { id }: SessionRow, content: string): Promise<MessageRow> {
  const { clock } = deps
  const now = clock.now()
  const session = await rows.countReply(tx, id, now)
  if (!session) throw (await rows.byIds(tx, [id])).length ? isClosed() : sessionNotFound()
  const response = { role: 'operator' as const, content, artifacts: [], ip_hash: null, failed: false }
  const message = messageOf(session, response, session.message_count, now)
  publishChat(deps, tx, session, { what: 'message', seq: message.seq }, message)
  await rows.insertMessage(tx, message)
  return message
}

/** Changes a chat in a way that its listeners see. */
export async function markChat(
  { clock }: Deps,
  tx: Tx,
  id: WidgetSessionId,
  columns: Partial<SessionRow>,
): Promise<SessionRow> {
  return rows.change(tx, id, { ...columns, changed_at: clock.now() })
}

export function publishChat(
  { recent, live }: Deps,
  tx: Tx,
  { id, config_id: widget }: Pick<SessionRow, 'id' | 'config_id'>,
  heard: Record<string, string | number>,
  message?: MessageRow,
): void {
  tx.afterCommit(() => {
    if (message) recent.keep(message)
    live.publish(CHAT, id, { ...heard, widget })
  })
}

/** Part of each change of who answers: updates the chat's own columns, the record, the event, and the listeners. */
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
  publishChat(deps, tx, session, { what: 'takeover', status: now.status })
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

/** A chat as the subject of a takeover. */
export const subjectOf = ({ id, owner }: Pick<SessionRow, 'id' | 'owner'>) => ({ id, owner })

/**
 * Like `Promise.all`, but also waits for all promises after a failure, because nothing may continue in an ended
 * transaction. Throws the first error. Later errors only report that the transaction has ended.
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

/**
 * Returns the stored answer. Null when a person took over first: then the answer is stopped, charged to nobody and not
 * shown (docs/promises.md I36). `show` makes it a stream. Throws what completions throw, and then marks the message as
 * not answered.
 */
export async function answerTurn(deps: Deps, turn: Turn, show: Show | null): Promise<MessageRow | null> {
  const { live, limiter, stopping, completions, store } = deps
  const stop = new AbortController()
  const unhear = live.subscribe(CHAT, turn.session.id, (heard) => {
    if (heard?.what === 'closed' || heard?.status === 'human') stop.abort(new Superseded())
  })
  let reply: MessageRow | null = null
  const alongside: Alongside = async (tx, run, { content, artifacts, resolvedMode, ...message }, broken) => {
    const session = await stillOurs(deps, tx, turn)
    const tools = message.toolsUsed.map(({ name, status, description }) => ({ toolName: name, status, description }))
    const about = { mode: run.request.mode, resolvedMode, model: message.model, tools, artifacts }
    const status = broken === undefined ? ('complete' as const) : ('interrupted' as const)
    const rest = { followUps: message.followUps, costMicro: run.costMicro, status }
    const stored = await keepTurn(deps, tx, turn, session, {
      prompt: turn.message.content,
      answer: content,
      ...about,
      ...rest,
    })
    const more = { cost_micro: session.cost_micro + run.costMicro, conversation_id: stored }
    // Visitors never see an empty answer.
    if (broken !== undefined && content === '') {
      await markChat(deps, tx, session.id, more)
      return
    }
    const written = await writeMessage(deps, tx, session, { role: 'assistant', content, artifacts }, more)
    reply = written.message
  }
  try {
    await limiter.admitRequest(turn.caller)
    const signal = AbortSignal.any([stop.signal, stopping])
    const call: Call = { caller: turn.caller, requestId: turn.requestId, route: turn.route, signal }
    const request = await requestOf(deps, call, turn, alongside)
    if (show) await completions.pipeline.stream(call, request, show)
    else await completions.pipeline.complete(call, request)
    return reply
  } catch (error) {
    if (error instanceof Superseded || stop.signal.aborted) return null
    await store.write((tx) => rows.changeMessage(tx, turn.message.id, { failed: true }))
    // These errors concern the widget's owner and not its visitors: credit, the key, its rights.
    throw error instanceof AppError && ['unpaid', 'forbidden', 'unauthenticated'].includes(error.kind)
      ? widgetErrors.cannotAnswer.with({ retryAfterS: 30, cause: error })
      : error
  } finally {
    unhear()
  }
}

/** Drafts the AI's next answer for a person. The chat stores nothing of it. Throws 409, and like `answerTurn`. */
export async function draftAnswer(
  deps: Deps,
  by: Call<Caller>,
  widget: WidgetRow,
  session: SessionRow,
): Promise<Drafted> {
  const { store, keyOf, limiter, stopping, completions } = deps
  const messages = await rows.last(store.read, session.id, HISTORY + 1)
  const message = messages.find(({ role }) => role === 'user')
  if (!message) throw nothingRequested()
  const caller = await keyOf(widget.api_key_id)
  if (!caller) throw widgetErrors.cannotAnswer.with({ retryAfterS: 300 })
  await limiter.admitRequest(caller)
  const call: Call = { ...by, caller, once: undefined, signal: AbortSignal.any([by.signal, stopping]) }
  let drafted: Drafted | null = null
  const alongside: Alongside = async (tx, run, { content }) => {
    drafted = { draft: content, cost_cents: microToCents(run.costMicro) }
    await storeAnswer(tx, by, drafted)
  }
  await completions.pipeline.complete(
    call,
    await requestOf(deps, call, { widget, session, message, images: [] }, alongside),
  )
  return drafted!
}

/** Throws unless the AI still has the chat under the same fence. Locks the chat until the answer is stored. */
async function stillOurs({ chats }: Deps, tx: Tx, { session, fence: fencingToken }: Turn): Promise<SessionRow> {
  const now = await chats.lock(tx, subjectOf(session))
  if (now.status === 'human' || now.fence !== fencingToken) throw new Superseded()
  const row = await rows.lock(tx, session.id)
  if (row?.status !== 'open') throw new Superseded()
  return row
}

/** Adds the AI's turns to the owner's conversations too. */
async function keepTurn(
  { conversations }: Deps,
  tx: Tx,
  { caller }: Turn,
  { conversation_id: id }: SessionRow,
  turn: Parameters<ConversationService['start']>[3],
): Promise<string> {
  if (id !== null) return conversations.append(tx, ownerOf(caller), id as ConversationId, turn)
  return conversations.start(tx, ownerOf(caller), ConversationId.create(), turn)
}

async function requestOf(
  { store, skills }: Deps,
  call: Call,
  { widget, session, message, images }: Pick<Turn, 'widget' | 'session' | 'message' | 'images'>,
  alongside: Alongside,
) {
  const { behavior } = widget
  const before = (await rows.last(store.read, session.id, HISTORY + 1))
    .filter(({ seq, role }) => seq < message.seq && role !== 'system')
    .reverse()
  return {
    prompt: message.content,
    mode: (isForVisitors(behavior.mode) ? behavior.mode : 'auto') as Mode,
    engine: null,
    overrides: {},
    voice: {
      persona: personaOf(behavior.persona),
      personality: null,
      style: null,
      branding: false,
      componentLibrary: 'svc',
    },
    usesSoul: true,
    context: before.map(({ role, content }) => ({ role: role === 'user' ? 'user' : 'assistant', content })),
    after: [],
    images: images.map((attachment, at) => ({ attachment, path: `attachments[${at}].data`, turn: null })),
    temperature: undefined,
    // Strangers get none of the owner's memories, tools and jobs, and only the skills that the widget names.
    sealed: true,
    forVisitors: true,
    active: await skills.onlyNamed(call, { slugs: behavior.skills, prompt: message.content }),
    skills: [],
    tools: [],
    conversation: 'none',
    bounds: { costMicro: MAX_MICRO, toolCalls: 20 },
    maxIterations: DEFAULT_ITERATIONS,
    functions: null,
    json: false,
    checkJson: null,
    metadata: { channel: 'widget', widget_id: widget.id, session_id: session.id },
    cache: 'off',
    wantsFollowUps: false,
    shape: null,
    warnings: [],
    present: () => ({}),
    alongside,
  } satisfies CompletionRequest as CompletionRequest
}
