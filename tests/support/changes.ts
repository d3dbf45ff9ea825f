import type { Clock } from '../../src/kernel/clock'
import type { Changes } from '../../src/kernel/store'

/** What a process knows that hears nothing of the others, unless the test tells it: all it read holds for `ms`. */
export function agedChanges(clock: Clock, ms = 1_000): Changes & { tell(table: string): void } {
  const followers: [readonly string[], () => void][] = []
  return {
    follow: (tables, clear) => void followers.push([tables, clear]),
    now: () => clock.monotonic(),
    holds: (readAt) => clock.monotonic() - readAt < ms,
    tell(table) {
      for (const [tables, clear] of followers) if (tables.includes(table)) clear()
    },
  }
}
