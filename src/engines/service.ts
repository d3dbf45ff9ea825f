import type { PriceTable } from '../billing/schema'
import { sameInWork } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import { randomHex } from '../kernel/crypto'
import { invalidInput, notFound } from '../kernel/errors'
import { errorFields, type Log } from '../kernel/log'
import { type Loop, startLoop } from '../kernel/loop'
import type { Store, Tx } from '../kernel/store'
import type { Observe, PictureRequest, RunOptions, RunRequest } from './answering'
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
import type { OrderedVideo } from './filming'
import { countFiles, countPrompt, countTokens, type TakePart } from './meter'
import type { Parameter } from './parameters'
import { createPart, createParts } from './parts'
import type { ProviderHealth, UpstreamState } from './probes'
import type { SessionState } from './snapshot'
import { createSnapshot, type Snapshot, type SnapshotDeps } from './snapshot'
import { storedRepository } from './table'
import { type Target, type Targets, VECTOR_WINDOW } from './targets'
import { type TrialCheck, tryTarget } from './trial'

type Settings = EngineSettings & { prices: PriceTable }

/** Everything that is set of engines, as it was at one moment; never changed. */
export type EngineVersion = {
  revision: number
  kept: StoredEngines
  config: EngineConfig
  prices: { own: PriceTable; ofUpstreams: PriceTable }
}

export type EngineRegistry = ReturnType<typeof createEngineRegistry>

type RegistryDeps = { store: Store; settings: Settings; masterKey: Uint8Array; log: Log }

/** How often a node looks for changes that another one made, when it is not told: all see them within a second. */
const LOOK_MS = 500

/** While the database is away. */
const LONGEST_NAP_MS = 2_000

type LoopDeps = { registry: EngineRegistry; store: Store; clock: Clock; onError(name: string, error: unknown): void }

/** What is asked, in which version: that of the running request or job, or the newest. */
type Registry = Pick<EngineRegistry, 'version' | 'newest' | 'follow' | 'fixVectors'>

type Deps = {
  settings: EngineSettings
  /** Where the settings change; without one they stay. */
  registry?: Registry
  clock: Clock
  log: Log
  /** The embedded engine; it answers text modes without an upstream unless the settings turn it off. */
  builtin: Driver
  observe?: Observe
  jitter?: () => number
  lacks?: SnapshotDeps['lacks']
  speaksHere?: boolean
}

export type EngineService = ReturnType<typeof createEngines>

/** Operators and tenants who look again after this get what the upstreams say now. */
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
    // What an operator accepted is no fault any more.
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
    /** The whole answer at once. Throws 503 `engine_unavailable`, 400 for what it cannot take, 404 if unknown. */
    answer: (id: string, request: RunRequest, options?: RunOptions) =>
      now().answering.answer(entryOf(id).id, request, options),
    /** The answer as a stream, given to `take` in parts. Throws what `answer` throws, and what `take` throws. */
    run: (id: string, request: RunRequest, take: TakePart, options?: RunOptions) =>
      now().answering.run(entryOf(id).id, request, take, options),
    /** One picture of an image engine. Throws 503 `engine_unavailable`, 400 for what it refuses, 404 if unknown. */
    image: (id: string, request: PictureRequest) => now().answering.image(imageEntryOf(id).id, request),
    /** Whether the built-in engine makes the pictures of an image engine. */
    drawsItself: (id: string): boolean => now().targets.get(imageEntryOf(id).id)?.[0]?.free ?? false,
    speak: (request: Parameters<Sounding['speak']>[0]) => now().sounding.speak(request),
    transcribe: (request: Parameters<Sounding['transcribe']>[0]) => now().sounding.transcribe(request),
    /** Vectors of `svc-1-embed`; the first answer fixes what they are (docs/api.md 31). Throws as `speak` does. */
    async embed(request: Parameters<Sounding['embed']>[0]) {
      const found = await now().sounding.embed(request)
      if (found.made !== null && !registry.newest().config.vectors)
        await registry.fixVectors({ model: found.model, length: found.made })
      return found
    },
    /** Numbers of a vector of `svc-1-embed` and the model that makes them, as far as both are known. */
    vectorSpace: () => now().vectorSpace(),
    filmmaker: () => now().filming.filmmaker(),
    orderVideo: (request: Parameters<Filming['orderVideo']>[0]) => now().filming.orderVideo(request),
    lookAtVideo: (video: OrderedVideo, signal: AbortSignal) => now().filming.lookAtVideo(video, signal),
    videoContent: (...requests: Parameters<Filming['videoContent']>) => now().filming.videoContent(...requests),
    dropVideo: (video: OrderedVideo) => now().filming.dropVideo(video),
    videoFailed: (...messages: Parameters<Filming['videoFailed']>) => now().filming.videoFailed(...messages),
    /** Whether an upstream speaks, transcribes or makes vectors. */
    hasSound: (id: AudioEngine): boolean => (now().targets.get(id) ?? []).length > 0,
    /** Whether an upstream puts recordings into English. */
    translatesSound: (): boolean =>
      (now().targets.get('svc-1-transcribe') ?? []).some(({ driver }) => driver.translates),
    /** Tokens of one text that the engine of vectors takes. */
    vectorWindow: (): number => now().targets.get('svc-1-embed')?.[0]?.window ?? VECTOR_WINDOW,
    /** What a client calls a model: the engine that an alias stands for, or the word itself (docs/api.md 32.2). */
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
    /** The engine a mode goes to by default; an unknown mode goes to auto. */
    forMode: (mode: string): string => (engineOfMode(mode) ?? entryOf('svc-1-auto')).id,
    describe: (id: string): { id: string; label: string; engine: string } => {
      const known = describedEngine(id)
      if (!known) throw notFound('model')
      return { id: known.id, label: known.label, engine: known.engine }
    },
    /** Tokens of prompt and answer together that the first target accepts; no limit without a target. */
    window: (id: string): number => targetsOf(id)[0]?.window ?? Number.MAX_SAFE_INTEGER,
    /** Names of the parameters of clients that it is sent. */
    parameters: (id: string): readonly Parameter[] => targetsOf(id)[0]?.parameters ?? [],
    maxOutputTokens: (id: string): number => targetsOf(id)[0]?.maxOutputTokens ?? 0,
    /**
     * Whether images go to an engine in a mode that needs none: one of its targets sees them, or none of them does and
     * the next one that can is wanted (docs/api.md 28.4).
     */
    takesImages(id: string): boolean {
      const own = targetsOf(id)
      return own.some(({ can }) => can.vision) || (own.length > 0 && own.every(({ can }) => can.vision === false))
    },
    /** Whether an engine takes files as they are; of `auto` or an unknown word every text engine has to. */
    takes: (kind: 'files' | 'audio', word: string | null | undefined): boolean =>
      enginesOf(word).every((id) => targetsOf(id).length > 0 && targetsOf(id).every(({ can }) => can[kind])),
    /** Whether an engine sees pictures, in a mode that is for them or by what its targets can. */
    sees(word: string | null | undefined): boolean {
      const { id, mode } = findEngine(word ?? '') ?? entryOf('svc-1-auto')
      return SEEING.has(mode) || this.takesImages(id)
    },
    /** Whether tools may be offered to an engine; false only when none of its targets calls any. */
    callsTools: (id: string): boolean =>
      now()
        .answering.abilities(entryOf(id).id)
        .some(({ tools }) => tools !== false),
    isFree: (id: string): boolean => targetsOf(id)[0]?.free ?? false,
    /** Whether anything but the built-in engine is connected (docs/api.md 22.2, stage 4). */
    hasModel: (): boolean => ENGINES.some(({ id }) => targetsOf(id).some(({ free }) => !free)),
    countTokens,
    countPrompt,
    countFiles,
    /**
     * Every listed engine with its status (docs/api.md 5.1), by what is known already. What is old is asked again
     * meanwhile, for who looks again: this waits for no upstream.
     */
    models(): (EngineEntry & SessionState)[] {
      if (clock.monotonic() - requestedAt >= STALE_MS) void askUpstreams()
      return ENGINES.map((entry) => ({ ...entry, ...newest().standing(entry) }))
    },
    /** The engines of vectors, which answer `POST /embeddings` alone (docs/api.md 31). */
    embeddingModels: () => [
      {
        ...describedEngine('svc-1-embed')!,
        description: 'Turns texts into vectors that compare by meaning.',
        status: newest().standing(AUDIO_ENGINES.find(({ id }) => id === 'svc-1-embed')!).status,
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
    /** What `models` says, of the engines of sound too. For operators. */
    standings: (): Map<string, SessionState> =>
      new Map([...ENGINES, ...AUDIO_ENGINES].map((entry) => [entry.id, newest().standing(entry)])),
    probeAll: (): Promise<Record<string, ProviderHealth>> => newest().probes.bySubsystem(),
    askUpstreams,
    /** Grows with every change of a breaker, fault or setting, so that what was probed before is known to be old. */
    changes: (): number => changes,
    test,
    mapping: () => newest().mapping(),
  }

  /** Asks every upstream whether it answers, within 3 s unless said. For operators. Never throws. */
  function askUpstreams(withinMs?: number): Promise<UpstreamState[]> {
    requestedAt = clock.monotonic()
    return newest().probes.ask(withinMs)
  }

  /** Makes real calls to every target of one upstream, of one engine, or of all. For operators. Throws 404. */
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
type Filming = Snapshot['filming']

/** Settings that nobody changes. */
function unchanging(settings: EngineSettings): Registry {
  const only = versionOf({ ...settings, prices: {} }, { revision: 0, kept: NOTHING_STORED })
  return { version: () => only, newest: () => only, follow: (listener) => listener(only), fixVectors: async () => null }
}

/** Modes whose engines see whatever their setting says, and the one that leads to them. */
const SEEING: ReadonlySet<string> = new Set(['auto', 'vision', 'data_extraction', 'domain_analysis'])

/** The engines that may answer a model name. */
function enginesOf(word: string | null | undefined): string[] {
  const entry = findEngine(word ?? '')
  return entry && entry.mode !== 'auto' ? [entry.id] : ENGINES.flatMap(({ id, kind }) => (kind === 'text' ? id : []))
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

/** What a text engine asks, in order; none for an unknown one. */
const targetsIn = (targets: Targets, id: string): readonly Target[] => targets.get(findEngine(id)?.id ?? '') ?? []

const ignore = () => undefined

const randomFraction = (): number => Number.parseInt(randomHex(4), 16) / 2 ** 32

/**
 * The engine settings of this process: those of file and environment, and before them what operators changed while
 * servers ran, which the database keeps for all nodes. A change makes a new version; a request or job continues with
 * the one that it began with.
 * @throws ConfigError when the settings contradict each other
 */
export function createEngineRegistry({ store, settings, masterKey, log }: RegistryDeps) {
  let newest = versionOf(settings, { revision: 0, kept: NOTHING_STORED })
  const listeners: ((version: EngineVersion) => void)[] = []

  return {
    /** The version that this request or job began with. */
    version: (): EngineVersion => sameInWork(refresh, () => newest),
    newest: (): EngineVersion => newest,
    refresh,

    /** Calls `listener` with the newest version, and with each next one before anything begins with it. */
    follow(listener: (version: EngineVersion) => void): void {
      listeners.push(listener)
      listener(newest)
    },

    /** What the settings would be with this kept. Throws 400 `validation_error` for what contradicts itself. */
    with: (stored: StoredEngines): EngineVersion => checkedVersion({ revision: newest.revision, kept: stored }),

    /** Keeps what the vectors of `svc-1-embed` are, unless that is known. */
    fixVectors: (vectors: VectorSpace): Promise<unknown> =>
      change(async (_, { kept }) => ({ kept: { ...kept, vectors: kept.vectors ?? vectors }, answer: null })),

    change,
  }

  /**
   * Changes what is kept, in one unit with what `unit` writes; it is in use here once that is durable. Throws what
   * `unit` throws, and 400 `validation_error` for settings that contradict each other; then nothing has changed.
   */
  function change<T>(unit: (tx: Tx, before: EngineVersion) => Promise<{ kept: StoredEngines; answer: T }>): Promise<T> {
    return store.write(async (tx) => {
      const claimed = await storedRepository.claim(tx, masterKey)
      const { kept: stored, answer } = await unit(tx, versionOf(settings, claimed))
      const after = checkedVersion({ revision: claimed.revision, kept: stored })
      await storedRepository.write(tx, masterKey, stored)
      tx.afterCommit(() => use(after))
      return answer
    })
  }

  function checkedVersion(of: Pick<EngineVersion, 'revision' | 'kept'>): EngineVersion {
    try {
      return versionOf(settings, of)
    } catch (error) {
      throw error instanceof ConfigError ? invalidInput('engines', error.problems.join(' ')) : error
    }
  }

  /** Reads what another process changed. Throws ConfigError where that contradicts the settings of this one. */
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
  { revision, kept: stored }: Pick<EngineVersion, 'revision' | 'kept'>,
): EngineVersion {
  const config = readEngineConfig(settings, stored)
  const changed = Object.entries(stored.prices).map(
    ([id, price]) => [id, { ...settings.prices[id], ...price }] as const,
  )
  const own = { ...settings.prices, ...Object.fromEntries(changed) }
  return { revision, kept: stored, config, prices: { own, ofUpstreams: upstreamPrices(config) } }
}

/** Looks for changes of other nodes until stopped. */
export function startEngineSettingsLoop({ registry, store, ...own }: LoopDeps): Loop {
  const tick = async () => {
    await registry.refresh()
    return 0
  }
  const loop = startLoop({ name: 'engine-settings', idleMs: () => LOOK_MS, longestNapMs: LONGEST_NAP_MS, tick, ...own })
  store.changes.follow(['engine_settings'], loop.wake)
  return loop
}
