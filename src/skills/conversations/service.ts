import type { AuditLog } from '../../audit'
import type { Files } from '../../files'
import { ArtifactId } from '../../files/schema'
import { type Call, type Caller, type OperatorCaller, type OwnerScope, ownerOf } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { notFound } from '../../kernel/errors'
import { microToCents } from '../../kernel/money'
import { mapPage, type Page, pageFields } from '../../kernel/page'
import type { Reader, Store, Tx } from '../../kernel/store'
import { beginningOf, shorten } from '../../kernel/text'
import { conversationRepository as rows } from './repository'
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
import type { ConversationRow, MessageRow } from './table'

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
    const row = ConversationId.is(id) ? await rows.find(reader, owner, id) : undefined
    if (!row) throw notFound('conversation')
    return row
  }

  /** The turns an answer continues from, oldest first. Throws 404. */
  async function history(owner: OwnerScope, id: string): Promise<{ id: ConversationId; turns: PastTurn[] }> {
    const conversation = await find(store.read, owner, id)
    const found = await rows.messagesAfter(store.read, conversation.id, conversation.message_count - HISTORY_MESSAGES)
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
    await rows.insert(tx, { id, owner, ...opening, created_at: now, updated_at: now })
    await storeTurn(tx, id, 0, turn, now)
    return id
  }

  /** Adds a turn and returns the id; a conversation deleted meanwhile stays deleted. */
  async function append(tx: Tx, owner: OwnerScope, id: ConversationId, turn: Turn): Promise<ConversationId> {
    const now = clock.now()
    const count = await rows.grow(tx, { id, owner, by: 2, last: preview(turn), now })
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
      return listed(mapPage(await rows.list(store.read, ownerOf(caller), query), presentSummary))
    const named = ownerFilter === undefined ? null : await ownerNamed(store.read, ownerFilter)
    const owner = key === undefined ? named : await keyOwner({ ...call, caller }, key)
    return listed(mapPage(await rows.list(store.read, owner, query), outline))
  }

  /** With its messages. That an operator reads them is recorded in the owner's chain as `conversation.read`. */
  async function get(call: Call<Caller>, id: string): Promise<{ conversation: Conversation }> {
    const row = await find(store.read, scopeOf(call.caller), id)
    const found = await rows.messagesAfter(store.read, row.id, 0)
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
      const row = ConversationId.is(id) && (await rows.rename(tx, ownerOf(call.caller), id, title, clock.now()))
      if (!row) throw notFound('conversation')
      await record(tx, call, 'updated', row)
      return { conversation: presentSummary(row) }
    })
  }

  /** Sentences about conversations with a wrong message count: a turn is stored as two messages or none (I1). */
  async function verify(reader: Reader): Promise<string[]> {
    const wrong = await rows.miscounted(reader)
    return wrong.map(({ id, counted, found }) => `conversation ${id} counts ${counted} messages and has ${found}`)
  }

  async function remove(call: Call<Caller>, id: string): Promise<{ deleted: true }> {
    return store.write(async (tx) => {
      const row = await find(tx, scopeOf(call.caller), id)
      if (!(await rows.remove(tx, row.owner, row.id))) throw notFound('conversation')
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
    if (count_only) return purged(await rows.countBefore(store.read, scope, until))
    for (let total = 0; ; ) {
      const gone = await store.write(async (tx) => {
        const some = await rows.removeBefore(tx, scope, until, BATCH)
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
  await rows.insertMessage(tx, { ...common, ...question })
  const answered = { id: MessageId.create(), seq: after + 2, role: 'assistant' as const, content: answer, about }
  await rows.insertMessage(tx, { ...common, ...answered })
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
