import { and, asc, eq, gt, gte, inArray, lt, or, sql } from 'drizzle-orm'
import type { OwnerScope } from '../../kernel/caller'
import { contains, pagesBy } from '../../kernel/keyset'
import type { Page } from '../../kernel/page'
import { allOf, command, query, type Reader, type Tx } from '../../kernel/store'
import type { ConversationId, ConversationQuery } from './schema'
import { type ConversationRow, conversations, type MessageRow, messages } from './table'

const lastUpdatedFirst = pagesBy(conversations, 'updated_at')

const insertConversation = command<ConversationRow>()((db, p) =>
  db.insert(db.of(conversations)).values(allOf(db.of(conversations), p)),
)

const insertMessage = command<MessageRow>()((db, p) => db.insert(db.of(messages)).values(allOf(db.of(messages), p)))

const growConversation = command<{ id: ConversationId; owner: OwnerScope; by: number; last: string; now: number }>()(
  (db, p) => {
    const table = db.of(conversations)
    return db
      .update(table)
      .set({
        message_count: sql`${table.message_count} + ${p.by}`,
        last_message: sql`${p.last}`,
        updated_at: sql`${p.now}`,
      })
      .where(and(eq(table.id, p.id), eq(table.owner, p.owner)))
      .returning({ count: table.message_count })
  },
)

const findConversation = query<{ id: ConversationId; owner: OwnerScope }>()((db, p) => {
  const table = db.of(conversations)
  return db
    .select()
    .from(table)
    .where(and(eq(table.id, p.id), eq(table.owner, p.owner)))
    .limit(1)
})

const allMessages = query<{ conversation_id: ConversationId; after: number }>()((db, p) => {
  const table = db.of(messages)
  return db
    .select()
    .from(table)
    .where(and(eq(table.conversation_id, p.conversation_id), gt(table.seq, p.after)))
    .orderBy(asc(table.seq))
})

/** Rows of conversations and messages. Queries filter by owner, or by a conversation the owner was checked for. */
export const conversationRepository = {
  insert: (tx: Tx, row: ConversationRow) => insertConversation(tx, row),
  insertMessage: (tx: Tx, row: MessageRow) => insertMessage(tx, row),

  /** Adds `by` to the message count and returns the new count, or null when the conversation is gone. */
  grow: async (tx: Tx, change: { id: ConversationId; owner: OwnerScope; by: number; last: string; now: number }) =>
    (await growConversation(tx, change))[0]?.count ?? null,

  /** One of an owner or, for operators, anyone's (null). */
  async find(db: Reader, owner: OwnerScope | null, id: ConversationId): Promise<ConversationRow | undefined> {
    if (owner !== null) return (await findConversation(db, { id, owner }))[0]
    const table = db.of(conversations)
    return (await db.select().from(table).where(eq(table.id, id)).limit(1))[0] as ConversationRow | undefined
  },

  messagesAfter: (db: Reader, conversation_id: ConversationId, after: number): Promise<MessageRow[]> =>
    allMessages(db, { conversation_id, after }),

  /** Of one owner or, for operators, of all (null). */
  list(db: Reader, owner: OwnerScope | null, { q, since, ...wanted }: ConversationQuery) {
    const table = db.of(conversations)
    const found = q ? or(contains(table.title, q), contains(table.last_message, q)) : undefined
    const recent = since === undefined ? undefined : gte(table.updated_at, Date.parse(since))
    const ownerFilter = owner === null ? undefined : eq(table.owner, owner)
    return lastUpdatedFirst(db, wanted, ownerFilter, found, recent) as Promise<Page<ConversationRow>>
  },

  async countBefore(db: Reader, owner: OwnerScope, before: number): Promise<number> {
    const table = db.of(conversations)
    const found = db.select({ total: sql<number>`count(*)`.mapWith(Number) }).from(table)
    return (await found.where(and(eq(table.owner, owner), lt(table.updated_at, before))))[0]!.total
  },

  /** Deletes some that were last updated before a moment, with their messages. Returns how many. */
  async removeBefore(tx: Tx, owner: OwnerScope, before: number, limit: number): Promise<number> {
    const table = tx.of(conversations)
    const old = tx.select({ id: table.id }).from(table)
    const some = old.where(and(eq(table.owner, owner), lt(table.updated_at, before))).limit(limit)
    const gone = await tx.delete(table).where(inArray(table.id, some)).returning({ id: table.id })
    const ids = gone.map(({ id }) => id)
    if (ids.length) await tx.delete(tx.of(messages)).where(inArray(tx.of(messages).conversation_id, ids))
    return ids.length
  },

  /** Up to 100 conversations of all owners whose message count differs from their stored messages. */
  async miscounted(db: Reader): Promise<{ id: ConversationId; counted: number; found: number }[]> {
    const [table, rows] = [db.of(conversations), db.of(messages)]
    const found = sql<number>`count(${rows.id})`.mapWith(Number)
    return db
      .select({ id: table.id, counted: table.message_count, found })
      .from(table)
      .leftJoin(rows, eq(rows.conversation_id, table.id))
      .groupBy(table.id, table.message_count)
      .having(sql`count(${rows.id}) <> ${table.message_count}`)
      .limit(100)
  },

  async rename(tx: Tx, owner: OwnerScope, id: ConversationId, title: string, now: number) {
    const table = tx.of(conversations)
    const renamed = tx
      .update(table)
      .set({ title, updated_at: now })
      .where(and(eq(table.id, id), eq(table.owner, owner)))
    return ((await renamed.returning()) as ConversationRow[])[0]
  },

  async remove(tx: Tx, owner: OwnerScope, id: ConversationId): Promise<boolean> {
    const table = tx.of(conversations)
    const gone = await tx
      .delete(table)
      .where(and(eq(table.id, id), eq(table.owner, owner)))
      .returning({ id: table.id })
    if (!gone.length) return false
    await tx.delete(tx.of(messages)).where(eq(tx.of(messages).conversation_id, id))
    return true
  },
}
