import type { Clock } from '../kernel/clock'
import type { AppError } from '../kernel/errors'
import type { Log } from '../kernel/log'
import type { Origin } from './answering'
import { EngineFailure, type FailureKind } from './engine'
import { engineRejected, engineUnavailable } from './errors'
import type { Permit } from './target-breaker'
import type { Target } from './targets'

/** A target to try, and the engine it answers for; `fallback` when that is not the engine asked. */
export type Candidate = { engineId: string; target: Target; fallback: boolean }

export type Reached<T> = Candidate & { value: T; pass: Permit }

/**
 * One upstream call, for operators. `ms` is up to the first byte of a stream, or to the whole answer; 0 where none was
 * made.
 */
type Attempt = {
  requestId: string | undefined
  mode: string
  target: string
  ms: number
  /** What went wrong, in the upstream's words where it may be known; null when it answered. */
  error: string | null
}

/** What came of a target: `passed over` was not called, because its breaker was open. */
type Outcome = 'answered' | 'passed over' | FailureKind

/** Called after every upstream call with its engine and its outcome, and for each target that was passed over. */
export type Observe = (engineId: string, outcome: Outcome, attempt: Attempt) => void

type Deps = {
  clock: Clock
  log: Log
  observe: Observe
  /** A number in [0, 1): spreads the retries of many callers. */
  jitter(): number
}

type Input<T> = {
  mode: string
  candidates: readonly Candidate[]
  /** On whose behalf; absent for calls that no owner made. */
  origin: Origin | undefined
  /** Our own count of the tokens of the request. */
  countTokens(): number
  signal: AbortSignal
  /** Calls the target, up to the first byte or the whole answer. */
  begin(target: Target): Promise<T>
}

const MAX_RETRIES = 2
const RETRY_FLOOR_MS = 250
const RETRY_CEILING_MS = 2_000
/** Longest `Retry-After` that is waited for; beyond it the next target is tried (design 5). */
const MAX_THROTTLE_WAIT_S = 5
const RETRY_AFTER_S = 5
/** A request that runs out of time says something about an engine only when it waited this long for that engine. */
const SLOW_MS = 60_000
const MAX_RETRY_AFTER_S = 60
/** Characters of an upstream's words that are remembered. */
const MAX_WORDS = 500

/**
 * Tries the targets until one answers; nothing is sent again after a first byte of a body. Refused connections and server errors
 * are retried, twice in all; a throttled target is waited for once; then the next target is tried. Throws 400
 * `validation_error` when an upstream refuses the request itself, 503 `engine_unavailable` when none answered, and the
 * caller's own reason when the caller left.
 */
export async function reach<T>(input: Input<T>, { clock, log, observe, jitter }: Deps): Promise<Reached<T>> {
  let retries = 0
  let last: EngineFailure | null = null

  for (const candidate of input.candidates) {
    let waited = false
    const enter = () => candidate.target.breaker.enter(input.origin?.owner)
    const tell = (outcome: Outcome, ms: number, error: string | null) =>
      observe(candidate.engineId, outcome, {
        requestId: input.origin?.requestId,
        mode: input.mode,
        target: candidate.target.id,
        ms,
        error,
      })
    const first = enter()
    if (!first) tell('passed over', 0, whyShut(input, candidate))
    for (let permit = first; permit; permit = enter()) {
      const from = clock.monotonic()
      const outcome = await tryOnce(candidate.target, permit, input, clock)
      const failed = outcome instanceof EngineFailure
      const ms = clock.monotonic() - from
      tell(
        failed ? outcome.kind : 'answered',
        ms,
        failed
          ? withoutKeys(
              outcome.rejection && !input.origin?.stealth
                ? `${outcome.message}: ${outcome.rejection.words}`
                : outcome.message,
            ).slice(0, MAX_WORDS)
          : null,
      )
      if (!failed) {
        const { engineId, target, fallback } = candidate
        target.fault.gone()
        target.presence.back()
        return { engineId, target, fallback, pass: permit, value: outcome.value }
      }
      last = outcome
      report(log, input, candidate, outcome)
      if (outcome.kind === 'config') candidate.target.fault.found(outcome.message)
      if (outcome.kind === 'refused') candidate.target.presence.gone(outcome.message)
      if (outcome.begun) throw noneAnswered(input, outcome)
      if (outcome.rejection) throw engineRejected(outcome.rejection.about, input.countTokens(), outcome)

      const pause = pauseBefore(outcome, retries, waited, jitter)
      if (pause === null || candidate.target.breaker.leftMs(input.origin?.owner) > 0) break
      if (outcome.kind === 'throttled') waited = true
      else retries += 1
      await clock.sleep(pause, input.signal)
      input.signal.throwIfAborted()
    }
  }
  throw noneAnswered(input, last)
}

async function tryOnce<T>(
  target: Target,
  permit: Permit,
  { begin, signal }: Input<T>,
  clock: Clock,
): Promise<{ value: T } | EngineFailure> {
  const from = clock.monotonic()
  try {
    return { value: await begin(target) }
  } catch (error) {
    if (!(error instanceof EngineFailure) || signal.aborted) {
      // Whether the request ran out of time, unlike one whose caller left.
      if (signal.aborted && (signal.reason as Error)?.name === 'TimeoutError' && clock.monotonic() - from >= SLOW_MS)
        permit.failed()
      else permit.abandoned()
      throw error
    }
    if (BLAMELESS.has(error.kind)) permit.abandoned()
    else permit.failed()
    return error
  }
}

/** Failures that say nothing about the health of the upstream. */
const BLAMELESS: ReadonlySet<FailureKind> = new Set(['config', 'rejected', 'throttled'])

/** Milliseconds until the same target is tried again; null when it is not. */
function pauseBefore(failure: EngineFailure, retries: number, waited: boolean, jitter: () => number): number | null {
  if (failure.kind === 'throttled') {
    const seconds = failure.retryAfterS
    return !waited && seconds !== undefined && seconds <= MAX_THROTTLE_WAIT_S ? seconds * 1_000 : null
  }
  if (!failure.retryable || retries >= MAX_RETRIES) return null
  if (failure.retryAfterS !== undefined) {
    return failure.retryAfterS <= MAX_THROTTLE_WAIT_S ? failure.retryAfterS * 1_000 : null
  }
  const ceiling = Math.min(RETRY_FLOOR_MS * 4 ** (retries + 1), RETRY_CEILING_MS)
  return RETRY_FLOOR_MS + jitter() * (ceiling - RETRY_FLOOR_MS)
}

function report(
  log: Log,
  { mode, origin }: Input<unknown>,
  by: Candidate,
  { kind, message, rejection }: Failure,
): void {
  const words = rejection && !origin?.stealth ? { upstream_said: withoutKeys(rejection.words) } : {}
  log[kind === 'config' ? 'error' : 'warn'](
    { request_id: origin?.requestId, mode, engine: by.engineId, target: by.target.id, failure: kind, ...words },
    `engine failed: ${message}`,
  )
}

function whyShut({ origin }: Input<unknown>, { target }: Candidate): string {
  const leftMs = target.breaker.leftMs(origin?.owner)
  if (leftMs === 0) return 'another call is testing whether it answers again'
  return `it kept failing; it gets no calls for another ${Math.ceil(leftMs / 1_000)} s`
}

type Failure = Pick<EngineFailure, 'kind' | 'message' | 'rejection'>

/** An upstream may repeat the key that it was called with (I25). */
const withoutKeys = (words: string): string => words.replace(/\b(sk|pk|key|gsk|AIza)[-_A-Za-z0-9]{8,}/g, '$1…')

/** With the time until a breaker lets the next call through, when all are open. */
function noneAnswered({ mode, candidates, origin }: Input<unknown>, last: EngineFailure | null): AppError {
  const shutMs = Math.min(...candidates.map(({ target }) => target.breaker.leftMs(origin?.owner)))
  const requested = last?.kind === 'config' ? MAX_RETRY_AFTER_S : last?.retryAfterS
  const seconds = Math.max(Math.ceil(shutMs / 1_000), Math.ceil(requested ?? (shutMs > 0 ? 0 : RETRY_AFTER_S)))
  return engineUnavailable.with({ retryAfterS: Math.min(seconds, MAX_RETRY_AFTER_S), cause: last }, mode)
}
