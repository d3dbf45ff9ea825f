import type { PriceTable } from '../billing/schema'
import { sameInWork } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import { randomHex } from '../kernel/crypto'
import { invalidInput, notFound } from '../kernel/errors'
import { errorFields, type Log } from '../kernel/log'
import { type Loop, startLoop } from '../kernel/loop'
import type { Store, Tx } from '../kernel/store'
import type { PictureRequest, RunOptions, RunRequest } from './answering'
import {
  AUDIO_ENGINES,
  type AudioEngine,
  aliasIn,
  describedEngine,
  ENGINES,
  type EngineEntry,
  engineOfMode,
  findEngine,
  findImageEngine,
  LOCAL_EMBEDDING,
  LOCAL_LENGTH,
  type VectorSpace,
} from './catalog'
import {
  type EngineConfig,
  type EngineSettings,
  NOTHING_STORED,
  readEngineConfig,
  type StoredEngines,
  upstreamPrices,
} from './config'
import type { Driver } from './engine'
import type { Observe } from './health'
import { countFiles, countPrompt, countTokens, type TakePart } from './meter'
import type { Parameter } from './parameters'
import { createPart, createParts } from './parts'
import type { ProviderHealth, UpstreamState } from './probes'
import type { EngineStatus } from './snapshot'
import { createSnapshot, type Snapshot, type SnapshotDeps } from './snapshot'
import { storedRepository } from './table'
import { type Target, type Targets, VECTOR_WINDOW } from './targets'
import { type TrialCheck, tryTarget } from './trial'
import type { UpstreamVideo } from './videos'

type Settings = EngineSettings & { prices: PriceTable }

/** One version of all engine settings. Immutable. */
export type EngineVersion = {
  revision: number
  stored: StoredEngines
  config: EngineConfig
  prices: { configured: PriceTable; ofUpstreams: PriceTable }
}

export type EngineRegistry = ReturnType<typeof createEngineRegistry>

type RegistryDeps = { store: Store; settings: Settings; masterKey: Uint8Array; log: Log }

/** How often a node checks for changes of other nodes, in case a message is lost. Keeps the delay under a second. */
const LOOK_MS = 500

/** Longest pause between checks while the database is down. */
const LONGEST_NAP_MS = 2_000

type LoopDeps = { registry: EngineRegistry; store: Store; clock: Clock; onError(name: string, error: unknown): void }

/** Provides versions of the settings: that of the running request or job, or the newest. */
type Registry = Pick<EngineRegistry, 'version' | 'newest' | 'follow' | 'fixVectors'>

type Deps = {
  settings: EngineSettings
  /** Source of changing settings; without it they never change. */
  registry?: Registry
  clock: Clock
  log: Log
  /** The built-in engine. It answers text modes without an upstream, unless the settings disable it. */
  builtin: Driver
  observe?: Observe
  jitter?: () => number
  lacks?: SnapshotDeps['lacks']
  speaksHere?: boolean
}

export type EngineService = ReturnType<typeof createEngines>

/** Known states older than this are refreshed in the background. */
const STALE_MS = 5_000

/** @throws ConfigError when the settings contradict each other or a key file cannot be read. */
export function createEngines({ settings, builtin, registry = unchanging(settings), ...deps }: Deps) {
  const { clock, log, observe = ignore, jitter = randomFraction, lacks = () => null, speaksHere = false } = deps
  let changes = 0
  const changed = () => {
    changes += 1
  }
  const parts = createParts({ clock, log, changed })
  const ownPart = createPart('builtin', builtin, { clock, log, changed })
  const snapshots = new WeakMap<object, Snapshot>()
  registry.follow((version) => {
    const used = { upstreams: parts.of(version.config.upstreams), builtin: ownPart }
    const snapshot = createSnapshot(version.config, used, { clock, log, observe, jitter, lacks, speaksHere })
    snapshots.set(version, snapshot)
    // The operator accepted new vectors, so the fault is gone.
    if (!version.config.vectors) for (const { fault } of snapshot.targets.get('svc-1-embed') ?? []) fault.gone()
    if (snapshot.otherSpace !== null) log.warn({ engine: 'svc-1-embed', why: snapshot.otherSpace }, 'vectors change')
    changed()
  })
  const now = (): Snapshot => snapshots.get(registry.version())!
  const newest = (): Snapshot => snapshots.get(registry.newest())!
  const targetsOf = (id: string): readonly Target[] => targetsIn(now().targets, id)
  let requestedAt = Number.NEGATIVE_INFINITY

  return {
    get fingerprint(): string {
      return now().fingerprint
    },
    /** Gets the whole answer at once. Throws 503 `engine_unavailable`, 400 if refused, 404 for an unknown engine. */
    answer: (id: string, request: RunRequest, options?: RunOptions) =>
      now().answering.answer(entryOf(id).id, request, options),
    /** Streams the answer to `take` in parts. Throws what `answer` and `take` throw. */
    run: (id: string, request: RunRequest, take: TakePart, options?: RunOptions) =>
      now().answering.run(entryOf(id).id, request, take, options),
    /** Makes one picture. Throws 503 `engine_unavailable`, 400 if refused, 404 for an unknown engine. */
    image: (id: string, request: PictureRequest) => now().answering.image(known(findImageEngine(id)).id, request),
    /** Whether the built-in engine makes the pictures of an image engine. */
    drawsItself: (id: string): boolean => now().targets.get(known(findImageEngine(id)).id)?.[0]?.free ?? false,
    speak: (request: Parameters<Sounding['speak']>[0]) => now().sounding.speak(request),
    transcribe: (request: Parameters<Sounding['transcribe']>[0]) => now().sounding.transcribe(request),
    /** Vectors of `svc-1-embed`. The first answer fixes model and length (docs/api.md 31). Throws like `speak`. */
    async embed(request: Parameters<Sounding['embed']>[0]) {
      const found = await now().sounding.embed(request)
      if (found.made !== null && !registry.newest().config.vectors)
        await registry.fixVectors({ model: found.model, length: found.made })
      return found
    },
    /** Model and length of the vectors of `svc-1-embed`, as far as they are known. */
    vectorSpace: () => now().vectorSpace(),
    videoMaker: () => now().videos.videoMaker(),
    requestVideo: (request: Parameters<VideoCalls['requestVideo']>[0]) => now().videos.requestVideo(request),
    lookAtVideo: (video: UpstreamVideo, signal: AbortSignal) => now().videos.lookAtVideo(video, signal),
    videoContent: (...requests: Parameters<VideoCalls['videoContent']>) => now().videos.videoContent(...requests),
    dropVideo: (video: UpstreamVideo) => now().videos.dropVideo(video),
    videoFailed: (...messages: Parameters<VideoCalls['videoFailed']>) => now().videos.videoFailed(...messages),
    /** Whether an upstream is connected for speech, transcription or vectors. */
    hasSound: (id: AudioEngine): boolean => (now().targets.get(id) ?? []).length > 0,
    /** Whether an upstream can translate recordings into English. */
    translatesSound: (): boolean =>
      (now().targets.get('svc-1-transcribe') ?? []).some(({ driver }) => driver.translates),
    /** Maximum tokens of one text for `svc-1-embed`. */
    vectorWindow: (): number => now().targets.get('svc-1-embed')?.[0]?.window ?? VECTOR_WINDOW,
    /** Resolves a model name of a client: the engine of an alias, or the word itself (docs/api.md 32.2). */
    named: <Word extends string | null | undefined>(word: Word): Word | string =>
      word && !describedEngine(word) && word !== 'auto'
        ? (aliasIn(registry.version().config.aliases, word) ?? word)
        : word,
    /** Aliases that `GET /models` lists, each with its engine. */
    listedAliases: (): { name: string; engine: string }[] =>
      Object.entries(registry.version().config.aliases).flatMap(([name, { engine, listed }]) =>
        listed ? [{ name, engine }] : [],
      ),
    has: (id: string): boolean => findEngine(id) !== null,
    /** Whether at least one target is configured for an engine. */
    isConnected: (id: string): boolean => targetsOf(id).length > 0,
    knowsMode: (mode: string): boolean => engineOfMode(mode) !== null,
    canonical: (id: string): string => entryOf(id).id,
    /** The default engine of a mode; that of `auto` for an unknown mode. */
    forMode: (mode: string): string => (engineOfMode(mode) ?? entryOf('svc-1-auto')).id,
    describe: (id: string): { id: string; label: string; engine: string } => {
      const { id: own, label, engine } = known(describedEngine(id))
      return { id: own, label, engine }
    },
    /** Maximum tokens of prompt and answer together at the first target; no limit without a target. */
    window: (id: string): number => targetsOf(id)[0]?.window ?? Number.MAX_SAFE_INTEGER,
    /** Names of the client parameters that the first target supports. */
    parameters: (id: string): readonly Parameter[] => targetsOf(id)[0]?.parameters ?? [],
    maxOutputTokens: (id: string): number => targetsOf(id)[0]?.maxOutputTokens ?? 0,
    /**
     * Whether to send images to an engine in a mode without vision: one of its targets accepts them, or none of them
     * does and a fallback that does is used (docs/api.md 28.4).
     */
    takesImages(id: string): boolean {
      const own = targetsOf(id)
      return own.some(({ can }) => can.vision) || (own.length > 0 && own.every(({ can }) => can.vision === false))
    },
    /** Whether an engine accepts raw files. For `auto` or an unknown word all text engines must accept them. */
    takes: (kind: 'files' | 'audio', word: string | null | undefined): boolean =>
      enginesOf(word).every((id) => targetsOf(id).length > 0 && targetsOf(id).every(({ can }) => can[kind])),
    /** Whether an engine accepts pictures, by its mode or by its targets' abilities. */
    sees(word: string | null | undefined): boolean {
      const { id, mode } = findEngine(word ?? '') ?? entryOf('svc-1-auto')
      return SEEING.has(mode) || this.takesImages(id)
    },
    /** Whether tools may be sent to an engine. False only if no target supports them. */
    callsTools: (id: string): boolean => now().answering.callsTools(entryOf(id).id),
    isFree: (id: string): boolean => targetsOf(id)[0]?.free ?? false,
    /** Whether any engine besides the built-in one is connected (docs/api.md 22.2, stage 4). */
    hasModel: (): boolean => ENGINES.some(({ id }) => targetsOf(id).some(({ free }) => !free)),
    countTokens,
    countPrompt,
    countFiles,
    /**
     * Every listed engine with its known status (docs/api.md 5.1). Never waits for an upstream. Refreshes old states in
     * the background for the next caller.
     */
    models(): (EngineEntry & EngineStatus)[] {
      if (clock.monotonic() - requestedAt >= STALE_MS) void askUpstreams()
      return ENGINES.map((entry) => ({ ...entry, ...newest().statusOf(entry) }))
    },
    /** The engines of vectors, only for `POST /embeddings` (docs/api.md 31). */
    embeddingModels: () => [
      {
        ...describedEngine('svc-1-embed')!,
        description: 'Turns texts into vectors that compare by meaning.',
        status: newest().statusOf(AUDIO_ENGINES.find(({ id }) => id === 'svc-1-embed')!).status,
        dimensions: newest().vectorSpace()?.length ?? null,
        window: newest().targets.get('svc-1-embed')?.[0]?.window ?? VECTOR_WINDOW,
      },
      ...(registry.newest().config.builtin
        ? [
            {
              ...describedEngine(LOCAL_EMBEDDING)!,
              description: 'Turns texts into vectors by rules: they compare spelling, not meaning.',
              status: 'available' as const,
              dimensions: LOCAL_LENGTH,
              window: VECTOR_WINDOW,
            },
          ]
        : []),
    ],
    /** The status of all engines, including those of sound. For operators. */
    statuses: (): Map<string, EngineStatus> =>
      new Map([...ENGINES, ...AUDIO_ENGINES].map((entry) => [entry.id, newest().statusOf(entry)])),
    probeAll: (): Promise<Record<string, ProviderHealth>> => newest().probes.bySubsystem(),
    askUpstreams,
    /** Grows with every change of a breaker, fault or setting, so that callers notice stale data. */
    changes: (): number => changes,
    test,
    mapping: () => newest().mapping(),
  }

  /** Asks every upstream whether it answers, by default within 3 s. For operators. Never throws. */
  function askUpstreams(withinMs?: number): Promise<UpstreamState[]> {
    requestedAt = clock.monotonic()
    return newest().probes.ask(withinMs)
  }

  /** Makes real calls to the targets of one upstream, of one engine, or of all. For operators. Throws 404. */
  async function test(
    upstream?: string,
    engineId?: string,
  ): Promise<{ target: string; kind: string; checks: TrialCheck[] }[]> {
    const { targets } = newest()
    const all = new Set(
      engineId === undefined ? [...targets.values()].flat() : (targets.get(engineId) ?? targetsIn(targets, engineId)),
    )
    const wanted = [...all].filter((target) => upstream === undefined || target.upstream === upstream)
    if (wanted.length === 0) throw notFound('connected upstream')
    return Promise.all(
      wanted.map(async (target) => ({ target: target.id, kind: target.kind, checks: await tryTarget(target, clock) })),
    )
  }
}

type Sounding = Snapshot['sounding']
type VideoCalls = Snapshot['videos']

/** A registry whose settings never change. */
function unchanging(settings: EngineSettings): Registry {
  const only = versionOf({ ...settings, prices: {} }, { revision: 0, stored: NOTHING_STORED })
  return { version: () => only, newest: () => only, follow: (listener) => listener(only), fixVectors: async () => null }
}

/** Modes whose engines always accept pictures, and `auto`, which can choose them. */
const SEEING: ReadonlySet<string> = new Set(['auto', 'vision', 'data_extraction', 'domain_analysis'])

/** The engines that may answer a model name. */
function enginesOf(word: string | null | undefined): string[] {
  const entry = findEngine(word ?? '')
  return entry && entry.mode !== 'auto' ? [entry.id] : ENGINES.flatMap(({ id, kind }) => (kind === 'text' ? id : []))
}

/** Throws 404 if there is no such engine. */
function known<Entry>(entry: Entry | null): Entry {
  if (!entry) throw notFound('model')
  return entry
}

const entryOf = (id: string): EngineEntry => known(findEngine(id))

/** The targets of a text engine, in order; none for an unknown one. */
const targetsIn = (targets: Targets, id: string): readonly Target[] => targets.get(findEngine(id)?.id ?? '') ?? []

const ignore = () => undefined

const randomFraction = (): number => Number.parseInt(randomHex(4), 16) / 2 ** 32

/**
 * The engine settings of this process: those that operators changed at runtime, stored in the database for all nodes,
 * and then those of file and environment. A change makes a new version. Running requests and jobs keep their version.
 * @throws ConfigError when the settings contradict each other
 */
export function createEngineRegistry({ store, settings, masterKey, log }: RegistryDeps) {
  let newest = versionOf(settings, { revision: 0, stored: NOTHING_STORED })
  const current = (): EngineVersion => newest
  const listeners: ((version: EngineVersion) => void)[] = []

  return {
    /** The version of the running request or job. */
    version: (): EngineVersion => sameInWork(refresh, current),
    newest: current,
    refresh,

    /** Calls `listener` with the newest version, and with each next one before anything begins with it. */
    follow(listener: (version: EngineVersion) => void): void {
      listeners.push(listener)
      listener(newest)
    },

    /**
     * The version that these stored settings would give. Throws 400 `validation_error` if they contradict each other.
     */
    with: (stored: StoredEngines): EngineVersion => checkedVersion({ revision: newest.revision, stored }),

    /** Stores model and length of the vectors of `svc-1-embed`, unless they are stored already. */
    fixVectors: (vectors: VectorSpace): Promise<unknown> =>
      change(async (_, { stored }) => ({ kept: { ...stored, vectors: stored.vectors ?? vectors }, answer: null })),

    change,
  }

  /**
   * Changes the stored settings in one transaction with the writes of `unit`. Takes effect after the commit. Throws
   * what `unit` throws, and 400 `validation_error` if the settings contradict each other. Then nothing has changed.
   */
  function change<T>(unit: (tx: Tx, before: EngineVersion) => Promise<{ kept: StoredEngines; answer: T }>): Promise<T> {
    return store.write(async (tx) => {
      const claimed = await storedRepository.claim(tx, masterKey)
      const { kept: stored, answer } = await unit(tx, versionOf(settings, claimed))
      const after = checkedVersion({ revision: claimed.revision, stored })
      await storedRepository.write(tx, masterKey, stored)
      tx.afterCommit(() => use(after))
      return answer
    })
  }

  function checkedVersion(of: Pick<EngineVersion, 'revision' | 'stored'>): EngineVersion {
    try {
      return versionOf(settings, of)
    } catch (error) {
      throw error instanceof ConfigError ? invalidInput('engines', error.problems.join(' ')) : error
    }
  }

  /** Reads changes of other processes. Throws ConfigError if they contradict the settings of this one. */
  async function refresh(): Promise<void> {
    if ((await storedRepository.revision(store.read)) <= newest.revision) return
    const found = await storedRepository.read(store.read, masterKey).catch((error: unknown) => {
      log.error(errorFields(error), 'the engine settings in the database cannot be opened and are not used')
      return null
    })
    if (found) use(versionOf(settings, found))
  }

  function use(version: EngineVersion): void {
    if (version.revision <= newest.revision) return
    for (const listener of listeners) listener(version)
    newest = version
  }
}

/** @throws ConfigError when the settings contradict each other */
function versionOf(
  settings: Settings,
  { revision, stored }: Pick<EngineVersion, 'revision' | 'stored'>,
): EngineVersion {
  const config = readEngineConfig(settings, stored)
  const changed = Object.entries(stored.prices).map(
    ([id, price]) => [id, { ...settings.prices[id], ...price }] as const,
  )
  const configured = { ...settings.prices, ...Object.fromEntries(changed) }
  return { revision, stored, config, prices: { configured, ofUpstreams: upstreamPrices(config) } }
}

/** Checks for changes of other nodes until stopped. */
export function startEngineSettingsLoop({ registry, store, ...own }: LoopDeps): Loop {
  const tick = async () => {
    await registry.refresh()
    return 0
  }
  const loop = startLoop({ name: 'engine-settings', idleMs: () => LOOK_MS, longestNapMs: LONGEST_NAP_MS, tick, ...own })
  store.changes.follow(['engine_settings'], loop.wake)
  return loop
}
