import { spentBy } from '../support/spent'

/** The longest turn of the event loop, in ms: by the clock, and without the time another process had the core. */
export type Turns = { longestMs: number; longestOwnMs: number }

/** Counts every turn until asked to stop: no turn is over without it. */
export function watchTurns(): () => Turns {
  const seen: Turns = { longestMs: 0, longestOwnMs: 0 }
  let [at, queued] = [performance.now(), spentBy('thread-self').queuedMs]
  let watching = true
  const turn = () => {
    const [now, queuedNow] = [performance.now(), spentBy('thread-self').queuedMs]
    seen.longestMs = Math.max(seen.longestMs, now - at)
    seen.longestOwnMs = Math.max(seen.longestOwnMs, now - at - (queuedNow - queued))
    at = now
    queued = queuedNow
    if (watching) setImmediate(turn)
  }
  setImmediate(turn)
  return () => {
    watching = false
    return seen
  }
}
