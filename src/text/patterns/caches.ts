/** What a compiled pattern caches for speed and may drop at any time, such as the states of its automaton. */
export type PatternCache = {
  /** Its current size in bytes. */
  weight(): number
  forget(): void
}

/** Estimated size of the bookkeeping for one cache. */
const ENTRY_BYTES = 256

/**
 * Bounds the memory of all pattern caches together: the least recently used patterns drop theirs first. Caches are
 * referenced weakly, so that patterns can still be garbage collected.
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

/** Bounds the caches of all patterns in this process. */
export const patternCaches = createPatternCaches(24 * 1024 * 1024)
