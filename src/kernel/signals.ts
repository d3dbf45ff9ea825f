const SIGNALS = ['SIGINT', 'SIGTERM'] as const

export type Signal = (typeof SIGNALS)[number]

/** The one home of the process's signals: aborts with the first SIGINT or SIGTERM. `then` is told of each one. */
export function untilSignal(then: (signal: Signal) => void = () => undefined): AbortSignal {
  const stop = new AbortController()
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      stop.abort()
      then(signal)
    })
  }
  return stop.signal
}
