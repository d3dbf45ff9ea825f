import type { Clock } from '../kernel/clock'
import type { Deadline } from './run'

/** Aborts when `signal` does or after `ms`; `end` lets go of the timer. */
export function startDeadline(clock: Clock, signal: AbortSignal, ms: number): Deadline {
  const ours = new AbortController()
  const timer = new AbortController()
  let timedOut = false
  const leave = () => ours.abort(signal.reason)
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  void clock.sleep(ms, timer.signal).then(() => {
    if (timer.signal.aborted || ours.signal.aborted) return
    timedOut = true
    ours.abort()
  })
  return {
    signal: ours.signal,
    timedOut: () => timedOut,
    end: () => {
      signal.removeEventListener('abort', leave)
      timer.abort()
    },
  }
}
