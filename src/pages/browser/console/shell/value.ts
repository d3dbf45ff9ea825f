import { useEffect, useState, useSyncExternalStore } from 'react'

export type Value<T> = { get(): T; set(next: T): void; use(): T }

/** A value that parts of the page share. Components that use it render again when it changes. */
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

/** A request that one screen passes to the next. It is never in an address, because typed text is private. */
export const handed = createValue<Record<string, unknown> | null>(null)

/** What the previous screen passed, which the one that shows it first takes. */
export function useHanded(): Record<string, unknown> | null {
  const [given] = useState(handed.get)
  useEffect(() => handed.set(null), [])
  return given
}

const PREFIX = 'svc-'

/** Reads a value that this browser stores under a name. Only preferences and drafts are stored, no secrets. */
export function recall<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name)
    return text === null ? otherwise : (JSON.parse(text) as T)
  } catch {
    return otherwise
  }
}

export function keep(name: string, value: unknown): void {
  try {
    if (value === null || value === '') localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    // Without storage, the value lasts as long as the page is open.
  }
}

/** True if rows of lists are dense, which this browser remembers. */
export const denseRows = createValue(recall('dense', false))
