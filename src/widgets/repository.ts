import { and, asc, count, desc, eq, gt, gte, inArray, isNotNull, isNull, lte, ne, type SQL, sql } from 'drizzle-orm'
import type { Caller } from '../kernel/caller'
import { iso, isoOrNull } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import { contains, type PageRequest, pagesAmong, pagesBy } from '../kernel/keyset'
import type { Page } from '../kernel/page'
import { rowsOf } from '../kernel/rows'
import { allOf, command, query, type Reader, type Tx } from '../kernel/store'
import { clean, storable } from '../kernel/text'
import type { WidgetId } from './schema'
import type { TakeoverQuery, WidgetMessage, WidgetNote, WidgetSession, WidgetSessionId } from './schema-sessions'
import {
  type MessageRow,
  type NoteRow,
  type SessionRow,
  type WidgetRow,
  widgetMessages,
  widgetNotes,
  widgetSessions,
  widgets,
} from './table'

export const presentMessage = ({ id, role, content, artifacts, created_at }: MessageRow): WidgetMessage => ({
  id,
  role,
  content,
  artifacts,
  created_at: iso(created_at),
})

export const operatorOf = ({ operator_id, operator_name }: SessionRow): WidgetSession['operator'] =>
  operator_id === null ? null : { id: operator_id, name: operator_name ?? '' }

export const presentSession = (row: SessionRow): WidgetSession => ({
  session_id: row.id,
  config_id: row.config_id,
  status: row.status,
  takeover_status: row.takeover_status,
  operator: operatorOf(row),
  visitor: {
    id: row.visitor_id,
    ip_hash: row.ip_hash,
    user_agent: row.user_agent,
    origin: row.origin,
    page_url: row.page_url,
    identity: row.identity,
    context: row.context,
  },
  message_count: row.message_count,
  created_at: iso(row.created_at),
  last_message_at: row.message_count ? iso(row.last_message_at) : null,
  conversation_id: row.conversation_id,
  reason: row.reason,
  rating: row.rating,
  visitor_left_at: isoOrNull(row.left_at),
})

/** Name that visitors see for a person without a public name. */
const SOMEBODY = 'Support'

const ADDRESS = '@'

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Matches a visible character: not a space, an invisible character or a placeholder for a removed one. */
const SHOWS = /[^\s·\p{Cf}]/u

const ID_CHARS = 16

/** Maximum number of notes per chat. */
export const MAX_NOTES = 200

const notes = rowsOf(widgetNotes)
const messages = rowsOf(widgetMessages)
const sessions = rowsOf(widgetSessions)
const widgetRows = rowsOf(widgets)

/** Rows of notes that people write about a chat for each other. The visitor's routes never read them. */
export const noteRepository = {
  list: (db: Reader, session_id: WidgetSessionId): Promise<NoteRow[]> =>
    notes.all(db, { session_id }, { order: (t) => [asc(t.created_at), asc(t.id)], limit: MAX_NOTES }),

  insert: notes.insert,
}

export const presentNote = ({ id, author_id, author_name, content, created_at }: NoteRow): WidgetNote => ({
  id,
  author: { id: author_id, name: author_name },
  content,
  created_at: iso(created_at),
})

const lastFirst = pagesBy(widgetSessions, 'last_message_at')
const lastFirstOfSome = pagesAmong(widgetSessions, 'last_message_at', lastFirst)

const messagesAfter = query<{ session: string; after: number }>()((db, p) => {
  const t = db.of(widgetMessages)
  return db
    .select()
    .from(t)
    .where(and(eq(t.session_id, p.session), gt(t.seq, p.after)))
    .orderBy(asc(t.seq))
})

const insertMessage = command<MessageRow>()((tx, p) =>
  tx.insert(tx.of(widgetMessages)).values(allOf(tx.of(widgetMessages), p)),
)
/** Counts a person's reply. The first reply sets the visitor's waiting time, as in `desk.write`. */
const countReply = command<{ id: WidgetSessionId; now: number }>()((tx, p) => {
  const t = tx.of(widgetSessions)
  const waited = sql`case when ${t.first_asked_at} > ${p.now} then 0 else ${p.now} - ${t.first_asked_at} end`
  return tx
    .update(t)
    .set({
      message_count: sql`${t.message_count} + 1`,
      last_message_at: sql`${p.now}`,
      changed_at: sql`${p.now}`,
      first_response_ms: sql`coalesce(${t.first_response_ms}, ${waited})`,
    })
    .where(and(eq(t.id, p.id), eq(t.status, 'open')))
    .returning()
})

type Listing = PageRequest & { status?: SessionRow['status'] | undefined; takeover_status?: string | undefined }

/** Rows of visitors' chats. Each query names a widget whose owner or origin was checked, or one of its chats. */
export const sessionRepository = {
  /** A widget of any owner by its public id, for its visitors. */
  widget: (db: Reader, id: WidgetId): Promise<WidgetRow | undefined> => widgetRows.first(db, { id }),

  changeWidget: (tx: Tx, id: WidgetId, columns: Partial<WidgetRow>) => widgetRows.update(tx, { id }, columns),

  find: (db: Reader, config_id: WidgetId, id: WidgetSessionId) => sessions.first(db, { id, config_id }),

  byIds: (db: Reader, id: readonly WidgetSessionId[]): Promise<SessionRow[]> => sessions.all(db, { id }),

  /** Locks a chat until the transaction has committed. */
  lock: (tx: Tx, id: WidgetSessionId) => sessions.lock(tx, { id }),

  insert: sessions.insert,

  change: async (tx: Tx, id: WidgetSessionId, columns: Partial<SessionRow>): Promise<SessionRow> =>
    (await sessions.change(tx, { id }, columns))!,

  /** Marks the visitors of these chats as left, if a person has or was asked to join the chat. */
  async left(tx: Tx, ids: readonly WidgetSessionId[], now: number): Promise<Pick<SessionRow, 'id' | 'config_id'>[]> {
    const t = tx.of(widgetSessions)
    const are = and(inArray(t.id, [...ids]), eq(t.status, 'open'), ne(t.takeover_status, 'ai'), isNull(t.left_at))
    return tx
      .update(t)
      .set({ left_at: now, changed_at: now })
      .where(are)
      .returning({ id: t.id, config_id: t.config_id })
  },

  /** Waiting times of the newest visitors of a widget who got a person, in ms. */
  async waits(db: Reader, config: WidgetId, max: number): Promise<number[]> {
    const t = db.of(widgetSessions)
    const found = await db
      .select({ waited: t.waited_ms })
      .from(t)
      .where(and(eq(t.config_id, config), isNotNull(t.waited_ms)))
      .orderBy(desc(t.changed_at))
      .limit(max)
    return found.map(({ waited }) => waited!)
  },

  insertMessage: (tx: Tx, row: MessageRow) => insertMessage(tx, row),

  /** Locks an open chat and counts one more message by a person. Undefined if the chat is closed or gone. */
  countReply: async (tx: Tx, id: WidgetSessionId, now: number): Promise<SessionRow | undefined> =>
    (await countReply(tx, { id, now }))[0],

  changeMessage: (tx: Tx, id: MessageRow['id'], columns: Partial<MessageRow>) => messages.update(tx, { id }, columns),

  messages: (db: Reader, session: WidgetSessionId, after = 0): Promise<MessageRow[]> =>
    messagesAfter(db, { session, after }),

  message: (db: Reader, session_id: WidgetSessionId, id: string): Promise<MessageRow | undefined> =>
    messages.first(db, { session_id, id: id as MessageRow['id'] }),

  /** The last `limit` messages, newest first. */
  last: (db: Reader, session_id: WidgetSessionId, limit: number): Promise<MessageRow[]> =>
    messages.all(db, { session_id }, { order: (t) => [desc(t.seq)], limit }),

  /** Number of messages from an address to a widget since a given time, and the time of the first. */
  async sentSince(db: Reader, config: WidgetId, ip: string, since: number): Promise<{ sent: number; first: number }> {
    const t = db.of(widgetMessages)
    const found = db.select({ sent: count(), first: sql<number>`coalesce(min(${t.created_at}), 0)` }).from(t)
    const [row] = await found.where(and(eq(t.config_id, config), eq(t.ip_hash, ip), gt(t.created_at, since)))
    return { sent: Number(row?.sent ?? 0), first: Number(row?.first ?? 0) }
  },

  begunSince: (db: Reader, config_id: WidgetId, ip_hash: string, since: number) =>
    sessions.count(db, { config_id, ip_hash }, (t) => gt(t.created_at, since)),

  /** Chats, last activity first. A null widget selects all widgets, for operators. */
  list(
    db: Reader,
    config: WidgetId | null,
    { status, takeover_status, ...wanted }: Listing,
  ): Promise<Page<SessionRow>> {
    const t = db.of(widgetSessions)
    const conditions: (SQL | undefined)[] = [
      config === null ? undefined : eq(t.config_id, config),
      status && eq(t.status, status),
      takeover_status ? eq(t.takeover_status, takeover_status as SessionRow['takeover_status']) : undefined,
    ]
    return lastFirst(db, wanted, ...conditions)
  },

  /** Chats of these widgets, last activity first. `holder` is the person whose chats are `mine`. */
  ofWidgets(
    db: Reader,
    configs: readonly WidgetId[],
    { state, holder, ...wanted }: PageRequest & { state: TakeoverQuery['state']; holder: string },
  ): Promise<Page<SessionRow>> {
    const t = db.of(widgetSessions)
    const ofWidgets = configs.map((id) => eq(t.config_id, id))
    if (!ofWidgets.length) return Promise.resolve({ items: [], next: null })
    return lastFirstOfSome(
      ...([db, wanted, ofWidgets, eq(t.status, state === 'closed' ? 'closed' : 'open')] as const),
      state === 'waiting' ? eq(t.takeover_status, 'requested') : undefined,
      state === 'mine' ? and(eq(t.takeover_status, 'human'), eq(t.operator_id, holder)) : undefined,
    )
  },

  /** The chats with a message that contains these words. */
  async withWords(db: Reader, chats: readonly SessionRow[], words: string): Promise<Set<WidgetSessionId>> {
    const t = db.of(widgetMessages)
    const ids = chats.map(({ id }) => id)
    const found = db.selectDistinct({ id: t.session_id }).from(t)
    return new Set((await found.where(and(inArray(t.session_id, ids), contains(t.content, words)))).map(({ id }) => id))
  },

  /** Chats that changed since a given time, for listeners that may have missed a notice. */
  async changedSince(db: Reader, since: number): Promise<{ id: WidgetSessionId; changed_at: number }[]> {
    const t = db.of(widgetSessions)
    return db.select({ id: t.id, changed_at: t.changed_at }).from(t).where(gte(t.changed_at, since))
  },

  /** Open chats that have expired. */
  expired: (db: Reader, now: number, limit: number): Promise<SessionRow[]> =>
    sessions.all(db, { status: 'open' }, { also: (t) => lte(t.expires_at, now), limit }),

  async removeOf(tx: Tx, config_id: WidgetId): Promise<WidgetSessionId[]> {
    await messages.remove(tx, { config_id })
    await notes.remove(tx, { config_id })
    return (await sessions.take(tx, { config_id })).map(({ id }) => id)
  },
}

/**
 * The public name of a person in a chat: the first valid name, on one line, without terminal control or bidirectional
 * characters. E-mail addresses, ids and machine accounts are not valid, so they never reach a visitor's page.
 */
export function publicName(...names: readonly (string | null | undefined)[]): string {
  const candidates = names.map((name) =>
    clean(storable(name ?? ''))
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return candidates.find((name) => SHOWS.test(name) && !name.includes(ADDRESS) && !UUID.test(name)) ?? SOMEBODY
}

/** Id of the person who has a chat. Owners can read it, so for the server's own operators it is only a hash. */
export function holderIdOf(caller: Caller): string {
  if (caller.type !== 'operator') return caller.userId
  return `operator:${sha256Hex(caller.name).slice(0, ID_CHARS)}`
}
