import type { AuditLog } from '../../audit'
import { storeAnswer } from '../../idempotency'
import { type Call, ownerOf, type TenantCaller } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { invalidInput, notFound } from '../../kernel/errors'
import { mapPage, type Page, type PageQuery } from '../../kernel/page'
import type { Store } from '../../kernel/store'
import { storable } from '../../kernel/text'
import { tooManyMemories } from '../errors'
import { type Memory, MemoryId, type MemorySource, type NewMemory } from '../schema'
import type { MemoryRow } from '../table'
import { createRecall } from './recall'
import { countMemories, insertMemory, listMemories, removeMemory } from './repository'

/** A limit per owner, because a prompt waits while the index of its owner's memories is built. */
const MOST_MEMORIES = 1_000

type Deps = { store: Store; audit: AuditLog; clock: Clock }

export type MemoryService = ReturnType<typeof createMemory>

/**
 * Memories belong to the user alone, whichever key or channel stored them (contract 17, 22.6). Those stored by an
 * org's key belong to the org, and that key cannot read its creator's memories.
 */
export function createMemory({ store, audit, clock }: Deps) {
  const { recall, forget } = createRecall({ store, clock })
  return { list, add, remove, recall: (caller: TenantCaller, prompt: string) => recall(ownerOf(caller), prompt) }

  async function list({ caller }: Call, query: PageQuery): Promise<Page<Memory>> {
    return mapPage(await listMemories(store.read, ownerOf(caller), query), present)
  }

  /** Throws 400 on blank content, 409 `conflict` when the owner has `MOST_MEMORIES` already. */
  async function add(call: Call, { content }: NewMemory, source: MemorySource): Promise<{ memory: Memory }> {
    const said = storable(content).trim()
    if (!said) throw invalidInput('content', '"content" is blank. Send the text to remember.')
    const owner = ownerOf(call.caller)
    const row: MemoryRow = { id: MemoryId.create(), owner, content: said, source, created_at: clock.now() }
    return store.write(async (tx) => {
      const [held] = await countMemories(tx, { owner })
      if ((held?.count ?? 0) >= MOST_MEMORIES) throw tooManyMemories(MOST_MEMORIES)
      await insertMemory(tx, row)
      await audit.record(tx, call, { action: 'memory.created', entityType: 'memory', entityId: row.id })
      tx.afterCommit(() => forget(owner))
      return storeAnswer(tx, call, { memory: present(row) })
    })
  }

  /** Throws 404 unless it is the caller's own. */
  async function remove(call: Call, id: string): Promise<void> {
    if (!MemoryId.is(id)) throw notFound('memory')
    const owner = ownerOf(call.caller)
    await store.write(async (tx) => {
      if (!(await removeMemory(tx, owner, id))) throw notFound('memory')
      await audit.record(tx, call, { action: 'memory.deleted', entityType: 'memory', entityId: id })
      tx.afterCommit(() => forget(owner))
    })
  }
}

const present = ({ id, content, source, created_at }: MemoryRow): Memory => ({
  id,
  content,
  source,
  createdAt: iso(created_at),
})
