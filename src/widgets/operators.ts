import type { AuditLog } from '../audit'
import type { Live } from '../cluster'
import { storeAnswer } from '../idempotency'
import type { Holder, Takeover } from '../jobs'
import type { Call, Caller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { invalidInput, storageUnavailable } from '../kernel/errors'
import { mapPage, type Page, pageFields } from '../kernel/page'
import type { Reader, Store, Tx } from '../kernel/store'
import { isBlank, storable } from '../kernel/text'
import { isClosed, sessionNotFound, tooManyNotes } from './errors'
import type { createPictures } from './pictures'
import { holderIdOf, presentMessage, presentSession, publicName } from './present'
import { MAX_NOTES, noteRepository as notes, presentNote, sessionRepository as rows } from './repository'
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
  type TakeoverState,
  type Typed,
  type WidgetNote,
  type WidgetSession,
  WidgetSessionId,
  type WidgetSessionQuery,
  type WidgetTranscript,
} from './schema-sessions'
import type { SessionRow, WidgetRow } from './table'
import { CHAT, type Transcript, together } from './transcript'
import type { Turns } from './turns'

type RepliesDeps = { store: Store; audit: AuditLog; transcript: Pick<Transcript, 'reply'> }

type Reply = { call: Call<Caller>; session: SessionRow; content: string }

type Waiting = Reply & { resolve(message: StoredReply): void; reject(error: unknown): void }

const MAX_TOGETHER = 64

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  live: Live
  transcript: Transcript
  /** Throws 404 for a widget that is not the caller's. */
  findWidget(reader: Reader, caller: Caller, id: string): Promise<WidgetRow>
  /** The name that the account has told; null for none. */
  nameOf(reader: Reader, caller: Caller): Promise<string | null>
  /** Somebody who may answer in this owner's chats. Throws 404. */
  personOf(reader: Reader, owner: SessionRow['owner'], ref: string): Promise<Holder>
  drafts: Pick<Turns, 'draft'>
  pictures: Pick<ReturnType<typeof createPictures>, 'shown'>
}

/** Which chat of which widget, as the path says. */
type Which = { id: string; sessionId: string }

/** What people do in visitors' chats (contract 15.2). */
export function createOperatorSide(deps: Deps) {
  const { store, clock, audit, live, transcript, findWidget, nameOf, personOf, drafts, pictures } = deps
  const { chats } = transcript
  const replies = createReplies({ store, audit, transcript })
  return { list, listAll, read, take, say, typing, note, handover, draft, release, close }

  async function list({ caller }: Call<Caller>, id: string, query: WidgetSessionQuery) {
    const widget = await findWidget(store.read, caller, id)
    return shown(await rows.list(store.read, widget.id, query))
  }

  /** Of all widgets: for operators of the server. */
  async function listAll(query: WidgetSessionQuery) {
    return shown(await rows.list(store.read, null, query))
  }

  async function read({ caller }: Call<Caller>, which: Which, after?: string): Promise<WidgetTranscript> {
    const session = await find(store.read, caller, which)
    const from = after ? (await rows.message(store.read, session.id, after))?.seq : undefined
    const found = await rows.messages(store.read, session.id, from ?? 0)
    const messages = await pictures.shown(session, found)
    const written = await notes.list(store.read, session.id)
    return { ...presentSession(session), messages, notes: written.map(presentNote) }
  }

  /** Takes it over: the AI is silent from this commit on (I36). Throws 409 where another one has it. */
  function take(
    call: Call<Caller>,
    which: Which,
    { operator_name, message, force = false }: NonNullable<TakeoverInput> = {},
  ): Promise<TakenOver> {
    return changing(call, which, async (tx, session) => {
      assertOpen(session)
      const holder = await holderOf(tx, call.caller, operator_name)
      const { holder: before } = await chats.read(tx, session.id)
      // Without a name they go on under the one that they have here.
      if (operator_name === undefined && before?.id === holder.id) holder.name = before.name
      const taken = await chats.take(tx, subjectOf(session), { call, holder, force })
      const now = (await rows.lock(tx, session.id))!
      if (message !== undefined)
        await transcript.write(tx, now, { role: 'operator', content: readWords(message, 'message') })
      return takenOver(session, taken)
    })
  }

  /** Gives it to another person who may answer here. Throws 404 for nobody, and 409 unless the caller has it. */
  function handover(call: Call<Caller>, which: Which, { to, note: words }: Handover): Promise<TakenOver> {
    return changing(call, which, async (tx, session) => {
      assertOpen(session)
      const holder = await personOf(tx, session.owner, to)
      const passed = { call, from: holderIdOf(call.caller), to: holder }
      const taken = await chats.pass(tx, subjectOf(session), passed)
      if (words !== undefined) await addNote(tx, call, session, readWords(words, 'note'))
      return takenOver(session, taken)
    })
  }

  /** For the people who answer; visitors never see it. Throws 409 where the chat has the most. */
  function note(call: Call<Caller>, which: Which, { content }: NewNote): Promise<Noted> {
    const words = readWords(content, 'content')
    return changing(call, which, async (tx, session) => ({ note: await addNote(tx, call, session, words) }))
  }

  async function addNote(tx: Tx, call: Call<Caller>, session: SessionRow, content: string): Promise<WidgetNote> {
    if ((await notes.list(tx, session.id)).length >= MAX_NOTES) throw tooManyNotes(MAX_NOTES)
    const { id, name } = await holderOf(tx, call.caller)
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
    transcript.tell(tx, session, { what: 'note' })
    return presentNote(row)
  }

  /** What the AI would say, for the person who answers: nothing is sent, and the widget's key pays. Throws 409, 402. */
  async function draft(call: Call<Caller>, which: Which): Promise<Drafted> {
    const session = await find(store.read, call.caller, which)
    assertOpen(session)
    return drafts.draft(call, await findWidget(store.read, call.caller, which.id), session)
  }

  /** Throws 409 unless this person has it. */
  async function say(call: Call<Caller>, which: Which, content: string): Promise<StoredReply> {
    const words = readWords(content, 'content')
    const session = await find(store.read, call.caller, which)
    return replies.say({ call, session, content: words })
  }

  /** Shown to the visitor while it lasts; nothing is stored. Throws 409 unless this person has it. */
  async function typing(call: Call<Caller>, which: Which): Promise<Typed> {
    const session = await find(store.read, call.caller, which)
    await store.write((tx) => chats.touch(tx, subjectOf(session), holderIdOf(call.caller)))
    live.tell(CHAT, session.id, { what: 'typing', role: 'operator' })
    return { typing: true }
  }

  /** Back to the AI, from any state and by anyone who may see it (M8). */
  function release(call: Call<Caller>, which: Which): Promise<TakeoverState> {
    return changing(call, which, async (tx, session) => {
      await chats.release(tx, subjectOf(session), { call })
      return { session_id: session.id, takeover_status: 'ai' }
    })
  }

  function close(call: Call<Caller>, which: Which): Promise<WidgetSession> {
    return changing(call, which, async (tx, session) => {
      await chats.release(tx, subjectOf(session), { call })
      if (session.status === 'closed') return presentSession((await rows.lock(tx, session.id))!)
      const closed = await transcript.changed(tx, session.id, { status: 'closed' })
      transcript.tell(tx, session, { what: 'closed' })
      const about = { entityType: 'widget_session' as const, entityId: session.id, scope: session.owner }
      await audit.record(tx, call, { action: 'widget.closed', ...about })
      return presentSession(closed)
    })
  }

  /** Who has it is locked first and then the chat, in every unit that needs both. */
  function changing<T>(
    call: Call<Caller>,
    which: Which,
    change: (tx: Tx, session: SessionRow) => Promise<T>,
  ): Promise<T> {
    return store.write(async (tx) => {
      const found = await find(tx, call.caller, which)
      await chats.lock(tx, subjectOf(found))
      const session = await rows.lock(tx, found.id)
      if (!session) throw sessionNotFound()
      return storeAnswer(tx, call, await change(tx, session))
    })
  }

  async function find(reader: Reader, caller: Caller, { id, sessionId }: Which): Promise<SessionRow> {
    const isId = WidgetSessionId.is(sessionId) && WidgetId.is(id)
    const [widget, found] = await Promise.all([
      findWidget(reader, caller, id),
      isId ? rows.find(reader, id, sessionId) : undefined,
    ])
    if (found?.config_id !== widget.id) throw sessionNotFound()
    return found
  }

  async function holderOf(reader: Reader, caller: Caller, called?: string): Promise<Holder> {
    return { id: holderIdOf(caller), name: publicName(called, await nameOf(reader, caller)) }
  }
}

const shown = (page: Page<SessionRow>) => {
  const { items } = mapPage(page, presentSession)
  return { conversations: items, ...pageFields(page) }
}

export const subjectOf = ({ id, owner }: Pick<SessionRow, 'id' | 'owner'>) => ({ id, owner })

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
 * What people say in chats. The record of an owner is one chain, so commits of its people come one after the other: what
 * comes while one is under way goes with the next, together. Nothing is answered before it is committed.
 */
function createReplies({ store, audit, transcript }: RepliesDeps) {
  /** By owner; there while one is under way. */
  const queues = new Map<SessionRow['owner'], Waiting[]>()
  return { say }

  /** Throws 404, and 409 unless the chat is open and the caller's. */
  function say(reply: Reply): Promise<StoredReply> {
    const { owner } = reply.session
    const { promise, resolve, reject } = Promise.withResolvers<StoredReply>()
    const queue = queues.get(owner)
    if (queue) queue.push({ ...reply, resolve, reject })
    else {
      const first = [{ ...reply, resolve, reject }]
      queues.set(owner, first)
      void drain(owner, first)
    }
    return promise
  }

  async function drain(owner: SessionRow['owner'], queue: Waiting[]): Promise<void> {
    while (queue.length) await commit(owner, queue.splice(0, MAX_TOGETHER))
    queues.delete(owner)
  }

  /** One that is refused takes no other with it: then each is tried alone. */
  async function commit(owner: SessionRow['owner'], batch: Waiting[]): Promise<void> {
    try {
      const messages = await store.write((tx) => writeAll(tx, owner, batch))
      for (const [at, { resolve }] of batch.entries()) resolve(messages[at]!)
    } catch (error) {
      const isAway = (error as { code?: unknown }).code === storageUnavailable.code
      if (batch.length === 1 || isAway) for (const { reject } of batch) reject(error)
      else for (const one of batch) await commit(owner, [one])
    }
  }

  /** Chats are locked in one order by every process, and the head of the record last and shortest. */
  async function writeAll(tx: Tx, owner: SessionRow['owner'], batch: readonly Reply[]): Promise<StoredReply[]> {
    const answers = new Map<Reply, StoredReply>()
    const ordered = batch.toSorted((a, b) => (a.session.id < b.session.id ? -1 : Number(a.session.id > b.session.id)))
    const written = ordered.map(async (reply) => {
      const { call, session, content } = reply
      const message = await transcript.reply(tx, session, { holderId: holderIdOf(call.caller), content })
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
}
