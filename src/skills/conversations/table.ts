import { and, asc, desc, eq, gt, gte, inArray, lt, or, sql } from 'drizzle-orm'
import type { OwnerScope } from '../../kernel/caller'
import { contains, pagesBy } from '../../kernel/keyset'
import type { Page } from '../../kernel/page'
import type { Range } from '../../kernel/range'
import { rowsOf } from '../../kernel/rows'
import { allOf, command, defineTable, query, type Reader, type Row, type Tx } from '../../kernel/store'
import type { ConversationId, ConversationQuery, MemoryId, MemorySource, MessageId, Role, Turn } from './schema'

/** @public Read by the migrations. */
export const conversations = defineTable(
  'conversations',
  (k) => ({
    id: k.text('id').$type<ConversationId>().primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    title: k.text('title'),
    last_message: k.text('last_message'),
    message_count: k.int('message_count').notNull().default(0),
    /** The client's metadata. Null when the conversation was created without metadata. */
    metadata: k.json<Record<string, string> | null>('metadata'),
    created_at: k.ms('created_at').notNull(),
    updated_at: k.ms('updated_at').notNull(),
  }),
  (t, k) => [k.index('conversations_by_owner').on(t.owner, t.updated_at, t.id)],
)
export type ConversationRow = Row<typeof conversations>

/** The data that only answers have: mode, model, tools, artifacts, follow-ups and cost. */
export type MessageAbout = Omit<Turn, 'prompt' | 'answer' | 'status'> & { status: string }

/** @public Read by the migrations. */
export const messages = defineTable(
  'messages',
  (k) => ({
    id: k.text('id').$type<MessageId>().primaryKey(),
    conversation_id: k.text('conversation_id').$type<ConversationId>().notNull(),
    seq: k.int('seq').notNull(),
    role: k.text('role').$type<Role>().notNull(),
    content: k.text('content').notNull(),
    about: k.json<MessageAbout | null>('about'),
    /** The response item, stored when role and content do not express all of it. */
    item: k.json<Record<string, unknown> | null>('item'),
    created_at: k.ms('created_at').notNull(),
  }),
  (t, k) => [k.uniqueIndex('messages_by_conversation').on(t.conversation_id, t.seq)],
)
export type MessageRow = Row<typeof messages>

/** Memories of a user or an org, whichever channel stored them (docs/api.md 22.6). */
export const memories = defineTable(
  'memories',
  (k) => ({
    id: k.text('id').$type<MemoryId>().primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    content: k.text('content').notNull(),
    source: k.text('source').$type<MemorySource>().notNull(),
    created_at: k.ms('created_at').notNull(),
  }),
  (t, k) => [k.index('memories_by_owner').on(t.owner, t.created_at, t.id)],
)
export type MemoryRow = Row<typeof memories>

const rows = rowsOf(conversations)
const messageRows = rowsOf(messages)

const lastUpdatedFirst = pagesBy(conversations, 'updated_at')

const insertConversation = command<ConversationRow>()((db, p) =>
  db.insert(db.of(conversations)).values(allOf(db.of(conversations), p)),
)

const insertMessage = command<MessageRow>()((db, p) => db.insert(db.of(messages)).values(allOf(db.of(messages), p)))

type Growth = { id: ConversationId; owner: OwnerScope; by: number; last: string; title: string | null; now: number }

const growConversation = command<Growth>()((db, p) => {
  const table = db.of(conversations)
  return db
    .update(table)
    .set({
      message_count: sql`${table.message_count} + ${p.by}`,
      last_message: sql`${p.last}`,
      title: sql`coalesce(${table.title}, ${p.title})`,
      updated_at: sql`${p.now}`,
    })
    .where(and(eq(table.id, p.id), eq(table.owner, p.owner)))
    .returning({ count: table.message_count })
})

const allMessages = query<{ conversation_id: ConversationId; after: number }>()((db, p) => {
  const table = db.of(messages)
  return db
    .select()
    .from(table)
    .where(and(eq(table.conversation_id, p.conversation_id), gt(table.seq, p.after)))
    .orderBy(asc(table.seq))
})

/** Rows of conversations and messages. Queries filter by owner, or by a conversation whose owner was checked. */
export const conversationRepository = {
  insert: (tx: Tx, row: ConversationRow) => insertConversation(tx, row),
  insertMessage: (tx: Tx, row: MessageRow) => insertMessage(tx, row),

  /** Adds `by` to the message count. Returns the new count, or null when the conversation no longer exists. */
  grow: async (tx: Tx, change: Growth) => (await growConversation(tx, change))[0]?.count ?? null,

  /** Finds a conversation of one owner. A null owner, for operators, matches all owners. */
  find: (db: Reader, owner: OwnerScope | null, id: ConversationId): Promise<ConversationRow | undefined> =>
    rows.first(db, { id, ...(owner === null ? {} : { owner }) }),

  messagesAfter: (db: Reader, conversation_id: ConversationId, after: number): Promise<MessageRow[]> =>
    allMessages(db, { conversation_id, after }),

  /** Lists the conversations of one owner. A null owner, for operators, matches all owners. */
  list(db: Reader, owner: OwnerScope | null, { q, since, ...wanted }: ConversationQuery) {
    const table = db.of(conversations)
    const found = q ? or(contains(table.title, q), contains(table.last_message, q)) : undefined
    const recent = since === undefined ? undefined : gte(table.updated_at, Date.parse(since))
    const ownerFilter = owner === null ? undefined : eq(table.owner, owner)
    return lastUpdatedFirst(db, wanted, ownerFilter, found, recent) as Promise<Page<ConversationRow>>
  },

  /** The user's messages in an owner's conversations, newest conversations first, each cut after 4,000 characters. */
  async promptsOf(db: Reader, owner: OwnerScope, { from, to }: Range, limit: number) {
    const [table, message] = [db.of(conversations), db.of(messages)]
    return db
      .select({ id: table.id, text: sql<string>`substr(${message.content}, 1, 4000)` })
      .from(table)
      .innerJoin(message, eq(message.conversation_id, table.id))
      .where(
        and(
          eq(table.owner, owner),
          eq(message.role, 'user'),
          from === null ? undefined : and(gte(table.updated_at, from), gte(message.created_at, from)),
          to === null ? undefined : lt(message.created_at, to),
        ),
      )
      .orderBy(desc(table.updated_at), desc(table.id), desc(message.seq))
      .limit(limit)
  },

  countBefore: (db: Reader, owner: OwnerScope, before: number) =>
    rows.count(db, { owner }, (t) => lt(t.updated_at, before)),

  /** Deletes up to `limit` conversations last updated before a given time, with their messages. Returns their ids. */
  async removeBefore(tx: Tx, owner: OwnerScope, before: number, limit: number): Promise<ConversationId[]> {
    const table = tx.of(conversations)
    const old = tx.select({ id: table.id }).from(table)
    const some = old.where(and(eq(table.owner, owner), lt(table.updated_at, before))).limit(limit)
    const gone = await tx.delete(table).where(inArray(table.id, some)).returning({ id: table.id })
    const ids = gone.map(({ id }) => id)
    await messageRows.remove(tx, { conversation_id: ids })
    return ids
  },

  /** Up to 100 conversations of all owners whose message count differs from their stored messages. */
  async miscounted(db: Reader): Promise<{ id: ConversationId; counted: number; found: number }[]> {
    const [table, message] = [db.of(conversations), db.of(messages)]
    const found = sql<number>`count(${message.id})`.mapWith(Number)
    return db
      .select({ id: table.id, counted: table.message_count, found })
      .from(table)
      .leftJoin(message, eq(message.conversation_id, table.id))
      .groupBy(table.id, table.message_count)
      .having(sql`count(${message.id}) <> ${table.message_count}`)
      .limit(100)
  },

  change: (
    tx: Tx,
    owner: OwnerScope,
    id: ConversationId,
    change: Partial<Pick<ConversationRow, 'title' | 'metadata' | 'updated_at'>>,
  ) => rows.change(tx, { id, owner }, change),

  findMessage: (db: Reader, conversation_id: ConversationId, id: string): Promise<MessageRow | undefined> =>
    messageRows.first(db, { conversation_id, id: id as MessageId }),

  /** At most `limit` messages after a position, ascending or descending. */
  async messagesFrom(
    db: Reader,
    conversation_id: ConversationId,
    { after, order, limit }: { after: number | undefined; order: 'asc' | 'desc'; limit: number },
  ): Promise<MessageRow[]> {
    const [beyond, by] = order === 'asc' ? [gt, asc] : [lt, desc]
    const also = (t: typeof messages.sqlite) => (after === undefined ? undefined : beyond(t.seq, after))
    return messageRows.all(db, { conversation_id }, { also, order: (t) => [by(t.seq)], limit })
  },

  /** Deletes one message. Later messages move up, because the message count determines the position of the next one. */
  async removeMessage(tx: Tx, { conversation_id, id, seq }: MessageRow, now: number): Promise<void> {
    const place = tx.of(messages).seq
    await messageRows.remove(tx, { conversation_id, id })
    // In two steps, because no two messages may have the same position, not even during the statement.
    await messageRows.update(tx, { conversation_id }, { seq: sql`1 - ${place}` }, (t) => gt(t.seq, seq))
    await messageRows.update(tx, { conversation_id }, { seq: sql`-${place}` }, (t) => lt(t.seq, 0))
    const message_count = sql`${tx.of(conversations).message_count} - 1`
    await rows.update(tx, { id: conversation_id }, { message_count, updated_at: now })
  },

  async remove(tx: Tx, owner: OwnerScope, id: ConversationId): Promise<boolean> {
    if (!(await rows.remove(tx, { id, owner }))) return false
    await messageRows.remove(tx, { conversation_id: id })
    return true
  },
}
