import type { Clock } from './clock'

/** Shorter than the second between two looks of a stream, so that each finds what is new since its last. */
const SHARED_MS = 900

/**
 * Reads of streams that look every second: those of the same name share one, and when it was made. A name must say
 * whatever the answer depends on, such as the caller.
 */
export function createSharedReads(clock: Clock) {
  // In the order in which they were made, so that only those that are over are looked at.
  const reads = new Map<string, { at: number; found: Promise<unknown> }>()
  return async <T>(name: string, read: () => Promise<T>): Promise<{ at: number; found: T }> => {
    const now = clock.now()
    for (const [old, { at }] of reads) {
      if (Math.abs(now - at) < SHARED_MS) break
      reads.delete(old)
    }
    const shared = reads.get(name) ?? { at: now, found: read() }
    reads.set(name, shared)
    return { at: shared.at, found: (await shared.found) as T }
  }
}
