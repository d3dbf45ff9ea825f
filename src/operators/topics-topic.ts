import type { Clock } from '../kernel/clock'

/** What one screen of the dashboard is about: rows that have ids, and facts beside them. */
type TopicState = { facts: Record<string, unknown>; rows: readonly Row[] }
type Row = { id: string } & Record<string, unknown>
/** `most` rows, where a list may be longer than is shown of it. */
export type ReadTopic = (max?: number) => Promise<TopicState>

/** Reads at most once in this time, however many ask; a read that failed is not kept. */
export function seldom<T>(clock: Clock, everyMs: number, read: () => Promise<T>): () => Promise<T> {
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
