import { LRUCache } from 'lru-cache'
import { findOwner, type KeyService } from '../accounts'
import type { Call, OperatorCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Store } from '../kernel/store'

/** The state of one dashboard screen: rows with ids, and facts. */
type TopicState = { facts: Record<string, unknown>; rows: readonly Row[] }
type Row = { id: string } & Record<string, unknown>
/** `max` limits the rows of a list that is longer than the screen shows. */
export type ReadTopic = (max?: number) => Promise<TopicState>

/** Reads at most once in this time, for any number of callers. Does not cache a failed read. */
export function cachedRead<T>(clock: Clock, everyMs: number, read: () => Promise<T>): () => Promise<T> {
  let stored: { at: number; value: Promise<T> } | null = null
  return () => {
    const now = clock.monotonic()
    if (stored && now - stored.at < everyMs) return stored.value
    const value = read()
    const mine = { at: now, value }
    stored = mine
    value.catch(() => {
      if (stored === mine) stored = null
    })
    return value
  }
}

type By = Call<OperatorCaller>
type Nouns = { get(call: By, id: string): Promise<{ name: string }> }
type Deps = {
  store: Store
  keys: KeyService
  guardrails: { policies: Nouns }
  preferences: { preferences: Nouns }
}
type Named = { name: string; prefix?: string }
export type Names = ReturnType<typeof createNames>

const MAX = 8_000
const FRESH_MS = 60_000

/** The display names of keys and owners, by id, cached for a minute. */
export function createNames({ store, keys, guardrails, preferences }: Deps) {
  const known = new LRUCache<string, Named>({ max: MAX, ttl: FRESH_MS })

  async function named(id: string, find: () => Promise<Named>): Promise<Named> {
    const stored = known.get(id)
    if (stored) return stored
    // A deleted one has no name, so its id is shown.
    const found = await find().catch(() => ({ name: id }))
    known.set(id, found)
    return found
  }

  async function ofNoun(noun: Nouns, call: By, id: string | null): Promise<string | null> {
    if (!id) return null
    return (await named(id, async () => ({ name: (await noun.get(call, id)).name }))).name
  }

  return {
    key: (call: By, id: string | null) => ofNoun(keys, call, id),
    policy: (call: By, id: string | null) => ofNoun(guardrails.policies, call, id),
    preference: (call: By, id: string | null) => ofNoun(preferences.preferences, call, id),
    async owner(scope: string | null): Promise<string | null> {
      if (!scope) return null
      if (scope === 'server') return 'server'
      return (await named(scope, async () => ({ name: (await findOwner(store.read, scope)).name }))).name
    },
  }
}
