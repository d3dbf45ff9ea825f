import { LRUCache } from 'lru-cache'

type Lru<K extends {}, V extends {}> = Pick<LRUCache<K, V>, 'get' | 'set' | 'has' | 'delete' | 'clear'>

/**
 * The `max` entries used last. The library takes room for all of them at once, a megabyte for some, so this asks for
 * it with the first entry: most caches of most processes stay empty.
 */
export function createLru<K extends {}, V extends {}>(max: number): Lru<K, V> {
  let made: LRUCache<K, V> | null = null
  const room = (): LRUCache<K, V> => {
    made ??= new LRUCache({ max })
    return made
  }
  return {
    get: (key) => made?.get(key),
    set: (key, value) => room().set(key, value),
    has: (key) => made?.has(key) ?? false,
    delete: (key) => made?.delete(key) ?? false,
    clear: () => made?.clear(),
  }
}
