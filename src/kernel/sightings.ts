import { LRUCache } from 'lru-cache'
import type { Clock } from './clock'

const MOST = 20_000

export type Sightings<Id extends string> = {
  /** Says that `id` was in use just now; true when that is news, at most once per `everyMs`. */
  note(id: Id): boolean
  /** What was noted since the last call, with the time, for a loop to write down. */
  take(): [Id, number][]
}

/** Collects "last used" times in memory, so that the hot path never writes them. Bounded. */
export function createSightings<Id extends string>(options: { everyMs?: number; clock: Clock }): Sightings<Id> {
  const { everyMs = 60_000, clock } = options
  const noted = new LRUCache<Id, number>({ max: MOST })
  let pending = new Map<Id, number>()
  return {
    note(id) {
      const now = clock.now()
      const last = noted.get(id)
      if (last !== undefined && now - last < everyMs) return false
      noted.set(id, now)
      if (pending.size < MOST) pending.set(id, now)
      return true
    },
    take() {
      const taken = [...pending]
      pending = new Map()
      return taken
    },
  }
}
