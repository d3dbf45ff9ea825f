import { spentBy } from '../support/spent'

/** How long turns of the event loop were, in ms: by the clock, and what of it the thread was on the processor. */
export type Turns = { byClock: number[]; ran: number[] }

/** Looks at every turn until asked to stop, and answers those of a millisecond and more, shortest first. */
export function watchTurns(): () => Turns {
  const seen: Turns = { byClock: [], ran: [] }
  let [at, ran] = [performance.now(), spentBy('thread-self').ranMs]
  let watching = true
  const turn = () => {
    const [now, ranNow] = [performance.now(), spentBy('thread-self').ranMs]
    if (now - at >= 1) seen.byClock.push(now - at)
    if (ranNow - ran >= 1) seen.ran.push(ranNow - ran)
    at = now
    ran = ranNow
    if (watching) setImmediate(turn)
  }
  setImmediate(turn)
  return () => {
    watching = false
    return { byClock: seen.byClock.sort((a, b) => a - b), ran: seen.ran.sort((a, b) => a - b) }
  }
}

/** The nearest-rank percentile of what is in order, as text; 1 is the largest. */
export const rankOf = (sorted: readonly number[], share: number): string =>
  (sorted[Math.ceil(share * sorted.length) - 1] ?? 0).toFixed(0)
