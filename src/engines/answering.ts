import type { Clock } from '../kernel/clock'
import { failpoint } from '../kernel/failpoint'
import type { Log } from '../kernel/log'
import { type Candidate, type Observe, reach } from './attempt'
import type { EngineEntry } from './catalog'
import { type EngineAnswer, EngineFailure, type EnginePart, type EngineRequest } from './engine'
import { engineBrokeOff, engineMissing } from './errors'
import { type CheckedUsage, createMeter, meterAnswer, type RunPart, type StreamEnd } from './meter'
import type { Target, Targets } from './targets'

/** A request to a service engine: the upstream's model name is filled in per target. */
export type RunRequest = Omit<EngineRequest, 'model'>

export type RunOptions = {
  /** Told once when another engine than the asked one answered (audit, counters). */
  onFallback?(from: string, to: string): void
}

/** Who answered; known at the first byte. */
export type Source = {
  /** The service engine id, never an upstream's. */
  engineId: string
  /** Answered by the built-in engine: nothing is charged. */
  free: boolean
  fallbackUsed: boolean
}

export type WholeAnswer = Source & Omit<EngineAnswer, 'usage'> & { usage: CheckedUsage }

/** A stream whose first byte has come. Read `parts` to its end or leave it by `break`: either ends the upstream call. */
export type RunningAnswer = Source & {
  /** Throws 503 `engine_unavailable` when the engine stops in the middle, or the caller's own reason. */
  parts: AsyncGenerator<RunPart>
  /** Our count of what has come so far. */
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

/** Asks engines: plans whom, reaches the first that answers, and watches what it says. */
export function createAnswering({ targets, entries, ...deps }: Deps) {
  const plans = new Map(entries.map((entry) => [entry.id, planFor(entry, targets)]))

  return {
    /** The whole answer in one exchange. Throws 503 `engine_unavailable`, 500 `server_error`. */
    async answer(engineId: string, request: RunRequest, options: RunOptions = {}): Promise<WholeAnswer> {
      const begin = (target: Target) => whole(target, { ...request, model: target.model })
      const reached = await reach({ ...orderFor(engineId, request), begin }, deps)
      reached.target.breaker.succeeded()
      return { ...meterAnswer(reached.value, request), ...sourceOf(reached, engineId, options) }
    },

    /** A stream, from its first byte on. Before that byte it throws as `answer` does. */
    async run(engineId: string, request: RunRequest, options: RunOptions = {}): Promise<RunningAnswer> {
      const begin = (target: Target) => firstPart(target, { ...request, model: target.model })
      const reached = await reach({ ...orderFor(engineId, request), begin }, deps)
      failpoint('engine_first_byte')
      // A long stream must not be the only probe: its first byte says that the upstream is back.
      if (reached.target.breaker.state() === 'half-open') reached.target.breaker.succeeded()
      const meter = createMeter(request, deps.clock)
      const parts = meter.parts(reached.value.stream, reached.value.first, watch(reached, request))
      return { ...sourceOf(reached, engineId, options), parts, soFar: meter.soFar }
    },
  }

  function orderFor(engineId: string, { mode, signal }: RunRequest) {
    const candidates = plans.get(engineId) ?? []
    if (candidates.length === 0) throw engineMissing.with({ retryAfterS: 60 }, mode)
    return { mode, signal, candidates }
  }

  /** Tells the breaker how a stream ended, and the tenant only what concerns them. */
  function watch({ target, engineId }: Candidate, { mode, signal }: RunRequest): StreamEnd {
    return {
      finished: target.breaker.succeeded,
      broke(error) {
        if (!(error instanceof EngineFailure) || signal.aborted) return error
        target.breaker.failed()
        const about = { mode, engine: engineId, target: target.id, failure: error.kind }
        deps.log.warn(about, `engine broke off: ${error.message}`)
        return engineBrokeOff.with({ retryAfterS: 5, cause: error }, mode)
      },
      over: target.breaker.abandoned,
    }
  }
}

/**
 * Targets in the order of trying: the engine's own, then those of its fallback engine that are others. An
 * upstream's failure is never papered over by the built-in engine.
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

function sourceOf({ engineId, target, fallback }: Candidate, asked: string, options: RunOptions): Source {
  if (fallback) options.onFallback?.(asked, engineId)
  return { engineId, free: target.free, fallbackUsed: fallback }
}

async function whole(target: Target, request: EngineRequest): Promise<EngineAnswer> {
  if (target.driver.complete) return target.driver.complete(request)
  const answer: EngineAnswer = { text: '', toolCalls: [], finish: 'stop', usage: null }
  for await (const part of target.driver.stream(request)) {
    if (part.type === 'text-delta') answer.text += part.text
    else if (part.type === 'tool-call') answer.toolCalls.push(part)
    else if (part.type === 'usage') answer.usage = part
    else answer.finish = part.reason
  }
  return answer
}

type Begun = { stream: AsyncGenerator<EnginePart>; first: EnginePart }

async function firstPart(target: Target, request: EngineRequest): Promise<Begun> {
  const stream = target.driver.stream(request)
  const { value, done } = await stream.next()
  if (done) throw new EngineFailure('malformed', 'the stream holds nothing')
  return { stream, first: value }
}
