import type { Clock } from '../../kernel/clock'
import { EngineFailure } from '../engine'
import { failureOfError } from '../failures'

/** How long one upstream call may take, in milliseconds. */
export type TimeoutLimits = {
  clock: Pick<Clock, 'monotonic' | 'after'>
  /** From its beginning to its end. */
  timeoutMs: number
  /** Without a byte from the upstream; absent, it may be silent as long as it may take. */
  silenceMs?: number | undefined
}

/** The limits of an upstream's settings; absent members take the defaults (contract 28.4). */
export type TimeoutSettings = { timeoutMs?: number | undefined; silenceMs?: number | undefined }

/** What the request itself may take, plain and streamed (contract 1.9). */
export const PLAIN_TIMEOUT_MS = 120_000
export const STREAM_TIMEOUT_MS = 600_000

export type UpstreamTimeout = {
  /** For the upstream call: aborts with the caller, and when the upstream is too slow or silent for too long. */
  signal: AbortSignal
  /** Restarts the silence timer: bytes arrived, or a read begins. */
  heard(): void
  /** Suspends the silence timer until the next `heard`: a slow reader is not the upstream's silence. */
  rest(): void
  /** Translates an exception of the call; when the caller has left, returns the caller's own reason. */
  explain(error: unknown): unknown
  /** The whole answer has arrived, so `release` has nothing to abort. */
  finished(): void
  /** Stops the timers, and aborts the call unless it has finished. */
  release(): void
}

/** Bounds one upstream call: it is aborted when its caller leaves, or when it goes beyond its limits. */
export function startTimeout(
  caller: AbortSignal,
  { clock, timeoutMs, silenceMs = timeoutMs }: TimeoutLimits,
): UpstreamTimeout {
  const ending = new AbortController()
  const mindsSilence = silenceMs < timeoutMs
  let beyond: string | null = null
  let resting = false
  let whole = false
  let heardAt = clock.monotonic()
  let unwatch: (() => void) | null = null
  const left = () => ending.abort(caller.reason)
  const giveUp = (why: string) => {
    beyond = why
    ending.abort()
  }
  if (caller.aborted) left()
  else caller.addEventListener('abort', left, { once: true })
  const disarm = clock.after(timeoutMs, () => giveUp(`the upstream did not finish within ${timeoutMs / 1_000} s`))

  // Looks when the limit may have passed, because a timer that every byte restarts costs more.
  const watch = (ms: number): void => {
    unwatch = clock.after(ms, () => {
      unwatch = null
      if (resting) return
      const more = Math.ceil(heardAt + silenceMs - clock.monotonic())
      if (more > 0) watch(more)
      else giveUp(`the upstream was silent for ${silenceMs / 1_000} s`)
    })
  }
  if (mindsSilence) watch(silenceMs)

  return {
    signal: ending.signal,
    heard() {
      resting = false
      if (!mindsSilence) return
      heardAt = clock.monotonic()
      if (!unwatch && !ending.signal.aborted) watch(silenceMs)
    },
    rest() {
      resting = true
    },
    explain(error) {
      if (caller.aborted) return caller.reason
      return beyond === null ? failureOfError(error) : new EngineFailure('timeout', beyond)
    },
    finished() {
      whole = true
    },
    release() {
      disarm()
      unwatch?.()
      caller.removeEventListener('abort', left)
      // A finished call is not aborted, because notifying the listeners costs more than everything else here.
      if (!whole) ending.abort()
    },
  }
}
