import { and, asc, desc, eq, gt, gte, inArray, lt, or, sql } from 'drizzle-orm'
import type { AuditLog } from '../../audit'
import type { Files } from '../../files'
import { ArtifactId } from '../../files/schema'
import { type Call, type Caller, type OperatorCaller, type OwnerScope, ownerOf } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { notFound } from '../../kernel/errors'
import { contains, pagesBy } from '../../kernel/keyset'
import { microToCents } from '../../kernel/money'
import { mapPage, type Page, pageFields } from '../../kernel/page'
import type { Range } from '../../kernel/range'
import { allOf, command, query, type Reader, type Store, type Tx } from '../../kernel/store'
import { beginningOf, shorten } from '../../kernel/text'
import {
  type Conversation,
  ConversationId,
  type ConversationPage,
  type ConversationPurge,
  type ConversationQuery,
  type ConversationSummary,
  type ConversationsPurged,
  type Message,
  MessageId,
  type OverseenConversation,
  type OverseenPage,
  type OverseenQuery,
  type RenameConversation,
  type Turn,
} from './schema'
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

  /** What people asked in the conversations of an owner, newest conversations first; the beginning of long ones. */
  async promptsOf(db: Reader, owner: OwnerScope, { from, to }: Range, limit: number) {
    const [table, rows] = [db.of(conversations), db.of(messages)]
    return db
      .select({ id: table.id, text: sql<string>`substr(${rows.content}, 1, 4000)` })
      .from(table)
      .innerJoin(rows, eq(rows.conversation_id, table.id))
      .where(
        and(
          eq(table.owner, owner),
          eq(rows.role, 'user'),
          from === null ? undefined : and(gte(table.updated_at, from), gte(rows.created_at, from)),
          to === null ? undefined : lt(rows.created_at, to),
        ),
      )
      .orderBy(desc(table.updated_at), desc(table.id), desc(rows.seq))
      .limit(limit)
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

/** How many conversations a purge deletes in one transaction. */
const BATCH = 100

export type ConversationService = ReturnType<typeof createConversations>
/** `pictured` where a picture was the answer; `pictureId` where it was stored. */
export type PastTurn = { role: 'user' | 'assistant'; content: string; pictured?: boolean; pictureId?: ArtifactId }

type Deps = {
  store: Store
  audit: AuditLog
  clock: Clock
  files: Pick<Files, 'find'>
  /** Whose conversations a word of an operator names. Throws 404. */
  ownerNamed(reader: Reader, word: string): Promise<OwnerScope>
  /** Whose work a key does, by its id, prefix or name. Throws 404. */
  keyOwner(call: Call<OperatorCaller>, key: string): Promise<OwnerScope>
}

const TITLE_CHARS = 60
const PREVIEW_CHARS = 120
/** Messages of history that an answer sees: 20 turns, each a question and an answer (contract 22.6). */
const HISTORY_MESSAGES = 40

/**
 * Stores turns and reads them back. They belong to the user, whichever key was used (contract 17); those of an
 * org's key belong to the org, so that the key cannot read its creator's own conversations.
 */
export function createConversations({ store, audit, clock, files, ownerNamed, keyOwner }: Deps) {
  return { history, start, append, list, get, outlined, rename, remove, purge, verify }

  /** Throws 404 unless the id is a conversation of this owner; null reaches those of all, for operators. */
  async function find(reader: Reader, owner: OwnerScope | null, id: string): Promise<ConversationRow> {
    const row = ConversationId.is(id) ? await conversationRepository.find(reader, owner, id) : undefined
    if (!row) throw notFound('conversation')
    return row
  }

  /** The turns an answer continues from, oldest first. Throws 404. */
  async function history(owner: OwnerScope, id: string): Promise<{ id: ConversationId; turns: PastTurn[] }> {
    const conversation = await find(store.read, owner, id)
    const found = await conversationRepository.messagesAfter(
      store.read,
      conversation.id,
      conversation.message_count - HISTORY_MESSAGES,
    )
    const turns = found.flatMap(({ role, content }, place): PastTurn[] => {
      if (role !== 'user' && role !== 'assistant') return []
      const { about } = found[place + 1] ?? {}
      if (role !== 'user' || about?.resolvedMode !== 'image') return [{ role, content }]
      const id = about.artifacts.find(({ type }) => type === 'image')?.id
      const stored = typeof id === 'string' && ArtifactId.is(id) ? { pictureId: id } : {}
      return [{ role, content, pictured: true, ...stored }]
    })
    return { id: conversation.id, turns }
  }

  /** Opens the conversation `id` with its first turn, in the caller's transaction. */
  async function start(tx: Tx, owner: OwnerScope, id: ConversationId, turn: Turn): Promise<ConversationId> {
    const now = clock.now()
    const title = beginningOf(turn.prompt, TITLE_CHARS)
    const opening = { title, last_message: preview(turn), message_count: 2 }
    await conversationRepository.insert(tx, { id, owner, ...opening, created_at: now, updated_at: now })
    await storeTurn(tx, id, 0, turn, now)
    return id
  }

  /** Adds a turn and returns the id; a conversation deleted meanwhile stays deleted. */
  async function append(tx: Tx, owner: OwnerScope, id: ConversationId, turn: Turn): Promise<ConversationId> {
    const now = clock.now()
    const count = await conversationRepository.grow(tx, { id, owner, by: 2, last: preview(turn), now })
    if (count !== null) await storeTurn(tx, id, count - 2, turn, now)
    return id
  }

  /**
   * Last updated first. Operators get those of all owners, of the one they name or of a key's, without what people
   * wrote. Throws 404 for an owner or a key that is none.
   */
  async function list(
    { caller, ...call }: Call<Caller>,
    { key, ...query }: ConversationQuery & OverseenQuery,
    ownerFilter?: string,
  ): Promise<OverseenPage | ConversationPage> {
    if (caller.type !== 'operator')
      return listed(mapPage(await conversationRepository.list(store.read, ownerOf(caller), query), presentSummary))
    const named = ownerFilter === undefined ? null : await ownerNamed(store.read, ownerFilter)
    const owner = key === undefined ? named : await keyOwner({ ...call, caller }, key)
    return listed(mapPage(await conversationRepository.list(store.read, owner, query), outline))
  }

  /** With its messages. That an operator reads them is recorded in the owner's chain as `conversation.read`. */
  async function get(call: Call<Caller>, id: string): Promise<{ conversation: Conversation }> {
    const row = await find(store.read, scopeOf(call.caller), id)
    const found = await conversationRepository.messagesAfter(store.read, row.id, 0)
    const messages = found.map(async (one) => presentMessage(one, await linked(row.owner, one.about?.artifacts ?? [])))
    const conversation = { ...presentSummary(row), messages: await Promise.all(messages) }
    if (call.caller.type === 'operator') await store.write((tx) => record(tx, call, 'read', row))
    return { conversation }
  }

  async function outlined({ caller }: Call<Caller>, id: string): Promise<{ conversation: OverseenConversation }> {
    return { conversation: outline(await find(store.read, scopeOf(caller), id)) }
  }

  /** Artifacts with links that work now (contract 2.3); one that is deleted has none. */
  function linked(owner: OwnerScope, artifacts: StoredArtifacts): Promise<StoredArtifacts> {
    return Promise.all(
      artifacts.map(async (artifact) => {
        if (artifact.url === null || typeof artifact.id !== 'string' || !ArtifactId.is(artifact.id)) return artifact
        const fresh = await files.find(store.read, owner, artifact.id)
        return fresh ?? { ...artifact, url: null, url_expires_at: null }
      }),
    )
  }

  async function rename(call: Call, id: string, { title }: RenameConversation) {
    return store.write(async (tx) => {
      const row =
        ConversationId.is(id) && (await conversationRepository.rename(tx, ownerOf(call.caller), id, title, clock.now()))
      if (!row) throw notFound('conversation')
      await record(tx, call, 'updated', row)
      return { conversation: presentSummary(row) }
    })
  }

  /** Sentences about conversations with a wrong message count: a turn is stored as two messages or none (I1). */
  async function verify(reader: Reader): Promise<string[]> {
    const wrong = await conversationRepository.miscounted(reader)
    return wrong.map(({ id, counted, found }) => `conversation ${id} counts ${counted} messages and has ${found}`)
  }

  async function remove(call: Call<Caller>, id: string): Promise<{ deleted: true }> {
    return store.write(async (tx) => {
      const row = await find(tx, scopeOf(call.caller), id)
      if (!(await conversationRepository.remove(tx, row.owner, row.id))) throw notFound('conversation')
      await record(tx, call, 'deleted', row)
      return { deleted: true }
    })
  }

  /** Deletes the conversations of an owner that were last updated before a moment, with their messages. Throws 404. */
  async function purge(
    call: Call<Caller>,
    { owner: ownerFilter, before, count_only }: ConversationPurge,
  ): Promise<ConversationsPurged> {
    const scope = await ownerNamed(store.read, ownerFilter)
    const until = Date.parse(before)
    const purged = (conversations: number) => ({ object: 'conversation_purge' as const, conversations })
    if (count_only) return purged(await conversationRepository.countBefore(store.read, scope, until))
    for (let total = 0; ; ) {
      const gone = await store.write(async (tx) => {
        const some = await conversationRepository.removeBefore(tx, scope, until, BATCH)
        const entity = { entityType: 'conversation' as const, entityId: null, scope }
        const input = { metadata: { before, conversations: some } }
        if (some) await audit.record(tx, call, { action: 'conversation.purged', ...entity, input })
        return some
      })
      if (!gone) return purged(total)
      total += gone
    }
  }

  async function record(tx: Tx, call: Call<Caller>, what: string, { id, owner }: ConversationRow): Promise<void> {
    const entity = { entityType: 'conversation' as const, entityId: id, scope: owner }
    await audit.record(tx, call, { action: `conversation.${what}`, ...entity })
  }
}

/** Whose conversations a caller reaches: its own; operators reach those of all (null). */
const scopeOf = (caller: Caller): OwnerScope | null => (caller.type === 'operator' ? null : ownerOf(caller))

const listed = <Item>(page: Page<Item>) => ({ conversations: page.items, ...pageFields(page) })

/** Without its title and last message, which are what people wrote. */
const outline = ({ id, owner, message_count, created_at, updated_at }: ConversationRow): OverseenConversation => ({
  id,
  owner,
  messageCount: message_count,
  createdAt: iso(created_at),
  updatedAt: iso(updated_at),
})

/** Stores the question as message `after + 1` and the answer as `after + 2`. */
async function storeTurn(tx: Tx, id: ConversationId, after: number, turn: Turn, now: number): Promise<void> {
  const { prompt, answer, ...about } = turn
  const common = { conversation_id: id, created_at: now }
  const question = { id: MessageId.create(), seq: after + 1, role: 'user' as const, content: prompt, about: null }
  await conversationRepository.insertMessage(tx, { ...common, ...question })
  const answered = { id: MessageId.create(), seq: after + 2, role: 'assistant' as const, content: answer, about }
  await conversationRepository.insertMessage(tx, { ...common, ...answered })
}

const preview = (turn: Turn): string => shorten(turn.answer || turn.prompt, PREVIEW_CHARS)

const presentSummary = (row: ConversationRow): ConversationSummary => ({
  id: row.id,
  title: row.title,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
  messageCount: row.message_count,
  ...(row.last_message === null ? {} : { lastMessage: row.last_message }),
})

type StoredArtifacts = NonNullable<MessageRow['about']>['artifacts']

const presentMessage = ({ id, role, content, created_at, about }: MessageRow, artifacts: StoredArtifacts): Message => ({
  id,
  role,
  content,
  createdAt: iso(created_at),
  ...(about && {
    mode: about.mode,
    resolvedMode: about.resolvedMode,
    model: about.model,
    tools: about.tools,
    artifacts,
    followUps: about.followUps,
    status: about.status,
    costCents: microToCents(about.costMicro),
  }),
})
