import { type Call, ownerOf } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { createSemaphore } from '../kernel/semaphore'
import type { AddressCheck } from './addresses'
import { AUDIO_ENGINES, ENGINES, IMAGE_ENGINES } from './catalog'
import type { EngineConfig, UpstreamConfig } from './config'
import { VENDOR_URLS, type Vendor } from './drivers/ai-sdk-watched-fetch'
import { type Driver, EngineFailure, type EngineRequest } from './engine'
import type { TargetBreaker } from './health'
import { type Parameter, parametersOf } from './parameters'
import type { Fault, Presence, UpstreamPart } from './parts'

/** How long to wait for a slot before trying the next target. */
const WAIT_MS = 30_000

export type ConcurrencySlots = NonNullable<ReturnType<typeof createConcurrencySlots>>

type Deps = { clock: Pick<Clock, 'after'> }

/** The owner and request behind a call. One owner's failures must not affect other owners (docs/api.md 22.3). */
export type Origin = {
  owner: string
  requestId: string
  /** `stealth`: do not record any content (docs/api.md 2.1). `last`: queue for a slot behind all other calls. */
  stealth?: boolean
  last?: true | undefined
}

export const originOf = ({ caller, requestId, batch: last }: Call, stealth = false): Origin => ({
  owner: ownerOf(caller),
  requestId,
  stealth,
  last,
})

/** Abilities that a request may need and not every engine has (docs/api.md 28.4). */
type Need = 'vision' | 'tools' | 'json' | 'files' | 'audio'

/** Abilities of an engine, as the operator or the upstream states them. Unknown ones are absent. */
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
  /** What it produces. Text, if it produces several things. */
  makes: Makes
  upstream: string
  kind: UpstreamConfig['kind'] | 'builtin'
  model: string
  /** Address of the upstream without user and password, for operators only. */
  address: string
  driver: Driver
  fit: AddressCheck | null
  breaker: TargetBreaker
  fault: Fault
  presence: Presence
  /** Maximum tokens of prompt and answer together. */
  window: number
  /** Maximum tokens of an answer. */
  maxOutputTokens: number
  can: Abilities
  /** Names of the parameters that it supports. */
  parameters: readonly Parameter[]
  /** Takes the abilities that the upstream states. The operator's settings override them. */
  updateAbilities(stated: Abilities): void
  /** Slots for concurrent calls at its upstream; null if there is no limit. */
  slots: ConcurrencySlots | null
  /** Whether it costs the operator nothing, so that the tenant is not charged. */
  free: boolean
}

export type Targets = ReadonlyMap<string, readonly Target[]>

const DEFAULT_WINDOW = 128_000
/** Default maximum of tokens for a model that makes vectors. */
export const VECTOR_WINDOW = 8_192
const DEFAULT_MAX_OUTPUT = 4_096
/** For the built-in engine, which has no limit of its own: more than the longest prompt of the API. */
const BUILTIN_WINDOW = 1_200_000

type Parts = { upstreams: ReadonlyMap<string, UpstreamPart>; builtin: Omit<UpstreamPart, 'slots' | 'fit'> }

/** The targets of each engine. A text engine without any gets the built-in engine, unless that is disabled. */
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
    const { breaker, fault, stated } = part.model(model)
    const baseUrl = upstream.baseUrl ?? VENDOR_URLS[upstream.kind as Vendor]
    const url = URL.parse(baseUrl)
    const target: Target = {
      ...{ id, makes, upstream: name, kind: upstream.kind, model, driver, fit, presence, slots, breaker, fault },
      address: !url ? baseUrl : `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`,
      window: upstream.contextWindow ?? (makes === 'embedding' ? VECTOR_WINDOW : DEFAULT_WINDOW),
      maxOutputTokens: upstream.maxOutputTokens ?? DEFAULT_MAX_OUTPUT,
      ...abilitiesOf(upstream, stated),
      parameters: parametersOf(upstream.kind, upstream.parameters),
      free: false,
    }
    made.set(id, target)
    return target
  }

  return new Map(
    [...ENGINES, ...IMAGE_ENGINES, ...AUDIO_ENGINES].map(({ id, kind }) => {
      // An image engine without its own upstreams uses those of the default image engine.
      const refs = config.targets.get(id) ?? (kind === 'image' ? config.targets.get('svc-1-create') : undefined)
      if (refs) return [id, refs.map(({ upstream, model }) => open(upstream, model, kind))]
      const isBuiltIn = kind === 'text' || (kind === 'image' && builtin.driver.image !== undefined)
      return [id, isBuiltIn && config.builtin ? [builtin] : []]
    }),
  )
}

function builtinTarget({ driver, presence, model }: Parts['builtin']): Target {
  const { breaker, fault, stated } = model('builtin')
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
    ...abilitiesOf({}, stated),
    parameters: parametersOf('builtin'),
    slots: null,
    free: true,
  }
}

function abilitiesOf(
  { vision, tools, json, files = false, audio = false }: Abilities,
  stated: Abilities,
): Pick<Target, 'can' | 'updateAbilities'> {
  const can = {
    vision: vision ?? stated.vision,
    tools: tools ?? stated.tools,
    json: json ?? stated.json,
    ...{ files, audio },
  }
  return {
    can,
    updateAbilities(reported) {
      can.vision = vision ?? reported.vision
      can.tools = tools ?? reported.tools
      can.json = json ?? reported.json
      Object.assign(stated, reported)
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
 * Candidates that may have the needed abilities, in their order. For images, those with known vision come first. An
 * unknown ability counts as present.
 */
export function ableTo<C extends Able>(candidates: readonly C[], needs: readonly Need[]): readonly C[] {
  if (needs.length === 0) return candidates
  const able = candidates.filter(({ target }) => needs.every((need) => target.can[need] !== false))
  if (!needs.includes('vision')) return able
  return able.toSorted((a, b) => Number(b.target.can.vision ?? false) - Number(a.target.can.vision ?? false))
}

/**
 * Names the missing abilities for the caller: those that no candidate has, or else those that no single one combines.
 */
export function missingIn(candidates: readonly Able[], needs: readonly Need[]): string {
  const missing = needs.filter((need) => candidates.every(({ target }) => target.can[need] === false))
  return (missing.length ? missing : needs).map((need) => WORDS[need]).join(' and ')
}

/** The owner of a waiting call. `last`: it runs only when nobody else waits. */
type Waiting = { owner: string; last?: true | undefined }

/**
 * Limits concurrent calls of one upstream (docs/api.md 28.4). Beyond `concurrency` calls wait in the order of arrival,
 * the owner with the fewest running calls first. Null for 0, which means no limit.
 */
export function createConcurrencySlots({ concurrency = 0 }: { concurrency?: number }, { clock }: Deps) {
  if (concurrency === 0) return null
  const semaphore = createSemaphore(concurrency)

  return {
    /** Changes the limit, 0 for none. Running calls continue and count. */
    resize: (max: number): void => semaphore.resize(max || Number.POSITIVE_INFINITY),

    /** Holds a slot during the work. Throws `throttled` when none was free for 30 s, and the signal's reason. */
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
