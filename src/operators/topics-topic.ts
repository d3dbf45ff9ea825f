import type { Clock } from '../kernel/clock'

/** The state of one dashboard screen: rows with ids, and facts. */
type TopicState = { facts: Record<string, unknown>; rows: readonly Row[] }
type Row = { id: string } & Record<string, unknown>
/** `max` limits the rows of a list that is longer than the screen shows. */
export type ReadTopic = (max?: number) => Promise<TopicState>

/** Reads at most once in this time, for any number of callers. Does not cache a failed read. */
export function cachedRead<T>(clock: Clock, everyMs: number, read: () => Promise<T>): () => Promise<T> {
  let stored: { at: number; value: Promise<T> } | null = null
  return () => {
    const now = clock.monotonic()
    if (stored && now - stored.at < everyMs) return stored.value
    const value = read()
    const mine = { at: now, value }
    stored = mine
    value.catch(() => {
      if (stored === mine) stored = null
    })
    return value
  }
}
