import type { Clock } from '../kernel/clock'
import { createSemaphore } from '../kernel/semaphore'
import type { Fit } from './addresses'
import type { EngineConfig, UpstreamConfig } from './config'
import { VENDOR_URLS, type Vendor } from './drivers/ai-sdk-watched-fetch'
import { type Driver, EngineFailure, type EngineRequest } from './engine'
import type { Fault, Presence, UpstreamPart } from './parts'
import type { TargetBreaker } from './target-breaker'

export type Subsystem = 'svc-core' | 'svc-vision' | 'svc-search'

/** One engine as tenants see it (contract 5.1); never names the upstream behind it. */
export type EngineEntry = {
  id: string
  mode: string
  label: string
  engine: Subsystem
  description: string
  /** The engine that answers when this one fails (contract 22.3). */
  fallback: string | null
  /** What it produces; a text engine without an upstream is answered by the built-in driver. */
  kind: 'text' | 'image' | 'video'
}

const text = (
  id: string,
  mode: string,
  label: string,
  engine: Subsystem,
  fallback: string | null,
  description: string,
): EngineEntry => ({ id, mode, label, engine, description, fallback, kind: 'text' })

/** The twelve engines of contract 5.1, in its order. */
export const ENGINES: readonly EngineEntry[] = [
  text('svc-1-auto', 'auto', 'Svc Auto', 'svc-core', null, 'Reads the prompt and picks the mode that fits it.'),
  text('svc-1-flash', 'fast', 'Svc Flash', 'svc-core', 'svc-1-reason', 'Quick answers to everyday questions.'),
  text('svc-1-reason', 'think', 'Svc Reason', 'svc-core', 'svc-1-flash', 'Slower, careful answers to hard questions.'),
  text('svc-1-code', 'code', 'Svc Code', 'svc-core', 'svc-1-reason', 'Writes, explains and repairs code.'),
  {
    id: 'svc-1-create',
    mode: 'image',
    label: 'Svc Create',
    engine: 'svc-vision',
    description: 'Makes pictures from a description.',
    fallback: 'svc-1-rapid',
    kind: 'image',
  },
  {
    id: 'svc-1-motion',
    mode: 'video',
    label: 'Svc Motion',
    engine: 'svc-vision',
    description: 'Makes short videos from a description.',
    fallback: null,
    kind: 'video',
  },
  text(
    'svc-1-research',
    'research',
    'Svc Research',
    'svc-search',
    'svc-1-reason',
    'Gathers sources and reports on them.',
  ),
  text('svc-1-roast', 'roast', 'Svc Roast', 'svc-core', 'svc-1-flash', 'Honest feedback with a sense of humour.'),
  text('svc-1-genui', 'genui', 'Svc GenUI', 'svc-core', 'svc-1-code', 'Writes user interface components.'),
  text(
    'svc-1-analyze',
    'domain_analysis',
    'Svc Analyze',
    'svc-core',
    'svc-1-reason',
    'Breaks a subject down into structured findings.',
  ),
  text(
    'svc-1-extract',
    'data_extraction',
    'Svc Extract',
    'svc-vision',
    'svc-1-vision',
    'Turns text and pictures into structured data.',
  ),
  text('svc-1-vision', 'vision', 'Svc Vision', 'svc-vision', 'svc-1-extract', 'Answers questions about pictures.'),
]

const image = (id: string, label: string, description: string): EngineEntry => ({
  id,
  mode: 'image',
  label,
  engine: 'svc-vision',
  description,
  fallback: 'svc-1-create',
  kind: 'image',
})

/** What `image_model` may name besides the engine of the mode; not listed (contract 5.1). */
export const IMAGE_ENGINES: readonly EngineEntry[] = [
  image('svc-1-photo', 'Svc Photo', 'Pictures that look photographed.'),
  image('svc-1-rapid', 'Svc Rapid', 'Quick pictures.'),
  image('svc-1-design', 'Svc Design', 'Posters, icons and layouts.'),
  image('svc-1-studio', 'Svc Studio', 'Carefully finished pictures.'),
  image('svc-1-type', 'Svc Type', 'Pictures with lettering.'),
]

const ALIASES = new Map([['svc-1-edge', 'svc-1-roast']])

const BY_ID = new Map(ENGINES.map((entry) => [entry.id, entry]))

const BY_MODE = new Map(ENGINES.map((entry) => [entry.mode, entry]))

/** Stealth modes have no engine of their own; each uses the engine of another mode. */
const STEALTH = new Map([
  ['stealth_text', 'svc-1-flash'],
  ['stealth_image', 'svc-1-create'],
  ['stealth_video', 'svc-1-motion'],
])

/** The engine of this id or alias; null for anything else, `constructor` included. */
export const findEngine = (id: string): EngineEntry | null => BY_ID.get(ALIASES.get(id) ?? id) ?? null

const IMAGE_BY_ID = new Map([...ENGINES, ...IMAGE_ENGINES].filter(({ kind }) => kind === 'image').map((e) => [e.id, e]))

/** The engine that makes pictures under this id; null for any other word. */
export const findImageEngine = (id: string): EngineEntry | null => IMAGE_BY_ID.get(id) ?? null

/** The engine a mode goes to by default; null for a word that is no mode. */
export const engineOfMode = (mode: string): EngineEntry | null =>
  BY_MODE.get(mode) ?? findEngine(STEALTH.get(mode) ?? '')

/** Engines of sound. No mode of a completion goes to them and `/models` does not list them (contract 6). */
export const AUDIO_ENGINES = [
  { id: 'svc-1-voice', label: 'Svc Voice', engine: 'svc-voice', mode: 'tts', kind: 'speech' },
  { id: 'svc-1-transcribe', label: 'Svc Transcribe', engine: 'svc-voice', mode: 'stt', kind: 'transcription' },
] as const

export type AudioEngine = (typeof AUDIO_ENGINES)[number]['id']

type Described = { id: string; label: string; engine: string }

const OF_SOUND = new Map<string, Described>(AUDIO_ENGINES.map((entry) => [entry.id, entry]))

/** Any engine, listed or not, as events and answers name it; null for any other word. */
export const describedEngine = (id: string): Described | null =>
  findEngine(id) ?? findImageEngine(id) ?? OF_SOUND.get(id) ?? null

/** Longest wait for a slot; then the next target is asked. */
const WAIT_MS = 30_000

export type ConcurrencySlots = NonNullable<ReturnType<typeof createConcurrencySlots>>

type Deps = { clock: Pick<Clock, 'after'> }

/** What a request may need that not every engine can (contract 28.4). */
type Need = 'vision' | 'tools' | 'json'

/** What an engine can: true or false where the operator says so or the upstream does, else absent. */
export type Abilities = { readonly [N in Need]?: boolean | undefined }

type Able = { target: { can: Abilities } }

const hasImage = ({ content }: EngineRequest['messages'][number]): boolean =>
  typeof content !== 'string' && content.some(({ type }) => type === 'image')

const WORDS = { vision: 'images', tools: 'tools', json: 'JSON output' }

type Makes = (typeof ENGINES)[number]['kind'] | (typeof AUDIO_ENGINES)[number]['kind']

/** One model at one upstream, with its own circuit breaker. */
export type Target = {
  /** `upstream:model`, for operators only. */
  id: string
  /** What it is asked for; of several things, text. */
  makes: Makes
  upstream: string
  kind: UpstreamConfig['kind'] | 'builtin'
  model: string
  /** Where the upstream is, without user or password; for operators only. */
  address: string
  driver: Driver
  fit: Fit | null
  breaker: TargetBreaker
  fault: Fault
  presence: Presence
  /** Most tokens of prompt and answer together. */
  window: number
  /** Most tokens of an answer. */
  maxOutputTokens: number
  can: Abilities
  /** What the upstream said of the model when it was last asked; what the operator says counts more. */
  notify(message: Abilities): void
  /** The slots of its upstream, for calls of owners; null where there are as many as come. */
  slots: ConcurrencySlots | null
  /** Costs the operator nothing, so it costs the tenant nothing. */
  free: boolean
}

export type Targets = ReadonlyMap<string, readonly Target[]>

const DEFAULT_WINDOW = 128_000
const DEFAULT_MAX_OUTPUT = 4_096
/** The built-in engine has no window of its own; this is more than the longest prompt the API takes. */
const BUILTIN_WINDOW = 1_200_000

type Parts = { upstreams: ReadonlyMap<string, UpstreamPart>; builtin: Omit<UpstreamPart, 'slots' | 'fit'> }

/** The configured targets of each engine; a text engine without one gets the built-in engine, unless that is off. */
export function createTargets(config: EngineConfig, parts: Parts): Targets {
  const made = new Map<string, Target>()
  const builtin = builtinTarget(parts.builtin)

  const open = (name: string, model: string, makes: Makes): Target => {
    const id = `${name}:${model}`
    const known = made.get(id)
    if (known && makes === 'text') known.makes = makes
    if (known) return known
    const upstream = config.upstreams.get(name)!
    const { driver, fit, presence, slots, ...part } = parts.upstreams.get(name)!
    const { breaker, fault, said: message } = part.model(model)
    const given = upstream.baseUrl ?? VENDOR_URLS[upstream.kind as Vendor]
    const url = URL.parse(given)
    const target: Target = {
      ...{ id, makes, upstream: name, kind: upstream.kind, model, driver, fit, presence, slots, breaker, fault },
      address: !url ? given : `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`,
      window: upstream.contextWindow ?? DEFAULT_WINDOW,
      maxOutputTokens: upstream.maxOutputTokens ?? DEFAULT_MAX_OUTPUT,
      ...abilitiesOf(upstream, message),
      free: false,
    }
    made.set(id, target)
    return target
  }

  return new Map(
    [...ENGINES, ...IMAGE_ENGINES, ...AUDIO_ENGINES].map(({ id, kind }) => {
      // An image engine without upstreams of its own is answered by those of the mode.
      const refs = config.targets.get(id) ?? (kind === 'image' ? config.targets.get('svc-1-create') : undefined)
      if (refs) return [id, refs.map(({ upstream, model }) => open(upstream, model, kind))]
      const isBuiltIn = kind === 'text' || (kind === 'image' && builtin.driver.image !== undefined)
      return [id, isBuiltIn && config.builtin ? [builtin] : []]
    }),
  )
}

function builtinTarget({ driver, presence, model }: Parts['builtin']): Target {
  const { breaker, fault, said: message } = model('builtin')
  return {
    ...{ driver, fit: null, presence, breaker, fault },
    id: 'builtin:builtin',
    makes: 'text',
    upstream: 'builtin',
    kind: 'builtin',
    model: 'builtin',
    address: 'built-in',
    window: BUILTIN_WINDOW,
    maxOutputTokens: DEFAULT_MAX_OUTPUT,
    ...abilitiesOf({}, message),
    slots: null,
    free: true,
  }
}

function abilitiesOf({ vision, tools, json }: Abilities, message: Abilities): Pick<Target, 'can' | 'notify'> {
  const can = { vision: vision ?? message.vision, tools: tools ?? message.tools, json: json ?? message.json }
  return {
    can,
    notify(found) {
      can.vision = vision ?? found.vision
      can.tools = tools ?? found.tools
      can.json = json ?? found.json
      Object.assign(message, found)
    },
  }
}

export function needsOf({ messages, tools, json }: Pick<EngineRequest, 'messages' | 'tools' | 'json'>): Need[] {
  const needs: Need[] = []
  if (messages.some(hasImage)) needs.push('vision')
  if (tools?.length) needs.push('tools')
  if (json) needs.push('json')
  return needs
}

/**
 * Those that can do what is needed, in their order; for images those that are known to see go first. Where nothing
 * is known of one, it is tried.
 */
export function ableTo<C extends Able>(candidates: readonly C[], needs: readonly Need[]): readonly C[] {
  if (needs.length === 0) return candidates
  const able = candidates.filter(({ target }) => needs.every((need) => target.can[need] !== false))
  if (!needs.includes('vision')) return able
  return able.toSorted((a, b) => Number(b.target.can.vision ?? false) - Number(a.target.can.vision ?? false))
}

/** What is missing, in words for the caller: what none of them can, or else what no single one can together. */
export function missingIn(candidates: readonly Able[], needs: readonly Need[]): string {
  const missing = needs.filter((need) => candidates.every(({ target }) => target.can[need] === false))
  return (missing.length ? missing : needs).map((need) => WORDS[need]).join(' and ')
}

/**
 * Bounds the calls of one upstream (contract 28.4): beyond `concurrency` they wait in the order of their arrival, the
 * owner with the fewest calls first. Null for 0 or nothing, which is no bound.
 */
export function createConcurrencySlots({ concurrency = 0 }: { concurrency?: number }, { clock }: Deps) {
  if (concurrency === 0) return null
  const semaphore = createSemaphore(concurrency)

  return {
    /** Another bound, 0 for none: what runs goes on, and counts. */
    resize: (max: number): void => semaphore.resize(max || Number.POSITIVE_INFINITY),

    /** Has a slot during the work. Throws `throttled` when none was free for 30 s, and the caller's own reason. */
    async hold<T>(owner: string | undefined, caller: AbortSignal, work: () => Promise<T>): Promise<T> {
      const free = await enter(owner, caller)
      try {
        return await work()
      } finally {
        free()
      }
    },

    /** The same until the stream ends or its reader leaves. */
    async *holdStream<T>(owner: string | undefined, caller: AbortSignal, open: () => AsyncGenerator<T>) {
      const free = await enter(owner, caller)
      try {
        yield* open()
      } finally {
        free()
      }
    },
  }

  async function enter(owner: string | undefined, caller: AbortSignal): Promise<() => void> {
    const tired = new AbortController()
    const full = new EngineFailure('throttled', `no slot was free for ${WAIT_MS / 1_000} s`)
    const disarm = clock.after(WAIT_MS, () => tired.abort(full))
    try {
      return await semaphore.enter(owner ?? '', AbortSignal.any([caller, tired.signal]))
    } finally {
      disarm()
    }
  }
}
