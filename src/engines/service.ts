import type { Clock } from '../kernel/clock'
import { randomHex } from '../kernel/crypto'
import { notFound } from '../kernel/errors'
import { failpoint } from '../kernel/failpoint'
import type { Log } from '../kernel/log'
import { type Candidate, reach } from './attempt'
import { ENGINES, type EngineEntry, engineOfMode, findEngine } from './catalog'
import { type EngineSettings, readEngineConfig } from './config'
import { type EngineAnswer, EngineFailure, type EnginePart, type EngineRequest } from './engine'
import { engineBrokeOff, engineMissing } from './errors'
import { type CheckedUsage, createMeter, meterAnswer, type RunPart } from './meter'
import { type ProviderHealth, probeAll } from './probes'
import { createTargets, type Target } from './targets'
import { countPrompt, countTokens } from './tokens'
import { type TrialCheck, tryTarget } from './trial'

type Deps = {
  settings: EngineSettings
  clock: Clock
  log: Log
  /** Longest silence of an upstream; 60 s. */
  silenceMs?: number
  jitter?: () => number
}

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

export type ModelStatus = 'available' | 'degraded' | 'down'

export type EngineService = ReturnType<typeof createEngines>

/** @throws ConfigError when the settings contradict each other or a key file cannot be read. */
export function createEngines({ settings, clock, log, silenceMs, jitter = randomFraction }: Deps) {
  const targets = createTargets(readEngineConfig(settings), {
    clock,
    ...(silenceMs === undefined ? {} : { silenceMs }),
  })
  const deps = { clock, log, jitter }

  return {
    answer,
    run,
    models,
    has: (id: string): boolean => findEngine(id) !== null,
    knowsMode: (mode: string): boolean => engineOfMode(mode) !== null,
    canonical: (id: string): string => entryOf(id).id,
    /** The engine a mode goes to by default; an unknown mode goes to auto. */
    forMode: (mode: string): string => (engineOfMode(mode) ?? entryOf('svc-1-auto')).id,
    describe: (id: string): { id: string; label: string; engine: string } => {
      const { id: canonical, label, engine } = entryOf(id)
      return { id: canonical, label, engine }
    },
    /** Tokens of prompt and answer together that the engine's best target can hold; no limit where there is no target. */
    window: (id: string): number => targetsOf(id)[0]?.window ?? Number.MAX_SAFE_INTEGER,
    maxOutputTokens: (id: string): number => targetsOf(id)[0]?.maxOutputTokens ?? 0,
    isFree: (id: string): boolean => targetsOf(id)[0]?.free ?? false,
    /** Whether anything but the built-in engine is connected (contract 22.2, stage 4). */
    hasModel: (): boolean => [...targets.values()].flat().some(({ free }) => !free),
    countTokens,
    countPrompt,
    probeAll: (): Promise<Record<string, ProviderHealth>> => probeAll(targets, clock),
    /** Real calls to every target of one upstream, or of all. For operators. */
    test,
    /** Which targets stand behind each engine, with the state of their breakers. For operators. */
    mapping: () =>
      ENGINES.map(({ id, mode }) => ({
        engineId: id,
        mode,
        targets: targetsOf(id).map(({ id: target, kind, breaker }) => ({ target, kind, breaker: breaker.state() })),
      })),
  }

  /** The whole answer in one exchange. Throws 503 `engine_unavailable`, 500 `server_error`. */
  async function answer(engineId: string, request: RunRequest, options: RunOptions = {}): Promise<WholeAnswer> {
    const { candidates, source } = plan(engineId, request.mode, options)
    const { signal, mode } = request
    const begin = (target: Target) => whole(target, { ...request, model: target.model })
    const reached = await reach({ mode, candidates, signal, begin }, deps)
    reached.target.breaker.succeeded()
    return { ...meterAnswer(reached.value, request), ...source(reached) }
  }

  /** A stream, from its first byte on. Throws as {@link answer} does, before that byte. */
  async function run(engineId: string, request: RunRequest, options: RunOptions = {}): Promise<RunningAnswer> {
    const { candidates, source } = plan(engineId, request.mode, options)
    const { signal, mode } = request
    const begin = (target: Target) => firstPart(target, { ...request, model: target.model })
    const reached = await reach({ mode, candidates, signal, begin }, deps)
    failpoint('engine_first_byte')
    // A long stream must not be the only probe: its first byte says that the upstream is back.
    if (reached.target.breaker.state() === 'half-open') reached.target.breaker.succeeded()
    const meter = createMeter(request, clock)
    const { stream, first } = reached.value
    return { ...source(reached), parts: guarded(meter.parts(stream, first), reached, request), soFar: meter.soFar }
  }

  /** Tells the breaker how a stream ended, and the tenant only what concerns them. */
  async function* guarded(parts: AsyncGenerator<RunPart>, { target, engineId }: Candidate, request: RunRequest) {
    const { breaker } = target
    try {
      yield* parts
      breaker.succeeded()
    } catch (error) {
      if (!(error instanceof EngineFailure) || request.signal.aborted) throw error
      breaker.failed()
      log.warn(
        { mode: request.mode, engine: engineId, target: target.id, failure: error.kind },
        `engine broke off: ${error.message}`,
      )
      throw engineBrokeOff.with({ retryAfterS: 5, cause: error }, request.mode)
    } finally {
      breaker.abandoned()
    }
  }

  /** Targets in the order of trying. An upstream's failure is never papered over by the built-in engine. */
  function plan(engineId: string, mode: string, options: RunOptions) {
    const asked = entryOf(engineId)
    const own = targetsOf(asked.id)
    if (own.length === 0) throw engineMissing.with({ retryAfterS: 60 }, mode)
    const backup = asked.fallback ? targetsOf(asked.fallback) : []
    const more = backup.filter((target) => !target.free && !own.includes(target))
    const candidates: Candidate[] = [
      ...own.map((target) => ({ engineId: asked.id, target, fallback: false })),
      ...more.map((target) => ({ engineId: asked.fallback!, target, fallback: true })),
    ]
    const source = (reached: Candidate): Source => {
      if (reached.fallback) options.onFallback?.(asked.id, reached.engineId)
      return { engineId: reached.engineId, free: reached.target.free, fallbackUsed: reached.fallback }
    }
    return { candidates, source }
  }

  /** Every listed engine with what can be said of it now (contract 5.1). */
  function models(): (EngineEntry & { status: ModelStatus })[] {
    return ENGINES.map((entry) => ({ ...entry, status: statusOf(entry) }))
  }

  function statusOf({ id, fallback }: EngineEntry): ModelStatus {
    const works = ({ breaker }: Target) => breaker.state() !== 'open'
    const own = targetsOf(id)
    if (own.length && own.every(works)) return 'available'
    const others = fallback ? targetsOf(fallback).filter(({ free }) => !free) : []
    return own.length && [...own, ...others].some(works) ? 'degraded' : 'down'
  }

  async function test(upstream?: string): Promise<{ target: string; kind: string; checks: TrialCheck[] }[]> {
    const all = new Set([...targets.values()].flat())
    const wanted = [...all].filter((target) => upstream === undefined || target.upstream === upstream)
    if (wanted.length === 0) throw notFound('connected upstream')
    return Promise.all(
      wanted.map(async (target) => ({ target: target.id, kind: target.kind, checks: await tryTarget(target, clock) })),
    )
  }

  function targetsOf(id: string): readonly Target[] {
    return targets.get(findEngine(id)?.id ?? '') ?? []
  }
}

function entryOf(id: string): EngineEntry {
  const entry = findEngine(id)
  if (!entry) throw notFound('model')
  return entry
}

const randomFraction = (): number => Number.parseInt(randomHex(4), 16) / 2 ** 32

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

async function firstPart(
  target: Target,
  request: EngineRequest,
): Promise<{ stream: AsyncGenerator<EnginePart>; first: EnginePart }> {
  const stream = target.driver.stream(request)
  const { value, done } = await stream.next()
  if (done) throw new EngineFailure('malformed', 'the stream holds nothing')
  return { stream, first: value }
}
