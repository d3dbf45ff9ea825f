import type { Clock } from '../kernel/clock'

/** Aborts when the client leaves or the time is up; `timedOut` tells which. */
export type Deadline = { readonly signal: AbortSignal; timedOut(): boolean; end(): void }

/** Aborts after `ms`, or with the reason of the first signal that aborts. `end` removes the timer and listeners. */
export function startDeadline(clock: Clock, signals: readonly AbortSignal[], ms: number): Deadline {
  const ours = new AbortController()
  let timedOut = false
  const leave = () => ours.abort(signals.find(({ aborted }) => aborted)?.reason)
  if (signals.some(({ aborted }) => aborted)) leave()
  else for (const signal of signals) signal.addEventListener('abort', leave, { once: true })
  const cancel = clock.after(ms, () => {
    if (ours.signal.aborted) return
    timedOut = true
    ours.abort(new DOMException('The request took too long.', 'TimeoutError'))
  })
  return {
    signal: ours.signal,
    timedOut: () => timedOut,
    end: () => {
      for (const signal of signals) signal.removeEventListener('abort', leave)
      cancel()
    },
  }
}
