import { LRUCache } from 'lru-cache'
import type { Clock } from './clock'

type Options = {
  max: number
  /** How old a remembered value may be. `Infinity` where this process is the only writer. */
  maxAgeMs: number
  clock: Clock
}

export type ReadCache<K extends string, V extends object> = {
  /** The remembered value at once, or a promise of what `load` finds. An absence is never remembered. */
  get(key: K, load: (key: K) => Promise<V | null>): V | Promise<V | null>
  forget(key: K): void
  clear(): void
}

/**
 * Remembers rows that are read far more often than they change. Whoever changes one says `forget` after
 * the commit; a read that was under way meanwhile is answered but not remembered, so nothing stale stays.
 */
export function createReadCache<K extends string, V extends object>({
  max,
  maxAgeMs,
  clock,
}: Options): ReadCache<K, V> {
  const kept = new LRUCache<K, { value: V; readAt: number }>({ max })
  let generation = 0

  const fill = async (key: K, load: (key: K) => Promise<V | null>): Promise<V | null> => {
    const before = generation
    const readAt = clock.monotonic()
    const value = await load(key)
    if (value && before === generation) kept.set(key, { value, readAt })
    return value
  }

  return {
    get(key, load) {
      const hit = kept.get(key)
      return hit && clock.monotonic() - hit.readAt < maxAgeMs ? hit.value : fill(key, load)
    },
    forget(key) {
      generation++
      kept.delete(key)
    },
    clear() {
      generation++
      kept.clear()
    },
  }
}

/** On Postgres another node may write, and a change must be seen everywhere within a second (I26). */
export const freshFor = (dialect: 'sqlite' | 'postgres'): number => (dialect === 'postgres' ? 1_000 : Infinity)
