import type { Clock } from '../kernel/clock'
import { randomHex } from '../kernel/crypto'
import { notFound } from '../kernel/errors'
import type { Log } from '../kernel/log'
import { createAnswering, type PictureRequest, type RunOptions, type RunRequest } from './answering'
import type { Observe } from './attempt'
import {
  AUDIO_ENGINES,
  type AudioEngine,
  describedEngine,
  ENGINES,
  type EngineEntry,
  engineOfMode,
  findEngine,
  findImageEngine,
  IMAGE_ENGINES,
} from './catalog'
import { type EngineSettings, fingerprintOf, readEngineConfig } from './config'
import type { Driver } from './engine'
import { createFilming } from './filming'
import { createProbes, type ProviderHealth, type UpstreamState } from './probes'
import { createSounding } from './sounding'
import { createTargets, type Target } from './targets'
import { countPrompt, countTokens } from './tokens'
import { type TrialCheck, tryTarget } from './trial'

type Deps = {
  settings: EngineSettings
  clock: Clock
  log: Log
  /** The embedded engine; it answers text modes without an upstream unless the settings turn it off. */
  builtin: Driver
  observe?: Observe
  jitter?: () => number
}

export type ModelStatus = 'available' | 'degraded' | 'down'

export type EngineService = ReturnType<typeof createEngines>

/** @throws ConfigError when the settings contradict each other or a key file cannot be read. */
export function createEngines({ settings, clock, log, builtin, observe = ignore, jitter = randomFraction }: Deps) {
  const config = readEngineConfig(settings)
  let changes = 0
  const targets = createTargets(config, {
    clock,
    log,
    builtin,
    changed: () => {
      changes += 1
    },
  })
  const probes = createProbes(targets, clock)
  const answering = createAnswering({ targets, entries: [...ENGINES, ...IMAGE_ENGINES], clock, log, observe, jitter })
  const sounding = createSounding({ targets, clock, log, observe, jitter })
  const filming = createFilming({ targets, clock, log, observe, jitter, hasBuiltin: config.builtin })

  return {
    fingerprint: fingerprintOf(config),
    /** The whole answer at once. Throws 503 `engine_unavailable`, 400 for what it cannot take, 404 if unknown. */
    answer: (id: string, request: RunRequest, options?: RunOptions) =>
      answering.answer(entryOf(id).id, request, options),
    /** The answer as a stream, returned at its first byte. Until then it throws what `answer` throws. */
    run: (id: string, request: RunRequest, options?: RunOptions) => answering.run(entryOf(id).id, request, options),
    /** One picture of an image engine. Throws 503 `engine_unavailable`, 400 for what it refuses, 404 if unknown. */
    image: (id: string, request: PictureRequest) => answering.image(imageEntryOf(id).id, request),
    /** Whether the built-in engine makes the pictures of an image engine. */
    drawsItself: (id: string): boolean => targets.get(imageEntryOf(id).id)?.[0]?.free ?? false,
    ...sounding,
    ...filming,
    /** Whether an upstream speaks or transcribes. */
    hasSound: (id: AudioEngine): boolean => (targets.get(id) ?? []).length > 0,
    has: (id: string): boolean => findEngine(id) !== null,
    /** Whether at least one target is configured for an engine. */
    isConnected: (id: string): boolean => targetsOf(id).length > 0,
    knowsMode: (mode: string): boolean => engineOfMode(mode) !== null,
    canonical: (id: string): string => entryOf(id).id,
    /** The engine a mode goes to by default; an unknown mode goes to auto. */
    forMode: (mode: string): string => (engineOfMode(mode) ?? entryOf('svc-1-auto')).id,
    describe: (id: string): { id: string; label: string; engine: string } => {
      const known = describedEngine(id)
      if (!known) throw notFound('model')
      return { id: known.id, label: known.label, engine: known.engine }
    },
    /** Tokens of prompt and answer together that the first target accepts; no limit without a target. */
    window: (id: string): number => targetsOf(id)[0]?.window ?? Number.MAX_SAFE_INTEGER,
    maxOutputTokens: (id: string): number => targetsOf(id)[0]?.maxOutputTokens ?? 0,
    /**
     * Whether images go to an engine in a mode that needs none: one of its targets sees them, or none of them does and
     * the next one that can is wanted (contract 28.4).
     */
    takesImages(id: string): boolean {
      const own = targetsOf(id)
      return own.some(({ can }) => can.vision) || (own.length > 0 && own.every(({ can }) => can.vision === false))
    },
    /** Whether tools may be offered to an engine; false only when none of its targets calls any. */
    callsTools: (id: string): boolean => answering.abilities(entryOf(id).id).some(({ tools }) => tools !== false),
    isFree: (id: string): boolean => targetsOf(id)[0]?.free ?? false,
    /** Whether anything but the built-in engine is connected (contract 22.2, stage 4). */
    hasModel: (): boolean => ENGINES.some(({ id }) => targetsOf(id).some(({ free }) => !free)),
    countTokens,
    countPrompt,
    /** Every listed engine with its current status (contract 5.1). */
    models: (): (EngineEntry & { status: ModelStatus })[] =>
      ENGINES.map((entry) => ({ ...entry, status: statusOf(entry) })),
    probeAll: (): Promise<Record<string, ProviderHealth>> => probes.bySubsystem(),
    /** Asks every upstream whether it answers, within 3 s unless said. For operators. Never throws. */
    askUpstreams: (withinMs?: number): Promise<UpstreamState[]> => probes.ask(withinMs),
    /** Grows with every change of a breaker or fault, so that what was probed before it is known to be out of date. */
    changes: (): number => changes,
    test,
    mapping,
  }

  function statusOf({ id, kind, fallback }: EngineEntry): ModelStatus {
    if (kind === 'video' && filming.filmmaker() === 'builtin') return 'available'
    const works = ({ breaker, fault, upstream }: Target) =>
      breaker.state() !== 'open' && fault.now() === null && !probes.isAway(upstream)
    const own = targetsOf(id)
    if (own.length && own.every(works)) return 'available'
    const others = fallback ? targetsOf(fallback).filter(({ free }) => !free) : []
    return own.length && [...own, ...others].some(works) ? 'degraded' : 'down'
  }

  /** Makes real calls to every target of one upstream, of one engine, or of all. For operators. Throws 404. */
  async function test(
    upstream?: string,
    engineId?: string,
  ): Promise<{ target: string; kind: string; checks: TrialCheck[] }[]> {
    const all = new Set(engineId === undefined ? [...targets.values()].flat() : targetsOf(engineId))
    const wanted = [...all].filter((target) => upstream === undefined || target.upstream === upstream)
    if (wanted.length === 0) throw notFound('connected upstream')
    return Promise.all(
      wanted.map(async (target) => ({ target: target.id, kind: target.kind, checks: await tryTarget(target, clock) })),
    )
  }

  /** The targets of each engine, with the state of their breakers. For operators. */
  function mapping() {
    return [...ENGINES, ...AUDIO_ENGINES].map(({ id, mode }) => ({
      engineId: id,
      mode,
      targets: (targets.get(id) ?? []).map(({ id: target, upstream, kind, breaker }) => ({
        target,
        upstream,
        kind,
        breaker: breaker.state(),
      })),
    }))
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

function imageEntryOf(id: string): EngineEntry {
  const entry = findImageEngine(id)
  if (!entry) throw notFound('model')
  return entry
}

const ignore = () => undefined

const randomFraction = (): number => Number.parseInt(randomHex(4), 16) / 2 ** 32
