import { LRUCache } from 'lru-cache'
import MiniSearch from 'minisearch'
import type { OwnerScope } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { createReadCache, freshFor } from '../../kernel/read-cache'
import type { Store } from '../../kernel/store'
import { nextTurn } from '../../kernel/turns'
import { contentWords } from '../../text'
import type { MemoryId } from '../schema'
import { allMemories } from './repository'

/** Most memories that one answer is given (contract 22.6). */
const MOST_RECALLED = 5
const USERS_KEPT = 500
/** Items indexed before the event loop may run: indexing a thousand long ones takes most of a second. */
const ITEMS_A_TURN = 10

type Item = { id: MemoryId; content: string }
/** `null` is cached for a user without memories, so that the next prompt needs no query. */
type Index = { search: MiniSearch<Item> | null }
type Indexed = { search: MiniSearch<Item>; ids: Set<MemoryId> }

type Deps = { store: Store; clock: Clock }

/**
 * Finds the memories relevant to a prompt by BM25, with one index per user. An index is built on first use and
 * updated after a change by adding and removing items, which are never edited.
 */
export function createRecall({ store, clock }: Deps) {
  const kept = createReadCache<OwnerScope, Index>({ max: USERS_KEPT, maxAgeMs: freshFor(store.dialect), clock })
  const indexes = new LRUCache<OwnerScope, Indexed>({ max: USERS_KEPT })
  const updating = new Map<OwnerScope, Promise<Index>>()

  /** Up to five items that share words with the prompt, best first. Synchronous while the user's index is cached. */
  function recall(owner: OwnerScope, prompt: string): readonly string[] | Promise<readonly string[]> {
    const index = kept.get(owner, inTurn)
    return index instanceof Promise ? index.then((found) => find(found, prompt)) : find(index, prompt)
  }

  /** Updates a user's index one load at a time: two at once would add and remove the same items. */
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
    const index = indexes.get(owner) ?? { search: emptySearch(), ids: new Set() }
    indexes.set(owner, index)
    await update(index, items)
    return { search: index.search }
  }

  return { recall, forget: kept.forget }
}

const emptySearch = (): MiniSearch<Item> =>
  new MiniSearch({ fields: ['content'], storeFields: ['content'], tokenize: contentWords })

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

const find = (index: Index | null, prompt: string): string[] =>
  (index?.search?.search(prompt.slice(0, MOST_PROMPT_CHARS)) ?? [])
    .slice(0, MOST_RECALLED)
    .map(({ content }) => content as string)

/** A prompt is searched up to here: further words add little to its topic, and each costs time. */
const MOST_PROMPT_CHARS = 4_000
