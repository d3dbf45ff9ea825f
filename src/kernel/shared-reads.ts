import type { Clock } from './clock'

/** Shorter than the second between two looks of a stream, so that each finds what is new since its last. */
export const SHARED_MS = 900
/** The longest that a reader may accept. */
export const MAX_SHARED_MS = 10_000
const MAX_READS = 128

/**
 * Reads of the same name share one that is at most `maxAgeMs` old, and when it was made. A name must say whatever the
 * answer depends on, such as the owner whose rows it shows. Check the rights of each reader before.
 */
export function createSharedReads(clock: Clock) {
  // In the order in which they were made, so that only those that are over are looked at.
  const reads = new Map<string, { at: number; found: Promise<unknown> }>()
  return async <T>(name: string, read: () => Promise<T>, maxAgeMs = SHARED_MS): Promise<{ at: number; found: T }> => {
    const now = clock.now()
    for (const [old, { at }] of reads) {
      if (reads.size <= MAX_READS && Math.abs(now - at) < MAX_SHARED_MS) break
      reads.delete(old)
    }
    const last = reads.get(name)
    if (last && Math.abs(now - last.at) < maxAgeMs) return { at: last.at, found: (await last.found) as T }
    const made = { at: now, found: read() }
    reads.delete(name)
    reads.set(name, made)
    // Readers who wait share a failure. Later ones try again.
    made.found.catch(() => reads.get(name) === made && reads.delete(name))
    return { at: now, found: await made.found }
  }
}
