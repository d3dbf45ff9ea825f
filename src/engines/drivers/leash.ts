import { EngineFailure } from '../engine'
import { failureOfError } from '../failures'

export type Leash = {
  /** For the upstream call: aborts with the caller, and when the upstream is silent for too long. */
  signal: AbortSignal
  /** Restarts the silence timer: bytes arrived, or a read begins. */
  heard(): void
  /** Suspends the silence timer until the next `heard`: a slow reader is not the upstream's silence. */
  rest(): void
  /** Translates an exception of the call; when the caller has left, returns the caller's own reason. */
  explain(error: unknown): unknown
  /** The whole answer has arrived, so `release` has nothing to abort. */
  finished(): void
  /** Stops the timer, and aborts the call unless it has finished. */
  release(): void
}

/** Bounds one upstream call: it is aborted when its caller leaves or the upstream is silent for `silenceMs`. */
export function holdLeash(caller: AbortSignal, silenceMs: number): Leash {
  const ending = new AbortController()
  let silent = false
  let resting = false
  let whole = false
  const left = () => ending.abort(caller.reason)
  if (caller.aborted) left()
  else caller.addEventListener('abort', left, { once: true })
  const timer = setTimeout(() => {
    if (resting) return
    silent = true
    ending.abort()
  }, silenceMs)

  return {
    signal: ending.signal,
    heard() {
      resting = false
      timer.refresh()
    },
    rest() {
      resting = true
    },
    explain(error) {
      if (caller.aborted) return caller.reason
      if (silent) return new EngineFailure('timeout', `the upstream was silent for ${silenceMs / 1_000} s`)
      return failureOfError(error)
    },
    finished() {
      whole = true
    },
    release() {
      clearTimeout(timer)
      caller.removeEventListener('abort', left)
      // A finished call is not aborted, because notifying the listeners costs more than the rest of the leash.
      if (!whole) ending.abort()
    },
  }
}
