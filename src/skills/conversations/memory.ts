import { eq } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import MiniSearch from 'minisearch'
import type { AuditLog } from '../../audit'
import { storeAnswer } from '../../idempotency'
import { type Call, type OwnerScope, ownerOf, type TenantCaller } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { AppError, defineError, invalidInput, notFound } from '../../kernel/errors'
import { pagesBy } from '../../kernel/keyset'
import { nextTurn } from '../../kernel/loop'
import { mapPage, type Page, type PageQuery, pageFields } from '../../kernel/page'
import { createReadCache } from '../../kernel/read-cache'
import { rowsOf } from '../../kernel/rows'
import { allOf, command, query, type Reader, type Store, type Tx } from '../../kernel/store'
import { storable } from '../../kernel/text'
import { contentWords } from '../../text'
import { type Tool, ToolFailure } from '../../tools'
import { MAX_MEMORY_CHARS, type Memory, MemoryId, type MemorySource, type NewMemory } from './schema'
import { type MemoryRow, memories } from './table'

const tooManyMemories = defineError(
  'conflict',
  (max: number) => `This account has ${max} memories, which is the maximum. Delete one first.`,
)

export const insertMemory = command<MemoryRow>()((tx, p) =>
  tx.insert(tx.of(memories)).values(allOf(tx.of(memories), p)),
)

const rows = rowsOf(memories)

/** All memories of one owner, for the search index. `add` limits their number. */
const allMemories = query<{ owner: OwnerScope }>()((db, p) => {
  const t = db.of(memories)
  return db.select({ id: t.id, content: t.content }).from(t).where(eq(t.owner, p.owner))
})

const newestFirst = pagesBy(memories, 'created_at')

export const listMemories = (db: Reader, owner: OwnerScope, wanted: PageQuery): Promise<Page<MemoryRow>> =>
  newestFirst(db, wanted, eq(db.of(memories).owner, owner))

/** Maximum number of memories passed to one answer (docs/api.md 22.6). */
const MAX_RECALLED = 5

const USERS_STORED = 500

/** Number of items indexed per turn of the event loop. Indexing a thousand long items takes most of a second. */
const ITEMS_A_TURN = 10

type Item = { id: MemoryId; content: string }

/** `null` is cached for a user without memories, so that the next prompt needs no query. */
type Index = { search: MiniSearch<Item> | null }

type Indexed = { search: MiniSearch<Item>; ids: Set<MemoryId> }

const NOTHING: readonly string[] = []

const find = (index: Index | null, prompt: string): readonly string[] =>
  index?.search
    ? index.search
        .search(prompt.slice(0, MAX_PROMPT_CHARS))
        .slice(0, MAX_RECALLED)
        .map(({ content }) => content as string)
    : NOTHING

/** Only this part of a prompt is searched: further words add little to its topic, and each costs time. */
const MAX_PROMPT_CHARS = 4_000

/** Maximum number of memories per owner, because a prompt waits while the index is built. */
const MAX_MEMORIES = 1_000

export type MemoryService = ReturnType<typeof createMemory>

/**
 * Memories belong to the user, whichever key or channel stored them (docs/api.md 17, 22.6). Memories stored by an org's
 * key belong to the org, and that key cannot read its creator's memories.
 */
export function createMemory({ store, audit, clock }: { store: Store; audit: AuditLog; clock: Clock }) {
  const { recall, forget } = createRecall({ store })
  return { list, add, remove, recall: (caller: TenantCaller, prompt: string) => recall(ownerOf(caller), prompt) }

  async function list({ caller }: Call, query: PageQuery) {
    const page = mapPage(await listMemories(store.read, ownerOf(caller), query), present)
    return { memories: page.items, ...pageFields(page) }
  }

  /** Throws 400 on blank content, and 409 `conflict` when the owner already has `MAX_MEMORIES` memories. */
  async function add(call: Call, { content }: NewMemory, source: MemorySource): Promise<{ memory: Memory }> {
    const text = storable(content).trim()
    if (!text) throw invalidInput('content', '"content" is blank. Send the text to remember.')
    const owner = ownerOf(call.caller)
    const row: MemoryRow = { id: MemoryId.create(), owner, content: text, source, created_at: clock.now() }
    return store.write(async (tx) => {
      if ((await rows.count(tx, { owner })) >= MAX_MEMORIES) throw tooManyMemories(MAX_MEMORIES)
      await insertMemory(tx, row)
      await audit.record(tx, call, { action: 'memory.created', entityType: 'memory', entityId: row.id })
      tx.afterCommit(() => forget(owner))
      return storeAnswer(tx, call, { memory: present(row) })
    })
  }

  /** Throws 404 unless the memory belongs to the caller. */
  async function remove(call: Call, id: string): Promise<{ deleted: true }> {
    const owner = ownerOf(call.caller)
    return store.write(async (tx) => {
      if (!MemoryId.is(id) || !(await removeMemory(tx, owner, id))) throw notFound('memory')
      await audit.record(tx, call, { action: 'memory.deleted', entityType: 'memory', entityId: id })
      tx.afterCommit(() => forget(owner))
      return { deleted: true }
    })
  }
}

const present = ({ id, content, source, created_at }: MemoryRow): Memory => ({
  id,
  content,
  source,
  createdAt: iso(created_at),
})

/**
 * Finds the memories relevant to a prompt by BM25, with one index per user. An index is built on first use. After a
 * change, items are added and removed. Memories are never edited.
 */
export function createRecall({ store }: { store: Store }) {
  const stored = createReadCache<OwnerScope, Index>({
    ...{ max: USERS_STORED, changes: store.changes, tables: ['memories'] },
  })
  const indexes = new LRUCache<OwnerScope, Indexed>({ max: USERS_STORED })
  const updating = new Map<OwnerScope, Promise<Index>>()

  /** Up to five items that share words with the prompt, best first. Synchronous while the user's index is cached. */
  function recall(owner: OwnerScope, prompt: string): readonly string[] | Promise<readonly string[]> {
    const index = stored.known(owner)
    if (index) return find(index, prompt)
    return Promise.resolve(stored.get(owner, inTurn)).then((found) => find(found, prompt))
  }

  /** Updates a user's index one load at a time. Two concurrent loads would add and remove the same items. */
  async function inTurn(owner: OwnerScope): Promise<Index> {
    const before = updating.get(owner)
    const mine = (before ?? Promise.resolve()).catch(() => null).then(() => load(owner))
    updating.set(owner, mine)
    try {
      return await mine
    } finally {
      if (updating.get(owner) === mine) updating.delete(owner)
    }
  }

  async function load(owner: OwnerScope): Promise<Index> {
    const items = await allMemories(store.read, { owner })
    if (!items.length) {
      indexes.delete(owner)
      return { search: null }
    }
    const index = indexes.get(owner) ?? {
      search: new MiniSearch({ fields: ['content'], storeFields: ['content'], tokenize: contentWords }),
      ids: new Set(),
    }
    indexes.set(owner, index)
    await update(index, items)
    return { search: index.search }
  }

  return { recall, forget: stored.forget }
}

async function update({ search, ids }: Indexed, items: readonly Item[]): Promise<void> {
  for (const id of ids.difference(new Set(items.map((item) => item.id)))) {
    search.discard(id)
    ids.delete(id)
  }
  const added = items.filter(({ id }) => !ids.has(id))
  for (const [at, item] of added.entries()) {
    search.add(item)
    ids.add(item.id)
    if (at % ITEMS_A_TURN === ITEMS_A_TURN - 1) await nextTurn()
  }
}

/** Returns whether the memory existed. */
export const removeMemory = async (tx: Tx, owner: OwnerScope, id: MemoryId): Promise<boolean> =>
  (await rows.remove(tx, { id, owner })) > 0

/** A tool with which an engine remembers facts about its user (docs/api.md 22.6). */
export const saveMemory = (memory: MemoryService): Tool => ({
  name: 'save_memory',
  description:
    'Remembers a lasting fact or preference the user has stated about themselves, for later conversations. ' +
    'Only when the user asks to remember something, or clearly wants it kept. One sentence, no secrets.',
  inputSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['content'],
    properties: { content: { type: 'string', minLength: 1, maxLength: MAX_MEMORY_CHARS } },
  },
  category: 'memory',
  permissionLevel: 'user',
  requiresApproval: false,
  skillId: null,
  timeoutMs: 5_000,
  keeps: true,
  async run(args, { call }) {
    try {
      const { memory: saved } = await memory.add(
        { ...call, once: undefined },
        { content: String(args.content) },
        'assistant',
      )
      return { saved: saved.content, id: saved.id }
    } catch (error) {
      if (error instanceof AppError) throw new ToolFailure(error.message)
      throw error
    }
  },
})
