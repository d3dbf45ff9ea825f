import MiniSearch from 'minisearch'
import type { OwnerScope } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { createReadCache, freshFor } from '../../kernel/read-cache'
import type { Store } from '../../kernel/store'
import { contentWords } from '../../kernel/words'
import type { MemoryId } from '../schema'
import { allMemories } from './repository'

/** How many items an answer is reminded of (contract 22.6). */
const MOST_RECALLED = 5
const USERS_KEPT = 500

type Item = { id: MemoryId; content: string }
/** `null` stands for a user with nothing to remember, so that asking again costs nothing. */
type Index = { search: MiniSearch<Item> | null }

type Deps = { store: Store; clock: Clock }

/** Finds what is relevant by BM25, in an index a user, made when it is first asked and forgotten when it changes. */
export function createRecall({ store, clock }: Deps) {
  const kept = createReadCache<OwnerScope, Index>({ max: USERS_KEPT, maxAgeMs: freshFor(store.dialect), clock })

  /** Up to five items that share words with the prompt, best first. At once for a user who is known to have none. */
  function recall(owner: OwnerScope, prompt: string): readonly string[] | Promise<readonly string[]> {
    const index = kept.get(owner, load)
    return index instanceof Promise ? index.then((found) => find(found, prompt)) : find(index, prompt)
  }

  async function load(owner: OwnerScope): Promise<Index> {
    const items = await allMemories(store.read, { owner })
    if (!items.length) return { search: null }
    const search = new MiniSearch<Item>({ fields: ['content'], storeFields: ['content'], tokenize: contentWords })
    search.addAll(items)
    return { search }
  }

  return { recall, forget: kept.forget }
}

const find = (index: Index | null, prompt: string): string[] =>
  (index?.search?.search(prompt.slice(0, MOST_PROMPT_CHARS)) ?? [])
    .slice(0, MOST_RECALLED)
    .map(({ content }) => content as string)

/** Words beyond these say little more about what a prompt is about, and each has a price. */
const MOST_PROMPT_CHARS = 4_000
