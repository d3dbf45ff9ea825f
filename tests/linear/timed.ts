import { spentBy } from '../support/spent'

/** Milliseconds of one call, without those in which this thread waited while others had the core. */
export function timed(call: () => unknown): number {
  const [start, queued] = [performance.now(), spentBy('thread-self').queuedMs]
  call()
  return performance.now() - start - (spentBy('thread-self').queuedMs - queued)
}
