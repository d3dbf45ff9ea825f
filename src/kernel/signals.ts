import { systemClock } from './clock'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

export type Signal = (typeof SIGNALS)[number]

/** `stop` aborts with the first SIGINT or SIGTERM, `hurry` with the second. */
export type Signals = { stop: AbortSignal; hurry: AbortSignal }

/** One press of Ctrl-C may arrive twice: from the terminal, and from a parent such as npm that forwards it. */
const SAME_PRESS_MS = 300

/** The only place that handles the process's signals. Calls `then` for each one. */
export function untilSignal(then: (signal: Signal) => void = () => undefined): Signals {
  const [stop, hurry] = [new AbortController(), new AbortController()]
  let firstAt = 0
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      const now = systemClock.monotonic()
      if (!stop.signal.aborted) firstAt = now
      else if (now - firstAt > SAME_PRESS_MS) hurry.abort()
      stop.abort()
      then(signal)
    })
  }
  return { stop: stop.signal, hurry: hurry.signal }
}
