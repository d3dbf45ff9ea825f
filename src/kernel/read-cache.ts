import { LRUCache } from 'lru-cache'
import type { Clock } from './clock'

type Options = {
  max: number
  /** How old a remembered value may be. `Infinity` where this process is the only writer. */
  maxAgeMs: number
  clock: Clock
  /**
   * False where a unit of work may ask. It reads for itself: a read that it would wait for may wait for a lock or a
   * connection that this very unit has, and what a unit reads others must not see yet.
   */
  joins?: boolean
}

export type ReadCache<K extends string, V extends object> = {
  /** The remembered value at once, or a promise of what `load` finds. An absence is never remembered. */
  get(key: K, load: (key: K) => Promise<V | null>): V | Promise<V | null>
  forget(key: K): void
  clear(): void
}

/**
 * Remembers rows that are read far more often than they change. Whoever changes one says `forget` after
 * the commit; a read that was under way meanwhile is answered but not remembered, so nothing stale stays. Who asks
 * for what is being read waits for that read: what is made of a row may be dear, and all at once ask for it.
 */
export function createReadCache<K extends string, V extends object>({
  max,
  maxAgeMs,
  clock,
  joins = true,
}: Options): ReadCache<K, V> {
  const kept = new LRUCache<K, { value: V; readAt: number }>({ max })
  const reads = new Map<K, { readAt: number; found: Promise<V | null> }>()
  const isFresh = ({ readAt }: { readAt: number }): boolean => clock.monotonic() - readAt < maxAgeMs

  function read(key: K, load: (key: K) => Promise<V | null>): Promise<V | null> {
    const readAt = clock.monotonic()
    const under = { readAt, found: load(key) }
    reads.set(key, under)
    const isCurrent = () => reads.get(key) === under && reads.delete(key)
    under.found.then(
      (value) => isCurrent() && value && kept.set(key, { value, readAt }),
      // Whoever asked hears of it.
      isCurrent,
    )
    return under.found
  }

  return {
    get(key, load) {
      const hit = kept.get(key)
      if (hit && isFresh(hit)) return hit.value
      const under = joins ? reads.get(key) : undefined
      return under && isFresh(under) ? under.found : read(key, load)
    },
    forget(key) {
      reads.delete(key)
      kept.delete(key)
    },
    clear() {
      reads.clear()
      kept.clear()
    },
  }
}

/** On Postgres another node may write, and a change must be seen everywhere within a second (I26). */
export const freshFor = (dialect: 'sqlite' | 'postgres'): number => (dialect === 'postgres' ? 1_000 : Infinity)
