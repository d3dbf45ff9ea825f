import type { AuditLog } from '../../audit'
import type { Files } from '../../files'
import { ArtifactId } from '../../files/schema'
import { type Call, type OperatorCaller, type OwnerScope, ownerOf } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { notFound } from '../../kernel/errors'
import { microToCents } from '../../kernel/money'
import { mapPage, type Page, pageFields } from '../../kernel/page'
import type { Reader, Store, Tx } from '../../kernel/store'
import { beginningOf, shorten } from '../../kernel/text'
import { conversationRepository as rows } from './repository'
import type {
  ConversationPurge,
  ConversationsPurged,
  OverseenConversation,
  OverseenPage,
  OverseenQuery,
} from './schema'
import {
  type Conversation,
  ConversationId,
  type ConversationQuery,
  type ConversationSummary,
  type Message,
  MessageId,
  type RenameConversation,
  type Turn,
} from './schema'
import type { ConversationRow, MessageRow } from './table'

type OperatorAccessDeps = {
  store: Store
  audit: AuditLog
  /** Whose conversations a word of an operator names. Throws 404. */
  ownerNamed(reader: Reader, word: string): Promise<OwnerScope>
  /** Whose work a key does. Throws 404. */
  keyOwner(call: Call<OperatorCaller>, key: string): Promise<OwnerScope>
  whole(row: ConversationRow): Promise<Conversation>
}

const BATCH = 100

/** Without its title and last message, which are what people wrote. */
const outline = ({ id, owner, message_count, created_at, updated_at }: ConversationRow): OverseenConversation => ({
  id,
  owner,
  messageCount: message_count,
  createdAt: iso(created_at),
  updatedAt: iso(updated_at),
})

const purged = (conversations: number): ConversationsPurged => ({ object: 'conversation_purge', conversations })

const entryOf = (action: string, { id, owner }: ConversationRow) => ({
  action,
  entityType: 'conversation' as const,
  entityId: id,
  scope: owner,
})

const purgeOf = (scope: OwnerScope, metadata: Record<string, unknown>) => ({
  action: 'conversation.purged',
  entityType: 'conversation' as const,
  entityId: null,
  scope,
  input: { metadata },
})

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
  const operatorAccess = createConversationOperatorAccess({ store, audit, ownerNamed, keyOwner, whole })
  return { assertOwned, history, start, append, list, get, rename, remove, verify, operatorAccess }

  /** Throws 404 unless the id is this owner's conversation. */
  async function assertOwned(reader: Reader, owner: OwnerScope, id: string): Promise<ConversationRow> {
    const row = ConversationId.is(id) ? await rows.find(reader, owner, id) : undefined
    if (!row) throw notFound('conversation')
    return row
  }

  /** The turns an answer continues from, oldest first. Throws 404 like {@link assertOwned}. */
  async function history(owner: OwnerScope, id: string): Promise<{ id: ConversationId; turns: PastTurn[] }> {
    const conversation = await assertOwned(store.read, owner, id)
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
    await rows.insert(tx, { id, owner, title, last_message: preview(turn), count: 2, now })
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

  async function list({ caller }: Call, query: ConversationQuery): Promise<Page<ConversationSummary>> {
    return mapPage(await rows.list(store.read, ownerOf(caller), query), presentSummary)
  }

  async function get({ caller }: Call, id: string): Promise<Conversation> {
    return whole(await assertOwned(store.read, ownerOf(caller), id))
  }

  /** With its messages. */
  async function whole(row: ConversationRow): Promise<Conversation> {
    const found = await rows.messagesAfter(store.read, row.id, 0)
    const messages = found.map(async (one) => presentMessage(one, await linked(row.owner, one.about?.artifacts ?? [])))
    return { ...presentSummary(row), messages: await Promise.all(messages) }
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

  async function rename(call: Call, id: string, { title }: RenameConversation): Promise<ConversationSummary> {
    if (!ConversationId.is(id)) throw notFound('conversation')
    return store.write(async (tx) => {
      const row = await rows.rename(tx, ownerOf(call.caller), id, title, clock.now())
      if (!row) throw notFound('conversation')
      await audit.record(tx, call, { action: 'conversation.updated', entityType: 'conversation', entityId: id })
      return presentSummary(row)
    })
  }

  /** Sentences about conversations with a wrong message count: a turn is stored as two messages or none (I1). */
  async function verify(reader: Reader): Promise<string[]> {
    const wrong = await rows.miscounted(reader)
    return wrong.map(({ id, counted, found }) => `conversation ${id} counts ${counted} messages and has ${found}`)
  }

  async function remove(call: Call, id: string): Promise<void> {
    if (!ConversationId.is(id)) throw notFound('conversation')
    await store.write(async (tx) => {
      if (!(await rows.remove(tx, ownerOf(call.caller), id))) throw notFound('conversation')
      await audit.record(tx, call, { action: 'conversation.deleted', entityType: 'conversation', entityId: id })
    })
  }
}

/** Stores the question as message `after + 1` and the answer as `after + 2`. */
async function storeTurn(tx: Tx, id: ConversationId, after: number, turn: Turn, now: number): Promise<void> {
  const { prompt, answer, ...about } = turn
  const common = { conversation_id: id, now }
  await rows.insertMessage(tx, {
    ...common,
    id: MessageId.create(),
    seq: after + 1,
    role: 'user',
    content: prompt,
    about: null,
  })
  await rows.insertMessage(tx, {
    ...common,
    id: MessageId.create(),
    seq: after + 2,
    role: 'assistant',
    content: answer,
    about,
  })
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

/** What operators see of the conversations of everyone: what is said in one only where they ask, which is recorded. */
function createConversationOperatorAccess({ store, audit, ownerNamed, keyOwner, whole }: OperatorAccessDeps) {
  return { list, get, read, remove, purge }

  /** Last updated first. Throws 404 for an owner that is none. */
  async function list(
    call: Call<OperatorCaller>,
    { since, key, ...wanted }: OverseenQuery,
    ownerFilter?: string,
  ): Promise<OverseenPage> {
    const named = ownerFilter === undefined ? null : await ownerNamed(store.read, ownerFilter)
    const owner = key === undefined ? named : await keyOwner(call, key)
    const page = mapPage(
      await rows.everyones(store.read, owner, { ...wanted, since: since === undefined ? null : Date.parse(since) }),
      outline,
    )
    return { conversations: page.items, ...pageFields(page) }
  }

  async function get(id: string): Promise<{ conversation: OverseenConversation }> {
    return { conversation: outline(await find(id)) }
  }

  /** Its messages too, which is recorded in the chain of its owner as `conversation.read`. */
  async function read(call: Call<OperatorCaller>, id: string): Promise<{ conversation: Conversation }> {
    const row = await find(id)
    const conversation = await whole(row)
    await store.write((tx) => audit.record(tx, call, entryOf('conversation.read', row)))
    return { conversation }
  }

  async function remove(call: Call<OperatorCaller>, id: string): Promise<{ deleted: true }> {
    const row = await find(id)
    await store.write(async (tx) => {
      if (!(await rows.remove(tx, row.owner, row.id))) throw notFound('conversation')
      await audit.record(tx, call, entryOf('conversation.deleted', row))
    })
    return { deleted: true }
  }

  /** Deletes the conversations of an owner that were last updated before a moment, with their messages. */
  async function purge(
    call: Call<OperatorCaller>,
    { owner: ownerFilter, before, count_only }: ConversationPurge,
  ): Promise<ConversationsPurged> {
    const owner = await ownerNamed(store.read, ownerFilter)
    const until = Date.parse(before)
    if (count_only) return purged(await rows.countBefore(store.read, owner, until))
    for (let total = 0; ; ) {
      const gone = await store.write(async (tx) => {
        const some = await rows.removeBefore(tx, owner, until, BATCH)
        if (some) await audit.record(tx, call, purgeOf(owner, { before, conversations: some }))
        return some
      })
      if (!gone) return purged(total)
      total += gone
    }
  }

  async function find(id: string): Promise<ConversationRow> {
    const row = ConversationId.is(id) ? await rows.byId(store.read, id) : undefined
    if (!row) throw notFound('conversation')
    return row
  }
}
