import { EngineFailure } from '../engine'
import { failureOfError } from '../failures'

export type Leash = {
  /** For the upstream call: aborts with the caller, and when the upstream is silent for too long. */
  signal: AbortSignal
  /** Something came, or is asked for only now; the silence starts anew. */
  heard(): void
  /** Nothing is asked of the upstream until the next `heard`: a slow reader of ours is not its silence. */
  rest(): void
  /** What an exception of the call means; the caller's own leaving is handed back as it was. */
  explain(error: unknown): unknown
  /** The answer is here, whole: there is no call left to end. */
  finished(): void
  /** Ends the call if it still runs, and the watching. */
  release(): void
}

/** Holds one upstream call: no call outlives its caller, and none waits for ever. */
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
      // Aborting tells everyone who listens, which costs more than the rest of the watching.
      if (!whole) ending.abort()
    },
  }
}
