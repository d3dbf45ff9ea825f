import type { Fit } from './addresses'
import { AUDIO_ENGINES, ENGINES, IMAGE_ENGINES } from './catalog'
import type { ConcurrencySlots } from './concurrency'
import type { EngineConfig } from './config'
import { VENDOR_URLS, type Vendor } from './drivers/ai-sdk-vendors'
import type { Driver } from './engine'
import type { Abilities } from './needs'
import type { Fault, Presence, UpstreamPart } from './parts'
import type { TargetBreaker } from './target-breaker'
import type { UpstreamConfig } from './upstream'

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
