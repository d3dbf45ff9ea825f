import type { FakeClock } from './clock'

const NAP_MS = 5_000

/**
 * Awaits work on a fake clock, and advances the clock for short sleeps (a retry's pause, the delay before a stream
 * opens). Deadlines do not pass, however long the work takes.
 */
export async function impatiently<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let over = false
  const ended = work.finally(() => {
    over = true
  })
  while (!over) {
    if (clock.wakesWithin(NAP_MS)) clock.advance(100)
    await Bun.sleep(1)
  }
  return ended
}
