import type { Clock } from '../kernel/clock'
import { createSemaphore } from '../kernel/semaphore'
import type { Fit } from './addresses'
import { AUDIO_ENGINES, ENGINES, IMAGE_ENGINES } from './catalog'
import type { EngineConfig, UpstreamConfig } from './config'
import { VENDOR_URLS, type Vendor } from './drivers/ai-sdk-watched-fetch'
import { type Driver, EngineFailure, type EngineRequest } from './engine'
import type { TargetBreaker } from './health'
import { type Parameter, parametersOf } from './parameters'
import type { Fault, Presence, UpstreamPart } from './parts'

/** Longest wait for a slot; then the next target is asked. */
const WAIT_MS = 30_000

export type ConcurrencySlots = NonNullable<ReturnType<typeof createConcurrencySlots>>

type Deps = { clock: Pick<Clock, 'after'> }

/** What a request may need that not every engine can (docs/api.md 28.4). */
type Need = 'vision' | 'tools' | 'json' | 'files' | 'audio'

/** What an engine can: true or false where the operator says so or the upstream does, else absent. */
export type Abilities = { readonly [N in Need]?: boolean | undefined }

type Able = { target: { can: Abilities } }

const hasImage = ({ content }: EngineRequest['messages'][number]): boolean =>
  typeof content !== 'string' && content.some(({ type }) => type === 'image')

const WORDS = { vision: 'images', tools: 'tools', json: 'JSON output', files: 'documents', audio: 'recordings' }

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
  /** Names of the parameters that it is sent. */
  parameters: readonly Parameter[]
  /** What the upstream said of the model when it was last asked; what the operator says counts more. */
  notify(message: Abilities): void
  /** The slots of its upstream, for calls of owners; null where there are as many as come. */
  slots: ConcurrencySlots | null
  /** Costs the operator nothing, so it costs the tenant nothing. */
  free: boolean
}

export type Targets = ReadonlyMap<string, readonly Target[]>

const DEFAULT_WINDOW = 128_000
/** The same of a model that makes vectors. */
export const VECTOR_WINDOW = 8_192
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
      window: upstream.contextWindow ?? (makes === 'embedding' ? VECTOR_WINDOW : DEFAULT_WINDOW),
      maxOutputTokens: upstream.maxOutputTokens ?? DEFAULT_MAX_OUTPUT,
      ...abilitiesOf(upstream, message),
      parameters: parametersOf(upstream.kind, upstream.parameters),
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
    parameters: parametersOf('builtin'),
    slots: null,
    free: true,
  }
}

function abilitiesOf(
  { vision, tools, json, files = false, audio = false }: Abilities,
  message: Abilities,
): Pick<Target, 'can' | 'notify'> {
  const can = {
    vision: vision ?? message.vision,
    tools: tools ?? message.tools,
    json: json ?? message.json,
    ...{ files, audio },
  }
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

type Asking = Pick<EngineRequest, 'messages' | 'tools' | 'json' | 'files'>

export function needsOf({ messages, tools, json, files }: Asking): Need[] {
  const needs: Need[] = []
  if (messages.some(hasImage)) needs.push('vision')
  if (tools?.length) needs.push('tools')
  if (json) needs.push('json')
  for (const { type, whole } of files ?? []) if (whole) needs.push(type)
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

/** Whose turn a call takes; `last`: only when nobody else waits. */
type Waiting = { owner: string; last?: true | undefined }

/**
 * Bounds the calls of one upstream (docs/api.md 28.4): beyond `concurrency` they wait in the order of their arrival,
 * the owner with the fewest calls first. Null for 0 or nothing, which is no bound.
 */
export function createConcurrencySlots({ concurrency = 0 }: { concurrency?: number }, { clock }: Deps) {
  if (concurrency === 0) return null
  const semaphore = createSemaphore(concurrency)

  return {
    /** Another bound, 0 for none: what runs continues, and counts. */
    resize: (max: number): void => semaphore.resize(max || Number.POSITIVE_INFINITY),

    /** Has a slot during the work. Throws `throttled` when none was free for 30 s, and the caller's own reason. */
    async hold<T>(origin: Waiting | undefined, caller: AbortSignal, work: () => Promise<T>): Promise<T> {
      const free = await (origin?.last ? semaphore.enter(origin.owner, caller, true) : enter(origin?.owner, caller))
      try {
        return await work()
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
