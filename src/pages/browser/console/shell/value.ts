import { useSyncExternalStore } from 'react'

export type Value<T> = { get(): T; set(next: T): void; use(): T }

/** One value that parts of the page share; what shows it is drawn again when it changes. */
export function createValue<T>(first: T): Value<T> {
  let value = first
  const listeners = new Set<() => void>()
  const listen = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const get = () => value
  return {
    get,
    set(next) {
      if (next === value) return
      value = next
      for (const listener of listeners) listener()
    },
    use: () => useSyncExternalStore(listen, get),
  }
}

/** A request that one screen hands to the next, which is never in an address: what was typed is nobody else's. */
export const handed = createValue<Record<string, unknown> | null>(null)
