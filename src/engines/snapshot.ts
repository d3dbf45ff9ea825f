import type { Clock } from '../kernel/clock'
import type { Log } from '../kernel/log'
import { type Candidate, callFirst, createAnswering } from './answering'
import { AUDIO_ENGINES, type AudioEngine, ENGINES, type EngineEntry, IMAGE_ENGINES, type VectorSpace } from './catalog'
import { type EngineConfig, fingerprintOf } from './config'
import type { EmbeddingRequest, SpeechRequest, Transcription, TranscriptionRequest } from './engine'
import { type Driver, EngineFailure } from './engine'
import type { Observe } from './health'
import type { UpstreamPart } from './parts'
import { createProbes } from './probes'
import { createTargets, type Origin, type Target, type Targets } from './targets'
import { createVideoCalls } from './videos'

/** Whether an engine would answer now. `why` is for operators: the obstacle, or null. */
export type EngineStatus = { status: 'available' | 'degraded' | 'down'; why: string | null }

type Deps = { targets: Targets; clock: Clock; log: Log; observe: Observe; jitter(): number }

const ACCEPT = 'svc-admin engines embed accept takes the new ones'

/** The upstream's model name is filled in per target. */
type By<Request> = Omit<Request, 'model'> & { origin: Origin }

export type SnapshotDeps = {
  clock: Clock
  log: Log
  observe: Observe
  jitter(): number
  /** What a mode needs besides an engine and this server lacks; null if nothing is missing. */
  lacks(mode: string): string | null
  /** Whether this machine has its own speech, used without an upstream. */
  speaksHere: boolean
}

type Parts = { upstreams: ReadonlyMap<string, UpstreamPart>; builtin: Omit<UpstreamPart, 'slots' | 'fit'> }

/** Stands for the server itself, which makes videos and speech without an upstream or a driver. */
const MADE_HERE = {
  target: 'builtin:builtin',
  upstream: 'builtin',
  kind: 'builtin',
  breaker: 'closed',
  in_flight: 0,
} as const

/** Mode and kind of an engine. */
type Makes = Pick<EngineEntry | (typeof AUDIO_ENGINES)[number], 'mode' | 'kind'>

type Entry = (typeof ENGINES)[number] | (typeof AUDIO_ENGINES)[number]

export type Snapshot = ReturnType<typeof createSnapshot>

/** The engines of one version of the settings. A request or job uses the same snapshot until it ends. */
export function createSnapshot(config: EngineConfig, parts: Parts, { lacks, speaksHere, ...deps }: SnapshotDeps) {
  const targets = createTargets(config, parts)
  const answering = createAnswering({ targets, entries: [...ENGINES, ...IMAGE_ENGINES], ...deps })
  const sounding = createSounding({ targets, ...deps }, config.vectors)
  const embedding = targets.get('svc-1-embed')?.[0]
  const { vectors } = config
  const otherSpace =
    embedding && vectors && vectors.model !== embedding.model
      ? `its vectors were of "${vectors.model}" and are of "${embedding.model}": ${ACCEPT}`
      : null
  const videoCalls = createVideoCalls({ targets, ...deps, hasBuiltin: config.builtin })
  const isMadeHere = ({ id, kind }: Entry): boolean =>
    kind === 'video'
      ? videoCalls.videoMaker() === 'builtin'
      : kind === 'speech' && speaksHere && (targets.get(id) ?? []).length === 0
  return {
    fingerprint: fingerprintOf(config),
    targets,
    answering,
    sounding,
    videos: videoCalls,
    probes: createProbes(targets, deps.clock, lacks, otherSpace !== null),
    /** Why vectors of `svc-1-embed` are not comparable with its earlier ones; null if they are. */
    otherSpace,
    /** The model that makes the vectors of `svc-1-embed`, and their length if known; null without an upstream. */
    vectorSpace: () =>
      embedding ? { model: embedding.model, length: vectors?.model === embedding.model ? vectors.length : null } : null,

    statusOf(entry: Entry): EngineStatus {
      const { id, mode, kind } = entry
      if (isMadeHere(entry)) return { status: 'available', why: null }
      const own = targets.get(id) ?? []
      const plan = answering.plan(id) ?? own.map((target) => ({ engineId: id, target, fallback: false }))
      return stateOf({ mode, kind }, plan, kind === 'embedding' ? otherSpace : lacks(mode))
    },

    /** The targets of each engine, with the state of their breakers. For operators. */
    mapping: () =>
      [...ENGINES, ...AUDIO_ENGINES].map((entry) => ({
        engineId: entry.id,
        mode: entry.mode,
        makes: entry.kind,
        targets: isMadeHere(entry)
          ? [MADE_HERE]
          : (targets.get(entry.id) ?? []).map(({ id: target, upstream, kind, breaker }) => ({
              target,
              upstream,
              kind,
              breaker: breaker.state(),
              in_flight: breaker.inFlight(),
            })),
      })),
  }
}

/** Calls the engines of sound and of vectors. The first target that answers wins. */
function createSounding({ targets, ...deps }: Deps, vectors: VectorSpace | null) {
  return {
    /**
     * Turns text into speech. Throws 503 `engine_unavailable` when no upstream answered, 400 if it refuses the request,
     * and the signal's reason.
     */
    speak: (request: By<SpeechRequest>): Promise<Uint8Array> =>
      ask('svc-1-voice', request, ({ speak }, model) => speak?.({ ...request, model })),

    /** Transcribes a recording. Throws like `speak`. */
    transcribe: (request: By<TranscriptionRequest>): Promise<Transcription> =>
      ask(
        'svc-1-transcribe',
        request,
        ({ transcribe }, model) => transcribe?.({ ...request, model }),
        request.english ? ({ translates }) => translates === true : undefined,
      ),

    /**
     * Makes vectors of texts, and names the upstream's model. Rejects vectors of another length than before, because
     * they would silently split a client's index in two. Throws like `speak`.
     */
    embed: (request: By<EmbeddingRequest>) =>
      ask('svc-1-embed', request, ({ embed }, model) =>
        embed?.({ ...request, model }).then((found) => {
          const before = vectors?.model === model ? vectors.length : found.made
          if (found.made === null || found.made === before) return { ...found, model }
          throw new EngineFailure('config', `its vectors had ${before} numbers and have ${found.made}: ${ACCEPT}`)
        }),
      ),
  }

  async function ask<T>(
    engineId: AudioEngine,
    { signal, origin }: { signal: AbortSignal; origin: Origin },
    call: (driver: Driver, model: string) => Promise<T> | undefined,
    isFit: (driver: Driver) => boolean = () => true,
  ): Promise<T> {
    const { mode, kind } = AUDIO_ENGINES.find(({ id }) => id === engineId)!
    const candidates = (targets.get(engineId) ?? [])
      .filter(({ driver }) => isFit(driver))
      .map((target) => ({ engineId, target, fallback: false }))
    const missing = `this kind of upstream does not support ${kind}`
    const { value } = await callFirst(
      deps,
      { mode, signal, origin },
      candidates,
      async ({ driver, model }) => (await call(driver, model)) ?? Promise.reject(new EngineFailure('config', missing)),
    )
    return value
  }
}

/**
 * The state of an engine for `GET /models`, `engines list` and `doctor` (docs/api.md 5.1). Uses known state and calls
 * nothing. `plan`: its targets, then those of its fallback. `lacks`: what else the mode needs and this server lacks.
 */
function stateOf({ mode, kind }: Makes, plan: readonly Candidate[], lacks: string | null): EngineStatus {
  if (!plan.length) return { status: 'down', why: 'nothing is connected' }
  const able = plan.filter(({ target }) => whyUnable(target, mode, kind) === null)
  if (!able.length) return { status: 'down', why: whyUnable(plan[0]!.target, mode, kind) }
  const working = able.filter(({ target }) => whyStill(target) === null)
  const why = plan.map(({ target }) => whyUnable(target, mode, kind) ?? whyStill(target)).find((one) => one !== null)
  if (!working.length) return { status: 'down', why: why ?? null }
  const own = plan.filter(({ fallback }) => !fallback)
  const whole = own.every((one) => working.includes(one))
  return whole && lacks === null
    ? { status: 'available', why: null }
    : { status: 'degraded', why: lacks ?? why ?? null }
}

/** Which ability of the engine's mode the target lacks; null if it lacks none. */
function whyUnable({ id, driver, can }: Target, mode: string, kind: Makes['kind']): string | null {
  if (mode === 'vision' && can.vision === false) return `${id} does not accept images`
  const makes =
    kind === 'text' ||
    {
      image: driver.image,
      video: driver.video,
      speech: driver.speak,
      transcription: driver.transcribe,
      embedding: driver.embed,
    }[kind]
  return makes ? null : `${id} is of a kind that does not support ${kind}`
}

/** Why a target would not answer now; null if it would. */
function whyStill({ id, breaker, fault, presence }: Target): string | null {
  const why = fault.why ?? presence.away() ?? (breaker.state() === 'open' ? 'its calls failed' : null)
  return why === null ? null : `${id}: ${why}`
}
