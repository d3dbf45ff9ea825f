import type { Clock } from '../kernel/clock'
import type { AppError } from '../kernel/errors'
import { failpoint } from '../kernel/failpoint'
import type { Log } from '../kernel/log'
import type { EngineEntry } from './catalog'
import {
  type EngineAnswer,
  EngineFailure,
  type EngineRequest,
  type FailureKind,
  type ImageRequest,
  type MadeImage,
  type Sink,
} from './engine'
import { engineErrors, engineRejected } from './failures'
import type { Observe, Permit } from './health'
import { type CheckedUsage, Collector, countPrompt, createMeter, ENOUGH, meterAnswer, type TakePart } from './meter'
import { createRefusedParameters } from './parameters'
import { ableTo, missingIn, needsOf, type Origin, type Target, type Targets } from './targets'

/** A target to try, and the engine it answers for. `fallback`: this is not the requested engine. */
export type Candidate = { engineId: string; target: Target; fallback: boolean }

export type Reply<T> = Candidate & { value: T; permit: Permit }

type AttemptDeps = {
  clock: Clock
  log: Log
  observe: Observe
  /** A number in [0, 1): spreads the retries of many callers. */
  jitter(): number
}

type Input<T> = {
  request: { mode: string; signal: AbortSignal; origin?: Origin | undefined }
  candidates: readonly Candidate[]
  /** Our own count of the tokens of the request. */
  countTokens(): number
  /** Calls the target, up to the first byte or the whole answer. */
  begin(target: Target): Promise<T>
}

const MAX_RETRIES = 2
const RETRY_FLOOR_MS = 250
const RETRY_CEILING_MS = 2_000
/** The longest `Retry-After` to wait for. If it is longer, the next target is tried (docs/design.md 5). */
const MAX_THROTTLE_WAIT_S = 5

const RETRY_AFTER_S = 5
/** A request that times out counts as an engine failure only if it waited this long for the engine. */
const SLOW_MS = 60_000
const MAX_RETRY_AFTER_S = 60

/** Characters of an upstream's error text to keep. */
const MAX_WORDS = 500
/** Failures that say nothing about the health of the upstream. */
const BLAMELESS: ReadonlySet<FailureKind> = new Set(['config', 'rejected', 'throttled'])

/** An upstream may repeat the key that it was called with (docs/promises.md I25). */
const withoutKeys = (words: string): string => words.replace(/\b(sk|pk|key|gsk|AIza)[-_A-Za-z0-9]{8,}/g, '$1…')

/** A request to a service engine: the upstream's model name is filled in per target. */
export type RunRequest = Omit<EngineRequest, 'model'> & { origin?: Origin | undefined }

/** A request for a picture from a service engine: the upstream's model name is filled in per target. */
export type PictureRequest = Omit<ImageRequest, 'model'> & { origin?: Origin | undefined }

export type RunOptions = {
  /** Called once when a fallback engine answered instead of the requested one (audit, counters). */
  onFallback?(from: string, to: string): void
}

/** The engine that answered. Known at the first byte. */
export type Source = {
  /** The service engine id, never an upstream's. */
  engineId: string
  /** Answered by the built-in engine: nothing is charged. */
  free: boolean
  fallbackUsed: boolean
}

export type WholeAnswer = Source & Omit<EngineAnswer, 'usage'> & { usage: CheckedUsage }

type Deps = AttemptDeps & { targets: Targets; entries: readonly EngineEntry[] }

/** Calls engines: plans the order of targets, uses the first one that answers, and meters its answer. */
export function createAnswering({ targets, entries, ...deps }: Deps) {
  const refused = createRefusedParameters(deps.clock)
  const plans = new Map(entries.map((entry) => [entry.id, planFor(entry, targets)]))

  return {
    image,

    /** Targets to try for an engine, in this order. Null for engines of sound and video. */
    plan: (engineId: string): readonly Candidate[] | null => plans.get(engineId) ?? null,

    /** Whether a target of an engine, or of its fallback engine, may get tools. */
    callsTools(engineId: string): boolean {
      for (const { target } of plans.get(engineId) ?? []) if (target.can.tools !== false) return true
      return false
    },

    /** Gets the whole answer at once. Throws 503 `engine_unavailable`, 400 if the engine refuses the request. */
    async answer(engineId: string, request: RunRequest, options?: RunOptions): Promise<WholeAnswer> {
      const reached = await tryTargets(inputFor(engineId, request, whole), deps)
      reached.permit.succeeded()
      return Object.assign(meterAnswer(reached.value, request), sourceOf(reached, engineId, options))
    },

    /** Streams the answer to `take` in parts. Throws what `answer` and `take` throw. */
    async run(engineId: string, request: RunRequest, take: TakePart, options?: RunOptions): Promise<Source> {
      const reached = await tryTargets(inputFor(engineId, request, begun), deps)
      failpoint('engine_first_byte')
      // Closes a half-open breaker now, because this call is its only probe and a long stream would block all others.
      reached.permit.responded()
      const source = sourceOf(reached, engineId, options)
      const meter = createMeter(request, deps.clock, take, () => reached.permit.succeeded())
      try {
        await reached.value(meter.take)
        if (!meter.isOver()) throw new EngineFailure('truncated', 'the stream ended before its finish')
      } catch (error) {
        if (meter.thrown() === ENOUGH) await take({ type: 'usage', ...meter.soFar() })
        else if (meter.thrown() !== undefined) throw meter.thrown()
        else if (!meter.isOver()) throw brokenOff(error, reached, request)
      } finally {
        meter.stop()
        reached.permit.abandoned()
      }
      return source
    },
  }

  /** Makes one picture. Throws 503 `engine_unavailable`, 400 if the engine refuses to make it. */
  async function image(engineId: string, request: PictureRequest): Promise<Source & MadeImage> {
    const { prompt, editsOnly = false } = request
    const candidates = (plans.get(engineId) ?? []).filter(
      ({ target: { driver, model } }) => driver.image && (!editsOnly || driver.edits?.(model)),
    )
    if (!candidates.length && editsOnly) throw engineErrors.noEdits.with({ retryAfterS: 60 }, 'image')
    const reached = await callFirst(
      { ...deps, countTokens: () => countPrompt([{ role: 'user', content: prompt }]) },
      { mode: 'image', ...request },
      candidates,
      ({ driver, model }) => driver.image!({ ...request, model }),
    )
    return { ...reached.value, ...sourceOf(reached, engineId) }
  }

  function inputFor<T>(
    engineId: string,
    request: RunRequest,
    send: (target: Target, own: Own) => Promise<T>,
  ): Input<T> {
    const { mode } = request
    const plan = plans.get(engineId) ?? []
    if (plan.length === 0) throw engineErrors.engineMissing.with({ retryAfterS: 60 }, mode)
    const needs = needsOf(request)
    const candidates = ableTo(plan, needs)
    if (candidates.length === 0) throw engineErrors.engineUnable.with({ retryAfterS: 60 }, mode, missingIn(plan, needs))
    return new TextInput(request, candidates, refused, send)
  }

  /** Reports a broken stream to the breaker, and turns the upstream's failure into an error for the tenant. */
  function brokenOff(
    error: unknown,
    { target, engineId, permit }: Reply<unknown>,
    { mode, signal, origin }: RunRequest,
  ): unknown {
    if (!(error instanceof EngineFailure) || signal.aborted) return error
    permit.failed()
    const about = { request_id: origin?.requestId, mode, engine: engineId, target: target.id, failure: error.kind }
    deps.log.warn(about, `engine broke off: ${error.message}`)
    return engineErrors.engineBrokeOff.with({ retryAfterS: 5, cause: error }, mode)
  }
}

/**
 * Targets in the order in which to try them: the engine's own, then those of its fallback engine. The built-in engine
 * never replaces a failed upstream.
 */
function planFor({ id, fallback }: EngineEntry, targets: Targets): Candidate[] {
  const own = targets.get(id) ?? []
  const backup = own.length && fallback ? (targets.get(fallback) ?? []) : []
  return [
    ...own.map((target) => ({ engineId: id, target, fallback: false })),
    ...backup
      .filter((target) => !target.free && !own.includes(target))
      .map((target) => ({ engineId: fallback!, target, fallback: true })),
  ]
}

function sourceOf({ engineId, target, fallback }: Candidate, question: string, options?: RunOptions): Source {
  if (fallback) options?.onFallback?.(question, engineId)
  return { engineId, free: target.free, fallbackUsed: fallback }
}

/** A request for text. A class, because every call has one. */
class TextInput<T> implements Input<T> {
  constructor(
    readonly request: RunRequest,
    readonly candidates: readonly Candidate[],
    private readonly refused: ReturnType<typeof createRefusedParameters>,
    private readonly send: (target: Target, own: Own) => Promise<T>,
  ) {}

  countTokens(): number {
    return countPrompt(this.request.messages, this.request.tools)
  }

  begin(target: Target): Promise<T> {
    const own: Own = { ...this.request, model: target.model }
    const { sampling, effort, files } = own
    return sampling || effort || files ? this.sendChecked(target, own) : this.send(target, own)
  }

  private sendChecked(target: Target, own: Own): Promise<T> {
    if (own.files) own.files = own.files.filter(({ type }) => target.can[type])
    if (!own.sampling && !own.effort) return this.send(target, own)
    return this.refused.without(target, own, (sent) => this.send(target, sent))
  }
}

/** A request with the upstream's own name for the model. */
type Own = RunRequest & { model: string }

/** Calls a target. The call holds its slot at the upstream until it ends. */
function call({ driver, slots }: Target, request: Own, sink: Sink): Promise<void> {
  if (!slots) return driver.ask(request, sink)
  return slots.hold(request.origin, request.signal, () => driver.ask(request, sink))
}

/** The whole answer of a target. */
function whole(target: Target, request: Own): Promise<EngineAnswer> {
  const sink = new Collector()
  return call(target, request, sink).then(() => sink.answer)
}

/**
 * Starts a stream and waits for its first part. The result delivers all parts. Throws what the driver throws before.
 */
function begun(target: Target, request: Own) {
  const { promise, resolve, reject } = Promise.withResolvers<(take: Sink['take']) => Promise<void>>()
  const going = Promise.withResolvers<void>()
  let give: Sink['take'] | null = null
  const over = call(target, request, {
    streams: true,
    take(part) {
      if (give) return give(part)
      resolve((take) => {
        give = take
        going.resolve()
        return over
      })
      return going.promise.then(() => give!(part))
    },
  })
  over.then(() => reject(new EngineFailure('malformed', 'the stream holds nothing')), reject)
  return promise
}

/**
 * Tries the targets until one answers. Never resends a request after the first byte of a body. Retries refused
 * connections and server errors twice in all, waits once for a throttled target, and then tries the next target. Throws
 * 400 `validation_error` when an upstream refuses the request itself, 503 `engine_unavailable` when no target answered,
 * and the signal's reason when the caller left.
 */
async function tryTargets<T>(input: Input<T>, { clock, log, observe, jitter }: AttemptDeps): Promise<Reply<T>> {
  const { candidates, request } = input
  const { mode, origin, signal } = request
  const owner = origin?.owner
  const requestId = origin?.requestId
  let retries = 0
  let last: EngineFailure | null = null

  for (const candidate of candidates) {
    const { engineId, target, fallback } = candidate
    let waited = false
    let permit = target.breaker.enter(owner)
    if (!permit) {
      const shutS = Math.ceil(target.breaker.leftMs(owner) / 1_000)
      const error = shutS
        ? `it kept failing; it gets no calls for another ${shutS} s`
        : 'another call is testing whether it answers again'
      observe(engineId, 'passed over', { requestId, mode, target: target.id, ms: 0, error })
    }
    for (; permit; permit = target.breaker.enter(owner)) {
      const from = clock.monotonic()
      try {
        const value = await input.begin(target)
        observe(engineId, 'answered', { requestId, mode, target: target.id, ms: clock.monotonic() - from, error: null })
        if (target.fault.why !== null) target.fault.gone()
        if (target.presence.left !== null) target.presence.back()
        return { engineId, target, fallback, permit, value }
      } catch (error) {
        const ms = clock.monotonic() - from
        last = failureOf(error, permit, ms, signal)
        const reason = last.rejection && !origin?.stealth ? `${last.message}: ${last.rejection.words}` : last.message
        const words = withoutKeys(reason).slice(0, MAX_WORDS)
        observe(engineId, last.kind, { requestId, mode, target: target.id, ms, error: words })
      }
      report(log, input, candidate, last)
      if (last.kind === 'config') target.fault.found(last.message)
      if (last.kind === 'refused') target.presence.gone(last.message)
      if (last.begun) throw noneAnswered(input, last)
      if (last.rejection) throw engineRejected(last.rejection.about, input.countTokens(), last)

      const pause = pauseBefore(last, retries, waited, jitter)
      if (pause === null || target.breaker.leftMs(owner) > 0) break
      if (last.kind === 'throttled') waited = true
      else retries += 1
      await clock.sleep(pause, signal)
      signal.throwIfAborted()
    }
  }
  throw noneAnswered(input, last)
}

/**
 * Makes one whole call at the first target that answers. Throws 503 `engine_unavailable` without a candidate, and what
 * {@link tryTargets} throws.
 */
export async function callFirst<T>(
  { countTokens = () => 0, ...deps }: AttemptDeps & Partial<Pick<Input<T>, 'countTokens'>>,
  request: Input<T>['request'],
  candidates: readonly Candidate[],
  call: (target: Target) => Promise<T>,
): Promise<Reply<T>> {
  const { mode, signal, origin } = request
  if (!candidates.length) throw engineErrors.engineMissing.with({ retryAfterS: 60 }, mode)
  const begin = (target: Target) =>
    target.slots ? target.slots.hold(origin, signal, () => call(target)) : call(target)
  const reached = await tryTargets({ request, candidates, countTokens, begin }, deps)
  reached.permit.succeeded()
  return reached
}

/** Reports a target's failure to its breaker. Rethrows other errors: the caller left, or the request timed out. */
function failureOf(error: unknown, permit: Permit, ms: number, signal: AbortSignal): EngineFailure {
  if (error instanceof EngineFailure && !signal.aborted) {
    if (BLAMELESS.has(error.kind)) permit.abandoned()
    else permit.failed()
    return error
  }
  // Only a timeout counts against the target, not a caller that left.
  if (signal.aborted && (signal.reason as Error)?.name === 'TimeoutError' && ms >= SLOW_MS) permit.failed()
  else permit.abandoned()
  throw error
}

/** Milliseconds to wait before retrying the same target; null to try the next one. */
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
  { request: { mode, origin } }: Input<unknown>,
  by: Candidate,
  { kind, message, rejection }: Pick<EngineFailure, 'kind' | 'message' | 'rejection'>,
): void {
  const words = rejection && !origin?.stealth ? { upstream_said: withoutKeys(rejection.words) } : {}
  log[kind === 'config' ? 'error' : 'warn'](
    { request_id: origin?.requestId, mode, engine: by.engineId, target: by.target.id, failure: kind, ...words },
    `engine failed: ${message}`,
  )
}

/** The error for the caller. If all breakers are open, it has the time until the first one admits a call. */
function noneAnswered({ candidates, request: { mode, origin } }: Input<unknown>, last: EngineFailure | null): AppError {
  const shutMs = Math.min(...candidates.map(({ target }) => target.breaker.leftMs(origin?.owner)))
  const retryAfterS = last?.kind === 'config' ? MAX_RETRY_AFTER_S : last?.retryAfterS
  const seconds = Math.max(Math.ceil(shutMs / 1_000), Math.ceil(retryAfterS ?? (shutMs > 0 ? 0 : RETRY_AFTER_S)))
  return engineErrors.engineUnavailable.with({ retryAfterS: Math.min(seconds, MAX_RETRY_AFTER_S), cause: last }, mode)
}
