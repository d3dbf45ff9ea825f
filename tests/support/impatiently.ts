import type { FakeClock } from './clock'

const NAP_MS = 5_000

/**
 * Waits for work on a clock that only the test moves, and wakes whoever takes a short nap meanwhile: the
 * pause before a retry, the moment before a stream opens. However long the work takes, deadlines do not pass.
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
