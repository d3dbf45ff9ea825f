import { LRUCache } from 'lru-cache'
import type { Changes, TrackedTable } from './store'

type Lru<K extends {}, V extends {}> = Pick<LRUCache<K, V>, 'get' | 'set' | 'has' | 'delete' | 'clear'>

type Options = {
  max: number
  changes: Changes
  /** The tables that `load` reads. A change of them by another process drops all entries. */
  tables: readonly TrackedTable[]
  /**
   * True if concurrent reads of a key share one `load`. Set to false if a unit of work may call `get`: a shared read
   * could wait for a lock or connection that this unit holds. Such a unit must not have changed the rows it reads.
   */
  joins?: boolean
}

export type ReadCache<K extends string, V extends object> = {
  /** The cached value at once, or a promise of the result of `load`. Null is never cached. */
  get(key: K, load: (key: K) => Promise<V | null>): V | Promise<V | null>
  /** The cached value, if there is one. */
  known(key: K): V | undefined
  forget(key: K): void
  clear(): void
}

/**
 * Caches rows that are read far more often than they change. Call `forget` after the commit of a change: a read in
 * progress is then answered but not cached, so no stale value stays. Concurrent reads of a key share one `load`,
 * because preparing a value may be expensive and many requests need it at once.
 */
export function createReadCache<K extends string, V extends object>({
  max,
  changes,
  tables,
  joins = true,
}: Options): ReadCache<K, V> {
  const stored = createLru<K, { value: V; readAt: number }>(max)
  const reads = new Map<K, { readAt: number; found: Promise<V | null> }>()

  function read(key: K, load: (key: K) => Promise<V | null>): Promise<V | null> {
    const readAt = changes.now()
    const under = { readAt, found: load(key) }
    reads.set(key, under)
    const isCurrent = () => reads.get(key) === under && reads.delete(key)
    under.found.then(
      (value) => isCurrent() && value && stored.set(key, { value, readAt }),
      // Only removes a failed read here. The caller of `get` receives the rejection.
      isCurrent,
    )
    return under.found
  }

  function clear(): void {
    reads.clear()
    stored.clear()
  }

  function known(key: K): V | undefined {
    const hit = stored.get(key)
    return hit && changes.holds(hit.readAt) ? hit.value : undefined
  }

  changes.follow(tables, clear)
  return {
    clear,
    known,
    get(key, load) {
      const value = known(key)
      if (value !== undefined) return value
      const under = joins ? reads.get(key) : undefined
      return under && changes.holds(under.readAt) ? under.found : read(key, load)
    },
    forget(key) {
      reads.delete(key)
      stored.delete(key)
    },
  }
}

/**
 * The `max` most recently used entries. The library allocates room for all of them at once, a megabyte for some. So
 * this creates it with the first entry, because most caches of most processes stay empty.
 */
export function createLru<K extends {}, V extends {}>(max: number): Lru<K, V> {
  let made: LRUCache<K, V> | null = null
  return {
    get: (key) => made?.get(key),
    set: (key, value) => {
      made ??= new LRUCache({ max })
      return made.set(key, value)
    },
    has: (key) => made?.has(key) ?? false,
    delete: (key) => made?.delete(key) ?? false,
    clear: () => made?.clear(),
  }
}
