import type { AuditLog } from '../../audit'
import { kept } from '../../idempotency'
import type { Call, TenantCaller } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { invalidInput, notFound } from '../../kernel/errors'
import { decodeCursor, type Page, type PageQuery, toPage } from '../../kernel/page'
import type { Store } from '../../kernel/store'
import { storable } from '../../kernel/text'
import { tooManyMemories } from '../errors'
import { type Memory, MemoryId, type MemorySource, type NewMemory } from '../schema'
import type { MemoryRow } from '../table'
import { createRecall } from './recall'
import { countMemories, insertMemory, listMemories, removeMemory } from './repository'

/** More would make an index a user's prompt waits for. */
const MOST_MEMORIES = 1_000

type Deps = { store: Store; audit: AuditLog; clock: Clock }

export type MemoryService = ReturnType<typeof createMemory>

/** What a user wants remembered; theirs alone, whichever key or channel it came by (contract 17, 22.6). */
export function createMemory({ store, audit, clock }: Deps) {
  const { recall, forget } = createRecall({ store, clock })
  return { list, add, remove, recall: (caller: TenantCaller, prompt: string) => recall(caller.userId, prompt) }

  async function list({ caller }: Call, { limit, cursor }: PageQuery): Promise<Page<Memory>> {
    const found = await listMemories(store.read, caller.userId, decodeCursor(cursor), limit + 1)
    const page = toPage(found, limit, (row) => ({ at: row.created_at, id: row.id }))
    return { ...page, items: page.items.map(present) }
  }

  /** Throws 400 on content that says nothing, 409 `conflict` when there is no room for one more. */
  async function add(call: Call, { content }: NewMemory, source: MemorySource): Promise<{ memory: Memory }> {
    const said = storable(content).trim()
    if (!said) throw invalidInput('content', '"content" says nothing. Send what is to be remembered.')
    const user_id = call.caller.userId
    const row: MemoryRow = { id: MemoryId.create(), user_id, content: said, source, created_at: clock.now() }
    return store.write(async (tx) => {
      const [held] = await countMemories(tx, { user_id })
      if ((held?.count ?? 0) >= MOST_MEMORIES) throw tooManyMemories(MOST_MEMORIES)
      await insertMemory(tx, row)
      await audit.record(tx, call, { action: 'memory.created', entityType: 'memory', entityId: row.id })
      tx.afterCommit(() => forget(user_id))
      return kept(tx, call, { memory: present(row) })
    })
  }

  /** Throws 404 unless it is this user's. */
  async function remove(call: Call, id: string): Promise<void> {
    if (!MemoryId.is(id)) throw notFound('memory')
    const { userId } = call.caller
    await store.write(async (tx) => {
      if (!(await removeMemory(tx, userId, id))) throw notFound('memory')
      await audit.record(tx, call, { action: 'memory.deleted', entityType: 'memory', entityId: id })
      tx.afterCommit(() => forget(userId))
    })
  }
}

const present = ({ id, content, source, created_at }: MemoryRow): Memory => ({
  id,
  content,
  source,
  createdAt: iso(created_at),
})
