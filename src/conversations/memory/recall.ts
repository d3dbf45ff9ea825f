import { LRUCache } from 'lru-cache'
import MiniSearch from 'minisearch'
import type { OwnerScope } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { createReadCache, freshFor } from '../../kernel/read-cache'
import type { Store } from '../../kernel/store'
import { nextTurn } from '../../kernel/turns'
import { contentWords } from '../../kernel/words'
import type { MemoryId } from '../schema'
import { allMemories } from './repository'

/** How many items an answer is reminded of (contract 22.6). */
const MOST_RECALLED = 5
const USERS_KEPT = 500
/** Items put into an index before others have their turn: one of a thousand long ones takes most of a second. */
const ITEMS_A_TURN = 10

type Item = { id: MemoryId; content: string }
/** `null` stands for a user with nothing to remember, so that asking again costs nothing. */
type Index = { search: MiniSearch<Item> | null }
type Indexed = { search: MiniSearch<Item>; ids: Set<MemoryId> }

type Deps = { store: Store; clock: Clock }

/**
 * Finds what is relevant by BM25, in an index a user. It is made when it is first asked, and brought up to date
 * after a change: items come and go but are never rewritten.
 */
export function createRecall({ store, clock }: Deps) {
  const kept = createReadCache<OwnerScope, Index>({ max: USERS_KEPT, maxAgeMs: freshFor(store.dialect), clock })
  const indexes = new LRUCache<OwnerScope, Indexed>({ max: USERS_KEPT })
  const updating = new Map<OwnerScope, Promise<Index>>()

  /** Up to five items that share words with the prompt, best first. At once for a user who is known to have none. */
  function recall(owner: OwnerScope, prompt: string): readonly string[] | Promise<readonly string[]> {
    const index = kept.get(owner, inTurn)
    return index instanceof Promise ? index.then((found) => find(found, prompt)) : find(index, prompt)
  }

  /** One after another for a user: an index that two bring up to date at once is up to date for neither. */
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

/** Words beyond these say little more about what a prompt is about, and each has a price. */
const MOST_PROMPT_CHARS = 4_000
