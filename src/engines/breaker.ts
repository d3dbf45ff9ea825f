import type { Clock } from '../kernel/clock'

export const FAILURES_TO_OPEN = 5
export const WINDOW_MS = 60_000
export const OPEN_MS = 30_000

export type BreakerState = 'closed' | 'open' | 'half-open'

export type Breaker = ReturnType<typeof createBreaker>

/**
 * Stops asking an upstream that keeps failing: 5 failures in 60 s open it for 30 s, then one call at a
 * time probes it; the first success closes it (contract 22.3). Monotonic time, so a clock jump changes nothing.
 */
export function createBreaker(clock: Pick<Clock, 'monotonic'>) {
  let failures: number[] = []
  let openedAt: number | null = null
  let probing = false

  const state = (): BreakerState => {
    if (openedAt === null) return 'closed'
    return clock.monotonic() - openedAt < OPEN_MS ? 'open' : 'half-open'
  }

  const open = () => {
    openedAt = clock.monotonic()
    probing = false
    failures = []
  }

  return {
    state,
    open,

    /** Milliseconds until the next call may be made; 0 unless it is open. */
    leftMs: (): number => (openedAt === null ? 0 : Math.max(0, openedAt + OPEN_MS - clock.monotonic())),

    /** Whether one call may be made; after `true`, call `succeeded`, `failed` or `abandoned` exactly once. */
    admits(): boolean {
      const now = state()
      if (now === 'closed') return true
      if (now === 'open' || probing) return false
      probing = true
      return true
    },

    succeeded(): void {
      openedAt = null
      probing = false
      if (failures.length > 0) failures = []
    },

    failed(): void {
      if (openedAt !== null) {
        open()
        return
      }
      const now = clock.monotonic()
      failures = [...failures.filter((at) => now - at < WINDOW_MS), now]
      if (failures.length >= FAILURES_TO_OPEN) open()
    },

    /** The call says nothing about the upstream's health: the caller left, or the request was refused or throttled. */
    abandoned(): void {
      probing = false
    },
  }
}
