import { isMainThread } from 'node:worker_threads'

/** What a compiled pattern caches to be fast, and can do without, such as states of its automaton. */
export type PatternCache = {
  /** In bytes, at the moment. */
  weight(): number
  forget(): void
}

/** What the bookkeeping for one cache takes. */
const ENTRY_BYTES = 256

/**
 * Bounds what all patterns cache together: the least recently used ones drop theirs first. Patterns are only weakly
 * referenced, so they can be collected all the same.
 */
export function createPatternCaches(mostBytes: number) {
  const known = new Map<object, { of: WeakRef<PatternCache>; weight: number }>()
  let total = 0

  return {
    /** To be called after each use. `key` must not outlive the pattern. */
    used(key: object, cache: PatternCache): void {
      const before = known.get(key)
      const weight = ENTRY_BYTES + cache.weight()
      total += weight - (before?.weight ?? 0)
      known.delete(key)
      known.set(key, before ? Object.assign(before, { weight }) : { of: new WeakRef(cache), weight })
      if (total > mostBytes) makeRoom()
    },
    weight: (): number => total,
  }

  function makeRoom(): void {
    for (const [key, { of, weight }] of known) {
      if (total <= mostBytes) return
      of.deref()?.forget()
      known.delete(key)
      total -= weight
    }
  }
}

/** For all patterns of this thread. */
export const patternCaches = createPatternCaches((isMainThread ? 24 : 16) * 1024 * 1024)
