import { isMainThread } from 'node:worker_threads'

/** One thing that was compiled for somebody, and may be compiled again. */
type Item = { key: string; value: unknown; owner: string; weight: number }

/** Who it was compiled for, and what it keeps in memory, in bytes. */
export type Load = { owner: string; weight: number }

export type Shelf = ReturnType<typeof createShelf>

/**
 * What was compiled for tenants, bounded by what it weighs. Where there is no room, whoever has the most on it loses
 * what they used longest ago: nobody can push off what others have by compiling a lot.
 */
export function createShelf(mostBytes: number) {
  const items = new Map<string, Item>()
  /** Of each owner, what was used longest ago first. */
  const owners = new Map<string, { weight: number; items: Set<Item> }>()
  let total = 0

  return {
    get(key: string): unknown {
      const item = items.get(key)
      if (item) used(item)
      return item?.value
    },
    put(key: string, value: unknown, load: Load): void {
      drop(key)
      add({ key, value, ...load })
      while (total > mostBytes) drop(oldestOf(heaviest()).key)
    },
    drop,
    /** In bytes, as it was estimated. */
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

  function used(item: Item): void {
    const own = owners.get(item.owner)!.items
    own.delete(item)
    own.add(item)
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

const oldestOf = ({ items }: { items: Set<Item> }): Item => items.values().next().value!

const MEGABYTE = 1024 * 1024
/** The one for all rooms. Threads beside the event loop have one each. */
const all = createShelf((isMainThread ? 48 : 16) * MEGABYTE)

/** In bytes, as it was estimated: all that is kept of what was compiled. */
export const compiledWeight = (): number => all.weight()

/** The part of one kind of thing; its keys are its own. */
export const compiledOf = <Value extends object>(kind: string) => ({
  get: (key: string) => all.get(`${kind} ${key}`) as Value | undefined,
  put: (key: string, value: Value, load: Load) => all.put(`${kind} ${key}`, value, load),
  drop: (key: string) => all.drop(`${kind} ${key}`),
})
