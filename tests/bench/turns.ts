import { spentBy } from '../support/spent'

/** The longest turn of the event loop, in ms: by the clock, and what of a turn the thread was on the processor. */
export type Turns = { longestMs: number; longestRanMs: number }

/** Looks at every turn until asked to stop: no turn is over without it. */
export function watchTurns(): () => Turns {
  const seen: Turns = { longestMs: 0, longestRanMs: 0 }
  let [at, ran] = [performance.now(), spentBy('thread-self').ranMs]
  let watching = true
  const turn = () => {
    const [now, ranNow] = [performance.now(), spentBy('thread-self').ranMs]
    seen.longestMs = Math.max(seen.longestMs, now - at)
    seen.longestRanMs = Math.max(seen.longestRanMs, ranNow - ran)
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
