import { percentile } from '../support/percentile'
import { spentBy } from '../support/spent'

/** How long turns of the event loop were, in ms: by the clock, and what of it the thread was on the processor. */
export type Turns = { byClock: number[]; ran: number[] }

/** Looks at every turn until asked to stop, and answers those of a millisecond and more. */
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
    return seen
  }
}

/** The nearest-rank percentile, as text; 1 is the largest. */
export const rankOf = (values: readonly number[], share: number): string => percentile(values, share).toFixed(0)
