import type { Clock } from '../kernel/clock'
import { createLru } from '../kernel/read-cache'

const MAX = 20_000

export type LastSeenBuffer<Id extends string> = {
  /** Records that `id` is used now. True at most once per `everyMs`: only then is the use queued to be written. */
  note(id: Id): boolean
  /** Returns the uses queued since the last call, as ids and times (epoch ms), for a loop to write. */
  take(): [Id, number][]
}

/** Collects "last used" times in memory, bounded, so that requests need not write them. */
export function createLastSeenBuffer<Id extends string>(options: {
  everyMs?: number
  clock: Clock
}): LastSeenBuffer<Id> {
  const { everyMs = 60_000, clock } = options
  const noted = createLru<Id, number>(MAX)
  let pending = new Map<Id, number>()
  return {
    note(id) {
      const now = clock.now()
      const last = noted.get(id)
      if (last !== undefined && now - last < everyMs) return false
      noted.set(id, now)
      if (pending.size < MAX) pending.set(id, now)
      return true
    },
    take() {
      const taken = [...pending]
      pending = new Map()
      return taken
    },
  }
}
