/** The source of time. Passed as an argument everywhere, so that tests can control it. */
export type Clock = {
  /** Wall time in epoch milliseconds. */
  now(): number
  /** Milliseconds that never jump, for windows, leases and durations (docs/promises.md I40). */
  monotonic(): number
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls once after `ms`, unless the returned function is called first. */
  after(ms: number, call: () => void): () => void
}

export const systemClock: Clock = {
  after: (ms, call) => {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done)
    }),
}

/** A clock whose wall time can be corrected to that of a database shared by several processes. */
export type CorrectedClock = Clock & { correct(byMs: number): void }

export function correctedClock(own: Clock): CorrectedClock {
  let correction = 0
  return {
    ...own,
    now: () => own.now() + correction,
    correct: (byMs) => {
      correction = byMs
    },
  }
}

let latest = { ms: Number.NaN, text: '' }

/** Epoch milliseconds as ISO 8601 in UTC, the form of every time on the wire. */
export function iso(ms: number): string {
  // Cached for the last moment, because a request writes the same one into its log, its record and its answer.
  if (ms !== latest.ms) latest = { ms, text: new Date(ms).toISOString() }
  return latest.text
}

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms))

const DAY_MS = 86_400_000
let latestDay = { since: Number.NaN, text: '' }

/** The UTC day of a moment, `YYYY-MM-DD`: the bucket of caps and reports (docs/api.md 1.9). */
export function utcDay(ms: number): string {
  // Epoch time has no leap seconds, so each UTC day begins at a multiple of its length.
  const since = Math.floor(ms / DAY_MS) * DAY_MS
  if (since !== latestDay.since) latestDay = { since, text: new Date(ms).toISOString().slice(0, 10) }
  return latestDay.text
}

const ONCE = { once: true }

/**
 * Aborts `ms` after it was made, or with the reason of the first signal that aborts. Call `end` to remove the timer and
 * the listeners; it then calls `atEnd`.
 */
export class Deadline {
  /** Null until somebody reads `signal`. */
  private ending: AbortController | null = null
  /** True if the time was up, false if a signal aborted or nothing did. */
  isLate = false
  private readonly endsAt: number
  private cancel: (() => void) | null = null

  constructor(
    private readonly clock: Pick<Clock, 'after' | 'monotonic'>,
    private readonly signals: readonly AbortSignal[],
    ms: number,
    private readonly atEnd?: () => void,
  ) {
    this.endsAt = clock.monotonic() + ms
  }

  /** The first read starts the timer and the listeners. A cached answer needs neither. */
  get signal(): AbortSignal {
    if (this.ending) return this.ending.signal
    const ending = new AbortController()
    const { signal } = ending
    this.ending = ending
    for (const given of this.signals) {
      if (given.aborted) this.handleEvent()
      else given.addEventListener('abort', this, ONCE)
    }
    this.cancel = this.clock.after(this.endsAt - this.clock.monotonic(), () => {
      if (signal.aborted) return
      this.isLate = true
      ending.abort(new DOMException('The request took too long.', 'TimeoutError'))
    })
    return signal
  }

  /** Called when a signal aborts. */
  handleEvent(): void {
    this.ending?.abort(this.signals.find(({ aborted }) => aborted)?.reason)
  }

  end(): void {
    if (this.ending) for (const signal of this.signals) signal.removeEventListener('abort', this)
    this.cancel?.()
    this.atEnd?.()
  }
}
