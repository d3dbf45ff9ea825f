/** A value compiled for an owner. It can be compiled again, so it may be evicted at any time. */
type Item = { key: string; value: unknown; owner: string; weight: number }

/** The owner a value was compiled for, and the estimated bytes it keeps in memory. */
export type Load = { owner: string; weight: number }

/**
 * Caches values compiled for tenants, bounded by bytes. When the cache is full, the owner with the most bytes loses
 * their least recently used item, so that one owner cannot evict the others by compiling a lot.
 */
export function createFairCache(maxBytes: number) {
  const items = new Map<string, Item>()
  /** The items of each owner, least recently used first. */
  const owners = new Map<string, { weight: number; items: Set<Item> }>()
  let total = 0

  return {
    get(key: string): unknown {
      const item = items.get(key)
      if (item) {
        const own = owners.get(item.owner)!.items
        own.delete(item)
        own.add(item)
      }
      return item?.value
    },
    put(key: string, value: unknown, load: Load): void {
      drop(key)
      add({ key, value, ...load })
      while (total > maxBytes) drop(heaviest().items.values().next().value!.key)
    },
    drop,
    /** Total weight, in estimated bytes. */
    weight: (): number => total,
  }

  function add(item: Item): void {
    const own = owners.get(item.owner) ?? { weight: 0, items: new Set() }
    owners.set(item.owner, own)
    own.weight += item.weight
    total += item.weight
    own.items.add(item)
    items.set(item.key, item)
  }

  function drop(key: string): void {
    const item = items.get(key)
    if (!item) return
    items.delete(key)
    const own = owners.get(item.owner)!
    own.items.delete(item)
    own.weight -= item.weight
    total -= item.weight
    if (!own.items.size) owners.delete(item.owner)
  }

  function heaviest(): { items: Set<Item> } {
    let found: { weight: number; items: Set<Item> } | undefined
    for (const own of owners.values()) if (!found || own.weight > found.weight) found = own
    return found!
  }
}

const MEGABYTE = 1024 * 1024
/** Shared by all modules. Each process has its own. */
const all = createFairCache(48 * MEGABYTE)

/** Estimated bytes of everything kept in this process. */
export const compiledWeight = (): number => all.weight()

/** A view of the shared cache for one kind of value. Keys of different kinds never collide. */
export const compiledOf = <Value extends object>(kind: string) => ({
  get: (key: string) => all.get(`${kind} ${key}`) as Value | undefined,
  put: (key: string, value: Value, load: Load) => all.put(`${kind} ${key}`, value, load),
  drop: (key: string) => all.drop(`${kind} ${key}`),
})
