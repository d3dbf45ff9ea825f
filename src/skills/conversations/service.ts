import type { AuditLog } from '../../audit'
import type { Files } from '../../files'
import { ArtifactId } from '../../files/schema'
import { storeAnswer } from '../../idempotency'
import { type Call, type Caller, type OperatorCaller, type OwnerScope, ownerOf } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { atField, invalidInput, notFound } from '../../kernel/errors'
import type { After } from '../../kernel/keyset'
import { inBatches } from '../../kernel/loop'
import { microToCents } from '../../kernel/money'
import { mapPage, type Page, pageFields } from '../../kernel/page'
import type { Reader, Store, Tx } from '../../kernel/store'
import { beginningOf, shorten } from '../../kernel/text'
import {
  type Conversation,
  type ConversationDeleted,
  ConversationId,
  type ConversationPage,
  type ConversationPurge,
  type ConversationQuery,
  type ConversationSummary,
  type ConversationsPurged,
  type Message,
  MessageId,
  type NotedConversation,
  type OverseenConversation,
  type OverseenPage,
  type OverseenQuery,
  type RenameConversation,
  type Turn,
} from './schema'
import { type ConversationRow, conversationRepository, type MessageRow } from './table'

export type ConversationService = ReturnType<typeof createConversations>
/** `pictured` is set when the answer was an image. `pictureId` is set when the image was stored. */
export type PastTurn = { role: 'user' | 'assistant'; content: string; pictured?: boolean; pictureId?: ArtifactId }

type Deps = {
  store: Store
  audit: AuditLog
  clock: Clock
  files: Pick<Files, 'find'>
  /** Resolves the owner that an operator named. Throws 404. */
  ownerNamed(reader: Reader, word: string): Promise<OwnerScope>
  /** Resolves the owner of a key, by the key's id, prefix or name. Throws 404. */
  keyOwner(call: Call<OperatorCaller>, key: string): Promise<OwnerScope>
  /** Deletes other data that belongs to deleted conversations. */
  alsoRemove(tx: Tx, ids: readonly ConversationId[]): Promise<void>
}

/** A message to add. `id` is set when the message already has an id. */
export type NewMessage = Pick<MessageRow, 'role' | 'content' | 'item'> & Partial<Pick<MessageRow, 'id' | 'about'>>

export type NewConversation = { messages: readonly NewMessage[]; metadata: Record<string, string> | null }

const TITLE_CHARS = 60
const PREVIEW_CHARS = 120
/** Number of past messages that an answer sees: 20 turns of a question and an answer (docs/api.md 22.6). */
const HISTORY_MESSAGES = 40

/**
 * Stores turns and reads them back. Conversations belong to the user, whichever key was used (docs/api.md 17). Those of
 * an org's key belong to the org, so that the key cannot read its creator's own conversations.
 */
export function createConversations({ store, audit, clock, files, ownerNamed, keyOwner, alsoRemove }: Deps) {
  return {
    ...{ history, start, append, begin, add, create, messagesOf, addTo, messageOf, removeMessage },
    ...{ list, get, outlined, rename, note, remove, purge, verify },
  }

  /**
   * Throws 404 unless the id is a conversation of this owner. A null owner, for operators, matches all owners. The
   * error names the body field `member`, if given.
   */
  async function find(reader: Reader, owner: OwnerScope | null, id: string, member?: string): Promise<ConversationRow> {
    const row = ConversationId.is(id) ? await conversationRepository.find(reader, owner, id) : undefined
    if (row) return row
    throw member === undefined ? notFound('conversation') : atField(notFound('conversation'), member)
  }

  /** The turns that an answer continues, oldest first. Throws 404 naming `conversation_id`. */
  async function history(owner: OwnerScope, id: string): Promise<{ id: ConversationId; turns: PastTurn[] }> {
    const conversation = await find(store.read, owner, id, 'conversation_id')
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

  /** Creates the conversation `id` with its first turn, in the caller's transaction. */
  async function start(tx: Tx, owner: OwnerScope, id: ConversationId, turn: Turn): Promise<ConversationId> {
    await begin(tx, owner, id, { messages: messagesIn(turn), metadata: null })
    return id
  }

  /** Adds a turn and returns the id. Does not recreate a conversation that was deleted meanwhile. */
  async function append(tx: Tx, owner: OwnerScope, id: ConversationId, turn: Turn): Promise<ConversationId> {
    await add(tx, owner, id, messagesIn(turn))
    return id
  }

  /** Creates the conversation `id` with a title from its first prompt, in the caller's transaction. */
  async function begin(tx: Tx, owner: OwnerScope, id: ConversationId, { messages, metadata }: NewConversation) {
    const now = clock.now()
    const { title, last } = outlineOf(messages)
    const counted = { title, last_message: last, message_count: messages.length }
    await conversationRepository.insert(tx, { id, owner, ...counted, metadata, created_at: now, updated_at: now })
    await insertAll(tx, id, messages, 0)
  }

  /** Adds messages in the caller's transaction. Adds none to a conversation that was deleted meanwhile. */
  async function add(tx: Tx, owner: OwnerScope, id: ConversationId, messages: readonly NewMessage[]) {
    if (!messages.length) return []
    const change = { id, owner, by: messages.length, now: clock.now(), ...outlineOf(messages) }
    const count = await conversationRepository.grow(tx, change)
    return count === null ? [] : insertAll(tx, id, messages, count - messages.length)
  }

  async function insertAll(tx: Tx, conversation_id: ConversationId, messages: readonly NewMessage[], after: number) {
    const common = { conversation_id, about: null, created_at: clock.now() }
    const rows = messages.map(
      (one, at): MessageRow => ({ id: MessageId.create(), ...common, ...one, seq: after + at + 1 }),
    )
    for (const row of rows) await conversationRepository.insertMessage(tx, row)
    return rows
  }

  /** `POST /conversations`. */
  async function create(call: Call, made: NewConversation): Promise<NotedConversation> {
    const [owner, id] = [ownerOf(call.caller), ConversationId.create()]
    return store.write(async (tx) => {
      await begin(tx, owner, id, made)
      const row = await find(tx, owner, id)
      await record(tx, call, 'created', row)
      return storeAnswer(tx, call, noted(row))
    })
  }

  /**
   * A page of the messages of a conversation, ascending or descending. Throws 404, and 400 when `after` is not a
   * message of the conversation.
   */
  async function messagesOf(
    reader: Reader,
    owner: OwnerScope,
    id: string,
    { limit, order = 'desc', after }: After,
    member?: string,
  ) {
    const row = await find(reader, owner, id, member)
    const mark = after === undefined ? undefined : await conversationRepository.findMessage(reader, row.id, after)
    if (after !== undefined && !mark) throw invalidInput('after', '"after" is not the id of an entry of this list.')
    return conversationRepository.messagesFrom(reader, row.id, { limit, order, after: mark?.seq })
  }

  /** Adds messages to a conversation. Throws 404. */
  function addTo<Reply extends object>(
    call: Call,
    id: string,
    messages: readonly NewMessage[],
    reply: (rows: MessageRow[]) => Reply,
  ): Promise<Reply> {
    const owner = ownerOf(call.caller)
    return store.write(async (tx) => {
      const row = await find(tx, owner, id)
      const rows = await add(tx, owner, row.id, messages)
      await record(tx, call, 'updated', row)
      return storeAnswer(tx, call, reply(rows))
    })
  }

  /** One message. Throws 404 when the conversation or the message does not belong to the owner. */
  async function messageOf(owner: OwnerScope, id: string, messageId: string, reader: Reader = store.read) {
    const row = await find(reader, owner, id)
    const message = await conversationRepository.findMessage(reader, row.id, messageId)
    if (!message) throw notFound('item')
    return message
  }

  /** Throws as `messageOf`. */
  function removeMessage(call: Call, id: string, messageId: string): Promise<NotedConversation> {
    return store.write(async (tx) => {
      const owner = ownerOf(call.caller)
      await conversationRepository.removeMessage(tx, await messageOf(owner, id, messageId, tx), clock.now())
      const row = await find(tx, owner, id)
      await record(tx, call, 'updated', row)
      return noted(row)
    })
  }

  /**
   * Conversations, last updated first. Operators get those of all owners, of a named owner or of a key's owner, without
   * titles and texts. Throws 404 for an unknown owner or key.
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

  /** One conversation with its messages. Audits an operator's read in the owner's chain as `conversation.read`. */
  async function get(call: Call<Caller>, id: string): Promise<NotedConversation & { conversation: Conversation }> {
    const row = await find(store.read, scopeOf(call.caller), id)
    const found = await conversationRepository.messagesAfter(store.read, row.id, 0)
    const messages = found.map(async (one) => presentMessage(one, await linked(row.owner, one.about?.artifacts ?? [])))
    const conversation = { ...presentSummary(row), messages: await Promise.all(messages) }
    if (call.caller.type === 'operator') await store.write((tx) => record(tx, call, 'read', row))
    return { ...noted(row), conversation }
  }

  async function outlined({ caller }: Call<Caller>, id: string): Promise<{ conversation: OverseenConversation }> {
    return { conversation: outline(await find(store.read, scopeOf(caller), id)) }
  }

  /** Artifacts with fresh links (docs/api.md 2.3). A deleted artifact has no link. */
  function linked(owner: OwnerScope, artifacts: StoredArtifacts): Promise<StoredArtifacts> {
    return Promise.all(
      artifacts.map(async (artifact) => {
        if (artifact.url === null || typeof artifact.id !== 'string' || !ArtifactId.is(artifact.id)) return artifact
        const fresh = await files.find(store.read, owner, artifact.id)
        return fresh ?? { ...artifact, url: null, url_expires_at: null }
      }),
    )
  }

  /** Throws 404. */
  function rename(call: Call, id: string, { title }: RenameConversation) {
    return change(call, id, { title }, (row) => ({ conversation: presentSummary(row) }))
  }

  /** Replaces the client's metadata of a conversation. Throws 404. */
  function note(call: Call, id: string, metadata: NewConversation['metadata']) {
    return change(call, id, { metadata }, noted)
  }

  async function change<Reply extends object>(
    call: Call,
    id: string,
    changed: Partial<ConversationRow>,
    reply: (row: ConversationRow) => Reply,
  ): Promise<Reply> {
    return store.write(async (tx) => {
      const change = { ...changed, updated_at: clock.now() }
      const row = ConversationId.is(id) && (await conversationRepository.change(tx, ownerOf(call.caller), id, change))
      if (!row) throw notFound('conversation')
      await record(tx, call, 'updated', row)
      return storeAnswer(tx, call, reply(row))
    })
  }

  /** Describes each conversation with a wrong message count. A turn is stored as two messages or not at all. */
  async function verify(reader: Reader): Promise<string[]> {
    const wrong = await conversationRepository.miscounted(reader)
    return wrong.map(({ id, counted, found }) => `conversation ${id} counts ${counted} messages and has ${found}`)
  }

  async function remove(call: Call<Caller>, id: string): Promise<ConversationDeleted> {
    return store.write(async (tx) => {
      const row = await find(tx, scopeOf(call.caller), id)
      if (!(await conversationRepository.remove(tx, row.owner, row.id))) throw notFound('conversation')
      await alsoRemove(tx, [row.id])
      await record(tx, call, 'deleted', row)
      return { id: row.id, object: 'conversation.deleted', deleted: true }
    })
  }

  /** Deletes an owner's conversations last updated before a given time, with their messages. Throws 404. */
  async function purge(
    call: Call<Caller>,
    { owner: ownerFilter, before, count_only }: ConversationPurge,
  ): Promise<ConversationsPurged> {
    const scope = await ownerNamed(store.read, ownerFilter)
    const until = Date.parse(before)
    const purged = (conversations: number) => ({ object: 'conversation_purge' as const, conversations })
    if (count_only) return purged(await conversationRepository.countBefore(store.read, scope, until))
    const removeSome = (limit: number) =>
      store.write(async (tx) => {
        const ids = await conversationRepository.removeBefore(tx, scope, until, limit)
        await alsoRemove(tx, ids)
        const some = ids.length
        const entity = { entityType: 'conversation' as const, entityId: null, scope }
        const input = { metadata: { before, conversations: some } }
        if (some) await audit.record(tx, call, { action: 'conversation.purged', ...entity, input })
        return some
      })
    return purged(await inBatches(removeSome))
  }

  async function record(tx: Tx, call: Call<Caller>, what: string, { id, owner }: ConversationRow): Promise<void> {
    const entity = { entityType: 'conversation' as const, entityId: id, scope: owner }
    await audit.record(tx, call, { action: `conversation.${what}`, ...entity })
  }
}

/** The owner whose conversations a caller may access. Null for operators, who access all. */
const scopeOf = (caller: Caller): OwnerScope | null => (caller.type === 'operator' ? null : ownerOf(caller))

const listed = <Item>(page: Page<Item>) => ({ conversations: page.items, ...pageFields(page) })

/** Omits the title and last message, because people wrote them. */
const outline = ({ id, owner, message_count, created_at, updated_at }: ConversationRow): OverseenConversation => ({
  id,
  owner,
  messageCount: message_count,
  createdAt: iso(created_at),
  updatedAt: iso(updated_at),
})

/** The title and preview of new messages in lists: from the first prompt and the last text. */
function outlineOf(messages: readonly NewMessage[]) {
  const first = messages.find(({ role }) => role === 'user')
  // Code points, because an emoji counts as one character of a title.
  const start = first && [...first.content.slice(0, 2 * TITLE_CHARS)].slice(0, TITLE_CHARS).join('')
  return {
    title: first && start !== undefined ? beginningOf(first.content, start.length) : null,
    last: shorten(messages.findLast(({ content }) => content)?.content ?? '', PREVIEW_CHARS),
  }
}

/** The question and the answer of a turn. */
const messagesIn = ({ prompt, answer, ...about }: Turn): NewMessage[] => [
  { role: 'user', content: prompt, item: null },
  { role: 'assistant', content: answer, item: null, about },
]

/** A conversation in the format of the OpenAI Conversations API (docs/api.md 29.8). */
const noted = ({ id, created_at, metadata }: ConversationRow): NotedConversation => ({
  id,
  object: 'conversation',
  created_at: Math.floor(created_at / 1_000),
  metadata: metadata ?? {},
})

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
