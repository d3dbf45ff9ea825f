import type { AuditLog } from '../audit'
import type { Call, OperatorCaller, OwnerScope } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import { mapPage, pageFields } from '../kernel/page'
import type { Reader, Store } from '../kernel/store'
import { conversationRepository as rows } from './repository'
import type { Conversation } from './schema'
import { ConversationId } from './schema'
import type {
  ConversationPurge,
  ConversationsPurged,
  OverseenConversation,
  OverseenPage,
  OverseenQuery,
} from './schema-operators'
import type { ConversationRow } from './table'

type Deps = {
  store: Store
  audit: AuditLog
  /** Whose conversations a word of an operator names. Throws 404. */
  ownerNamed(reader: Reader, word: string): Promise<OwnerScope>
  /** Whose work a key does. Throws 404. */
  keyOwner(call: Call<OperatorCaller>, key: string): Promise<OwnerScope>
  whole(row: ConversationRow): Promise<Conversation>
}

const BATCH = 100

/** What operators see of the conversations of everyone: what is said in one only where they ask, which is recorded. */
export function createConversationOversight({ store, audit, ownerNamed, keyOwner, whole }: Deps) {
  return { list, get, read, remove, purge }

  /** Last updated first. Throws 404 for an owner that is none. */
  async function list(
    call: Call<OperatorCaller>,
    { since, key, ...wanted }: OverseenQuery,
    whose?: string,
  ): Promise<OverseenPage> {
    const named = whose === undefined ? null : await ownerNamed(store.read, whose)
    const owner = key === undefined ? named : await keyOwner(call, key)
    const page = mapPage(await rows.everyones(store.read, owner, { ...wanted, since: momentOf(since) }), outline)
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
    { owner: whose, before, count_only }: ConversationPurge,
  ): Promise<ConversationsPurged> {
    const owner = await ownerNamed(store.read, whose)
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

/** Without its title and last message, which are what people wrote. */
const outline = ({ id, owner, message_count, created_at, updated_at }: ConversationRow): OverseenConversation => ({
  id,
  owner,
  messageCount: message_count,
  createdAt: iso(created_at),
  updatedAt: iso(updated_at),
})

const momentOf = (moment?: string): number | null => (moment === undefined ? null : Date.parse(moment))
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
