import { type Call, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { failpoint } from '../kernel/failpoint'
import type { Log } from '../kernel/log'
import { type Candidate, type Observe, type Reached, reach } from './attempt'
import type { EngineEntry } from './catalog'
import { collect } from './drivers/answers'
import {
  type EngineAnswer,
  EngineFailure,
  type EnginePart,
  type EngineRequest,
  type ImageRequest,
  type MadeImage,
} from './engine'
import { engineBrokeOff, engineMissing, engineUnable } from './errors'
import { type CheckedUsage, createMeter, meterAnswer, type RunPart, type StreamEnd } from './meter'
import { type Abilities, ableTo, missingIn, needsOf } from './needs'
import type { Target, Targets } from './targets'
import { countPrompt } from './tokens'

/** Whose request a call serves: one owner's failures are not to concern the others (contract 22.3). */
export type Origin = {
  owner: string
  requestId: string
  /** Nothing of the request may be recorded (contract 2.1). */
  stealth?: boolean
}

export const originOf = ({ caller, requestId }: Call): Origin => ({ owner: ownerOf(caller), requestId })

/** A request to a service engine: the upstream's model name is filled in per target. */
export type RunRequest = Omit<EngineRequest, 'model'> & { origin?: Origin | undefined }

/** A picture of a service engine: the upstream's model name is filled in per target. */
export type PictureRequest = Omit<ImageRequest, 'model'> & { origin?: Origin | undefined }

export type RunOptions = {
  /** Called once when a fallback engine answered instead of the one asked (audit, counters). */
  onFallback?(from: string, to: string): void
}

/** Which engine answered; known at the first byte. */
export type Source = {
  /** The service engine id, never an upstream's. */
  engineId: string
  /** Answered by the built-in engine: nothing is charged. */
  free: boolean
  fallbackUsed: boolean
}

export type WholeAnswer = Source & Omit<EngineAnswer, 'usage'> & { usage: CheckedUsage }

/** A stream that has reached its first byte. Read `parts` to the end or `break`: both end the upstream call. */
export type RunningAnswer = Source & {
  /** Throws 503 `engine_unavailable` when the engine stops in the middle, or the caller's own reason. */
  parts: AsyncGenerator<RunPart>
  /** Our own token count of the parts so far. */
  soFar(): CheckedUsage
}

type Deps = {
  targets: Targets
  entries: readonly EngineEntry[]
  clock: Clock
  log: Log
  observe: Observe
  jitter(): number
}

/** Calls engines: plans the order of targets, uses the first one that answers, and meters its answer. */
export function createAnswering({ targets, entries, ...deps }: Deps) {
  const plans = new Map(entries.map((entry) => [entry.id, planFor(entry, targets)]))

  return {
    image,

    /** What is tried for an engine, in this order; null for one that answers no text and makes no picture. */
    plan: (engineId: string): readonly Candidate[] | null => plans.get(engineId) ?? null,

    /** What the targets can that are tried for an engine, those of its fallback engine last. */
    abilities: (engineId: string): Abilities[] => (plans.get(engineId) ?? []).map(({ target }) => target.can),

    /** The whole answer in one exchange. Throws 503 `engine_unavailable`, 400 for what the engine cannot take. */
    async answer(engineId: string, request: RunRequest, options: RunOptions = {}): Promise<WholeAnswer> {
      const begin = (target: Target) => whole(target, { ...request, model: target.model }, request.origin?.owner)
      const reached = await reach({ ...orderFor(engineId, request), begin }, deps)
      reached.pass.succeeded()
      return { ...meterAnswer(reached.value, request), ...sourceOf(reached, engineId, options) }
    },

    /** The answer as a stream, returned at its first byte. Until then it throws what `answer` throws. */
    async run(engineId: string, request: RunRequest, options: RunOptions = {}): Promise<RunningAnswer> {
      const begin = (target: Target) => firstPart(target, { ...request, model: target.model }, request.origin?.owner)
      const reached = await reach({ ...orderFor(engineId, request), begin }, deps)
      failpoint('engine_first_byte')
      // The first byte closes a half-open breaker: as the only probe, a long stream would block all other calls.
      reached.pass.heard()
      const meter = createMeter(request, deps.clock)
      const parts = meter.parts(reached.value.stream, reached.value.first, watch(reached, request))
      return { ...sourceOf(reached, engineId, options), parts, soFar: meter.soFar }
    },
  }

  /** One picture. Throws 503 `engine_unavailable`, 400 for what the engine refuses to make. */
  async function image(engineId: string, request: PictureRequest): Promise<Source & MadeImage> {
    const { signal, origin, prompt } = request
    const mode = 'image'
    const candidates = (plans.get(engineId) ?? []).filter(({ target }) => target.driver.image)
    if (candidates.length === 0) throw engineMissing.with({ retryAfterS: 60 }, mode)
    const countTokens = () => countPrompt([{ role: 'user', content: prompt }])
    const begin = ({ driver, model, slots }: Target) => {
      const make = () => driver.image!({ ...request, model })
      return slots ? slots.hold(origin?.owner, signal, make) : make()
    }
    const reached = await reach({ mode, signal, candidates, origin, countTokens, begin }, deps)
    reached.pass.succeeded()
    return { ...reached.value, ...sourceOf(reached, engineId, {}) }
  }

  function orderFor(engineId: string, request: RunRequest) {
    const { mode, signal, origin, messages, tools } = request
    const plan = plans.get(engineId) ?? []
    if (plan.length === 0) throw engineMissing.with({ retryAfterS: 60 }, mode)
    const needs = needsOf(request)
    const candidates = ableTo(plan, needs)
    if (candidates.length === 0) throw engineUnable.with({ retryAfterS: 60 }, mode, missingIn(plan, needs))
    return { mode, signal, candidates, origin, countTokens: () => countPrompt(messages, tools) }
  }

  /** Reports the end of a stream to the breaker, and turns an upstream's failure into an error for the tenant. */
  function watch(
    { target, engineId, pass: permit }: Reached<unknown>,
    { mode, signal, origin }: RunRequest,
  ): StreamEnd {
    return {
      finished: permit.succeeded,
      broke(error) {
        if (!(error instanceof EngineFailure) || signal.aborted) return error
        permit.failed()
        const about = { request_id: origin?.requestId, mode, engine: engineId, target: target.id, failure: error.kind }
        deps.log.warn(about, `engine broke off: ${error.message}`)
        return engineBrokeOff.with({ retryAfterS: 5, cause: error }, mode)
      },
      over: permit.abandoned,
    }
  }
}

/**
 * Targets in the order in which they are tried: the engine's own, then the other ones of its fallback engine. The
 * built-in engine never answers in place of a failed upstream.
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

function sourceOf({ engineId, target, fallback }: Candidate, question: string, options: RunOptions): Source {
  if (fallback) options.onFallback?.(question, engineId)
  return { engineId, free: target.free, fallbackUsed: fallback }
}

function whole(target: Target, request: EngineRequest, owner: string | undefined): Promise<EngineAnswer> {
  const { complete } = target.driver
  if (!complete) return collect(streamOf(target, request, owner))
  return target.slots ? target.slots.hold(owner, request.signal, () => complete(request)) : complete(request)
}

/** The stream of a target, which has its slot at the upstream until it ends. */
const streamOf = ({ driver, slots }: Target, request: EngineRequest, owner: string | undefined) =>
  slots ? slots.holdStream(owner, request.signal, () => driver.stream(request)) : driver.stream(request)

type Begun = { stream: AsyncGenerator<EnginePart>; first: EnginePart }

async function firstPart(target: Target, request: EngineRequest, owner: string | undefined): Promise<Begun> {
  const stream = streamOf(target, request, owner)
  const { value, done } = await stream.next()
  if (done) throw new EngineFailure('malformed', 'the stream holds nothing')
  return { stream, first: value }
}
