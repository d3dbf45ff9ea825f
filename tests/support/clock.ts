import type { Clock } from '../../src/kernel/clock'

export type FakeClock = Clock & {
  advance(ms: number): void
  /** Whether some sleeper is due within that time. */
  wakesWithin(ms: number): boolean
}

type Sleeper = { due: number; wake(): void }

/** A clock that moves only when told to; sleepers wake in order as it passes them. */
export function fakeClock(start = '2026-01-01T00:00:00.000Z'): FakeClock {
  const base = Date.parse(start)
  let elapsed = 0
  let sleepers: Sleeper[] = []
  return {
    now: () => base + elapsed,
    monotonic: () => elapsed,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const sleeper = { due: elapsed + ms, wake: resolve }
        sleepers.push(sleeper)
        const leave = () => {
          sleepers = sleepers.filter((other) => other !== sleeper)
          resolve()
        }
        signal?.addEventListener('abort', leave, { once: true })
      }),
    after(ms, call) {
      const sleeper = { due: elapsed + ms, wake: call }
      sleepers.push(sleeper)
      return () => {
        sleepers = sleepers.filter((other) => other !== sleeper)
      }
    },
    wakesWithin: (ms) => sleepers.some(({ due }) => due <= elapsed + ms),
    advance(ms) {
      elapsed += ms
      const due = sleepers.filter((sleeper) => sleeper.due <= elapsed).sort((a, b) => a.due - b.due)
      sleepers = sleepers.filter((sleeper) => sleeper.due > elapsed)
      for (const sleeper of due) sleeper.wake()
    },
  }
}
