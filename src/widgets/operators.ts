import { storeAnswer } from '../idempotency'
import type { Holder, Takeover } from '../jobs'
import type { Call, Caller, OwnerScope } from '../kernel/caller'
import { iso, isoOrNull } from '../kernel/clock'
import { invalidInput, storageUnavailable } from '../kernel/errors'
import { OrgId, UserId } from '../kernel/ids'
import { listBy } from '../kernel/keyset'
import { encodeCursor, mapPage, type Page, pageFields } from '../kernel/page'
import type { Reader, Tx } from '../kernel/store'
import { isBlank, storable } from '../kernel/text'
import type { Deps } from './deps'
import { isClosed, noSuchPerson, sessionNotFound, tooManyNotes } from './errors'
import { shownMessages } from './pictures'
import {
  holderIdOf,
  MAX_NOTES,
  noteRepository as notes,
  presentMessage,
  presentNote,
  presentSession,
  publicName,
  sessionRepository as rows,
} from './repository'
import { WidgetId } from './schema'
import {
  type Drafted,
  type Handover,
  type NewNote,
  type Noted,
  NoteId,
  type StoredReply,
  type TakenOver,
  type TakeoverInput,
  type TakeoverQuery,
  type TakeoverState,
  type Typed,
  type WidgetNote,
  type WidgetSession,
  WidgetSessionId,
  type WidgetSessionQuery,
  type WidgetTranscript,
} from './schema-sessions'
import { type SessionRow, widgetSessions } from './table'
import { CHAT, draftAnswer, markChat, publishChat, subjectOf, together, writeMessage, writeReply } from './transcript'

type Reply = { call: Call<Caller>; session: SessionRow; content: string }

export type Waiting = Reply & { resolve(message: StoredReply): void; reject(error: unknown): void }

const MAX_TOGETHER = 64
const MAX_SEARCHED = 100

/** Identifies a chat and its widget, from the path. */
type Which = { id: string; sessionId: string }

export async function listChats(
  { findWidget, store }: Deps,
  { caller }: Call<Caller>,
  id: string,
  query: WidgetSessionQuery,
) {
  const widget = await findWidget(store.read, caller, id)
  return shown(await rows.list(store.read, widget.id, query))
}

/** Chats of all widgets. For operators of the server. */
export async function listAllChats({ store }: Deps, query: WidgetSessionQuery) {
  return shown(await rows.list(store.read, null, query))
}

/** Maximum time for a text search within one request. */
const SEARCH_MS = 150

/**
 * The conversations of all widgets that the caller sees, last activity first. With `q`, a page can be short or even
 * empty and still have a cursor, because text search is limited to a fraction of a second.
 */
export async function listTakeovers(
  { store, clock, chats }: Deps,
  { caller }: Call,
  widgets: ReadonlyMap<WidgetId, string>,
  { state, config_id, q, limit, cursor }: TakeoverQuery,
) {
  const ids = [...widgets.keys()].filter((id) => config_id === undefined || id === config_id)
  const holder = holderIdOf(caller)
  const endsAt = clock.monotonic() + SEARCH_MS
  const found: SessionRow[] = []
  let page: Page<SessionRow> = { items: [], next: cursor ?? null }
  do {
    const wanted = { limit: q === undefined ? limit : MAX_SEARCHED, cursor: page.next ?? undefined }
    page = await rows.ofWidgets(store.read, ids, { state, holder, ...wanted })
    const matching = q === undefined ? null : await rows.withWords(store.read, page.items, q)
    for (const row of page.items.filter(({ id }) => matching?.has(id) ?? true)) {
      found.push(row)
      if (found.length < limit || row === page.items.at(-1)) continue
      page = {
        items: [],
        next: encodeCursor(listBy(store.read.of(widgetSessions).last_message_at), {
          at: row.last_message_at,
          id: row.id,
        }),
      }
      break
    }
  } while (found.length < limit && page.next !== null && clock.monotonic() < endsAt)
  const states = await chats.readAll(
    store.read,
    found.map(({ id }) => id),
  )
  const takeovers = found.map((row) => ({
    ...presentSession(row),
    config_name: widgets.get(row.config_id) ?? '',
    waiting_since: row.takeover_status === 'requested' ? isoOrNull(states.get(row.id)?.since ?? null) : null,
  }))
  return { takeovers, ...pageFields(page) }
}

export async function readChat(
  deps: Deps,
  { caller }: Call<Caller>,
  which: Which,
  after?: string,
): Promise<WidgetTranscript> {
  const { store } = deps
  const session = await find(deps, store.read, caller, which)
  const from = after ? (await rows.message(store.read, session.id, after))?.seq : undefined
  const found = await rows.messages(store.read, session.id, from ?? 0)
  const messages = await shownMessages(deps, session, found)
  const written = await notes.list(store.read, session.id)
  return { ...presentSession(session), messages, notes: written.map(presentNote) }
}

/** Takes a chat over. From then on the AI does not answer (docs/promises.md I36). Throws 409 if another has it. */
export function takeChat(
  deps: Deps,
  call: Call<Caller>,
  which: Which,
  { operator_name, message, force = false }: NonNullable<TakeoverInput> = {},
): Promise<TakenOver> {
  const { chats } = deps
  return changing(deps, call, which, async (tx, session) => {
    assertOpen(session)
    const holder = await holderOf(deps, tx, call.caller, operator_name)
    const { holder: before } = await chats.read(tx, session.id)
    // Without a new name, the person keeps the name they already have here.
    if (operator_name === undefined && before?.id === holder.id) holder.name = before.name
    const taken = await chats.take(tx, subjectOf(session), { call, holder, force })
    const now = (await rows.lock(tx, session.id))!
    if (message !== undefined)
      await writeMessage(deps, tx, now, { role: 'operator', content: readWords(message, 'message') })
    return takenOver(session, taken)
  })
}

/** Hands a chat to another person. Throws 404 for an unknown one, and 409 unless the caller has the chat. */
export function handOver(
  deps: Deps,
  call: Call<Caller>,
  which: Which,
  { to, note: words }: Handover,
): Promise<TakenOver> {
  const { chats } = deps
  return changing(deps, call, which, async (tx, session) => {
    assertOpen(session)
    const holder = await personOf(deps, tx, session.owner, to)
    const passed = { call, from: holderIdOf(call.caller), to: holder }
    const taken = await chats.pass(tx, subjectOf(session), passed)
    if (words !== undefined) await addNote(deps, tx, call, session, readWords(words, 'note'))
    return takenOver(session, taken)
  })
}

/** Writes a note for colleagues. Visitors never see it. Throws 409 when the chat has the maximum number of notes. */
export function writeNote(deps: Deps, call: Call<Caller>, which: Which, { content }: NewNote): Promise<Noted> {
  const words = readWords(content, 'content')
  return changing(deps, call, which, async (tx, session) => ({ note: await addNote(deps, tx, call, session, words) }))
}

async function addNote(
  deps: Deps,
  tx: Tx,
  call: Call<Caller>,
  session: SessionRow,
  content: string,
): Promise<WidgetNote> {
  const { clock, audit } = deps
  if ((await notes.list(tx, session.id)).length >= MAX_NOTES) throw tooManyNotes(MAX_NOTES)
  const { id, name } = await holderOf(deps, tx, call.caller)
  const row = {
    id: NoteId.create(),
    session_id: session.id,
    config_id: session.config_id,
    author_id: id,
    author_name: name,
    content: storable(content),
    created_at: clock.now(),
  }
  await notes.insert(tx, row)
  const about = { entityType: 'widget_session' as const, entityId: session.id, scope: session.owner }
  await audit.record(tx, call, { action: 'widget.note_added', ...about })
  publishChat(deps, tx, session, { what: 'note' })
  return presentNote(row)
}

/** Drafts an answer by the AI for a person. Sends nothing, and charges the widget's key. Throws 409, 402. */
export async function draftReply(deps: Deps, call: Call<Caller>, which: Which): Promise<Drafted> {
  const { store, findWidget } = deps
  const session = await find(deps, store.read, call.caller, which)
  assertOpen(session)
  return draftAnswer(deps, call, await findWidget(store.read, call.caller, which.id), session)
}

/** Sends a message to the visitor. Throws 409 unless this person has the chat. */
export async function sendToVisitor(
  deps: Deps,
  call: Call<Caller>,
  which: Which,
  content: string,
): Promise<StoredReply> {
  const { store } = deps
  const words = readWords(content, 'content')
  const session = await find(deps, store.read, call.caller, which)
  return sayInTurn(deps, { call, session, content: words })
}

/** Shows the visitor that the person is typing. Stores nothing. Throws 409 unless this person has the chat. */
export async function showTyping(deps: Deps, call: Call<Caller>, which: Which): Promise<Typed> {
  const { store, chats, live } = deps
  const session = await find(deps, store.read, call.caller, which)
  await store.write((tx) => chats.touch(tx, subjectOf(session), holderIdOf(call.caller)))
  live.publish(CHAT, session.id, { what: 'typing', role: 'operator' })
  return { typing: true }
}

/** Returns a chat to the AI, from any state, by anyone who may see it (docs/attacks.md M8). */
export function releaseChat(deps: Deps, call: Call<Caller>, which: Which): Promise<TakeoverState> {
  const { chats } = deps
  return changing(deps, call, which, async (tx, session) => {
    await chats.release(tx, subjectOf(session), { call })
    return { session_id: session.id, takeover_status: 'ai' }
  })
}

export function closeChat(deps: Deps, call: Call<Caller>, which: Which): Promise<WidgetSession> {
  const { chats, audit } = deps
  return changing(deps, call, which, async (tx, session) => {
    await chats.release(tx, subjectOf(session), { call })
    if (session.status === 'closed') return presentSession((await rows.lock(tx, session.id))!)
    const closed = await markChat(deps, tx, session.id, { status: 'closed' })
    publishChat(deps, tx, session, { what: 'closed' })
    const about = { entityType: 'widget_session' as const, entityId: session.id, scope: session.owner }
    await audit.record(tx, call, { action: 'widget.closed', ...about })
    return presentSession(closed)
  })
}

/** Runs a change of a chat. Every transaction that needs both locks first the takeover and then the chat. */
function changing<T>(
  deps: Deps,
  call: Call<Caller>,
  which: Which,
  change: (tx: Tx, session: SessionRow) => Promise<T>,
): Promise<T> {
  const { store, chats } = deps
  return store.write(async (tx) => {
    const found = await find(deps, tx, call.caller, which)
    await chats.lock(tx, subjectOf(found))
    const session = await rows.lock(tx, found.id)
    if (!session) throw sessionNotFound()
    return storeAnswer(tx, call, await change(tx, session))
  })
}

async function find(
  { findWidget }: Deps,
  reader: Reader,
  caller: Caller,
  { id, sessionId }: Which,
): Promise<SessionRow> {
  const isId = WidgetSessionId.is(sessionId) && WidgetId.is(id)
  const [widget, found] = await Promise.all([
    findWidget(reader, caller, id),
    isId ? rows.find(reader, id, sessionId) : undefined,
  ])
  if (found?.config_id !== widget.id) throw sessionNotFound()
  return found
}

async function holderOf({ orgs }: Deps, reader: Reader, caller: Caller, called?: string): Promise<Holder> {
  const user = caller.type === 'operator' ? undefined : await orgs.user(reader, caller.userId)
  return { id: holderIdOf(caller), name: publicName(called, user?.name ?? null) }
}

const shown = (page: Page<SessionRow>) => {
  const { items } = mapPage(page, presentSession)
  return { conversations: items, ...pageFields(page) }
}

const takenOver = ({ id }: SessionRow, { holder, since }: Takeover): TakenOver => ({
  session_id: id,
  takeover_status: 'human',
  operator: holder ?? { id: '', name: '' },
  taken_over_at: iso(since ?? 0),
})

function assertOpen({ status }: SessionRow): void {
  if (status === 'closed') throw isClosed()
}

function readWords(text: string, path: string): string {
  if (isBlank(text)) throw invalidInput(path, `"${path}" is empty. Send a message.`)
  return text
}

/**
 * Writes messages of people. The audit record of an owner is one chain, so its commits run one after the other.
 * Messages that arrive during a commit are written together in the next one. Answers only after the commit. Throws 404,
 * and 409 unless the chat is open and belongs to the caller.
 */
function sayInTurn(deps: Deps, reply: Reply): Promise<StoredReply> {
  const { owner } = reply.session
  const { promise, resolve, reject } = Promise.withResolvers<StoredReply>()
  const queue = deps.replies.get(owner)
  if (queue) queue.push({ ...reply, resolve, reject })
  else {
    const first = [{ ...reply, resolve, reject }]
    deps.replies.set(owner, first)
    const drain = async () => {
      while (first.length) await commit(deps, owner, first.splice(0, MAX_TOGETHER))
      deps.replies.delete(owner)
    }
    void drain()
  }
  return promise
}

/** If a batch fails, tries each message alone, so that one rejected message does not affect the others. */
async function commit(deps: Deps, owner: SessionRow['owner'], batch: Waiting[]): Promise<void> {
  const { store } = deps
  try {
    const messages = await store.write((tx) => writeAll(deps, tx, owner, batch))
    for (const [at, { resolve }] of batch.entries()) resolve(messages[at]!)
  } catch (error) {
    const isAway = (error as { code?: unknown }).code === storageUnavailable.code
    if (batch.length === 1 || isAway) for (const { reject } of batch) reject(error)
    else for (const one of batch) await commit(deps, owner, [one])
  }
}

/**
 * Every process locks in the same order: first the takeovers, then the chats, and last the head of the audit record,
 * for the shortest time.
 */
async function writeAll(
  deps: Deps,
  tx: Tx,
  owner: SessionRow['owner'],
  batch: readonly Reply[],
): Promise<StoredReply[]> {
  const { audit, chats } = deps
  const answers = new Map<Reply, StoredReply>()
  const ordered = batch.toSorted((a, b) => (a.session.id < b.session.id ? -1 : Number(a.session.id > b.session.id)))
  await together(ordered.map(({ call, session }) => chats.touch(tx, subjectOf(session), holderIdOf(call.caller))))
  const written = ordered.map(async (reply) => {
    const { call, session, content } = reply
    const message = await writeReply(deps, tx, session, content)
    answers.set(reply, await storeAnswer(tx, call, { message: presentMessage(message) }))
  })
  await together(written)
  const acts = ordered.map(({ call, session: { id } }) => ({
    call,
    entry: { action: 'widget.message_sent' as const, entityType: 'widget_session' as const, entityId: id },
  }))
  await audit.recordAll(tx, owner, acts)
  return batch.map((reply) => answers.get(reply)!)
}

/**
 * A person who may answer in this owner's chats, by e-mail address or id: a team member, or the owner themselves.
 * Throws 404 for anyone else, and for disabled accounts.
 */
async function personOf({ orgs }: Deps, reader: Reader, owner: OwnerScope, ref: string): Promise<Holder> {
  const user = UserId.is(ref) ? await orgs.user(reader, ref) : await orgs.userByEmail(reader, ref)
  const orgId = owner.startsWith('org:') ? owner.slice('org:'.length) : ''
  if (!user || user.disabled_at !== null) throw noSuchPerson()
  const role = OrgId.is(orgId) ? await orgs.roleOf(reader, orgId, user.id) : null
  if (owner !== `user:${user.id}` && role === null) throw noSuchPerson()
  return { id: user.id, name: publicName(user.name) }
}
