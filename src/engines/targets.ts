import { readFileSync } from 'node:fs'
import type { Clock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import type { Log } from '../kernel/log'
import { AUDIO_ENGINES, ENGINES, IMAGE_ENGINES } from './catalog'
import { type ConcurrencySlots, createConcurrencySlots } from './concurrency'
import type { EngineConfig } from './config'
import { createAiSdkDriver } from './drivers/ai-sdk/client'
import { VENDOR_URLS, type Vendor } from './drivers/ai-sdk/vendors'
import { createCompatDriver } from './drivers/compat/client'
import { createCompatSpeech } from './drivers/compat/speech'
import { createCompatTranscription } from './drivers/compat/transcription'
import { createCompatVideos } from './drivers/compat/videos'
import { type Driver, EngineFailure } from './engine'
import type { Abilities } from './needs'
import { createTargetBreaker, type TargetBreaker } from './target-breaker'
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
  breaker: TargetBreaker
  fault: Fault
  /** Most tokens of prompt and answer together. */
  window: number
  /** Most tokens of an answer. */
  maxOutputTokens: number
  can: Abilities
  /** What the upstream said of the model when it was last asked; what the operator says counts more. */
  told(said: Abilities): void
  /** The slots of its upstream, for calls of owners; null where there are as many as come. */
  slots: ConcurrencySlots | null
  /** Costs the operator nothing, so it costs the tenant nothing. */
  free: boolean
}

/** Why a target refuses us, which only the operator can mend: its key or its model. It lasts until it answers again. */
type Fault = { now(): string | null; found(why: string): void; gone(): void }

export type Targets = ReadonlyMap<string, readonly Target[]>

const DEFAULT_WINDOW = 128_000
const DEFAULT_MAX_OUTPUT = 4_096
/** The built-in engine has no window of its own; this is more than the longest prompt the API takes. */
const BUILTIN_WINDOW = 1_200_000

/** `changed` is called after every change of a breaker or a fault. */
type Deps = { clock: Clock; log: Log; builtin: Driver; changed(): void }

const PROBE_TIMEOUT_MS = 3_000

/** Opens every configured target; a text engine without one gets the built-in engine, unless that is off. */
export function createTargets(config: EngineConfig, deps: Deps): Targets {
  const drivers = new Map([...config.upstreams].map(([name, upstream]) => [name, createDriver(name, upstream, deps)]))
  const slots = new Map([...config.upstreams].map(([name, upstream]) => [name, createConcurrencySlots(upstream, deps)]))
  const made = new Map<string, Target>()
  const builtin = createBuiltinTarget(deps)

  const open = (name: string, model: string, makes: Makes): Target => {
    const id = `${name}:${model}`
    const known = made.get(id)
    if (known && makes === 'text') known.makes = makes
    if (known) return known
    const upstream = config.upstreams.get(name)!
    const target: Target = {
      id,
      makes,
      upstream: name,
      kind: upstream.kind,
      model,
      address: addressOf(upstream),
      driver: drivers.get(name)!,
      breaker: breakerOf(id, drivers.get(name)!, deps),
      fault: faultOf(deps),
      window: upstream.contextWindow ?? DEFAULT_WINDOW,
      maxOutputTokens: upstream.maxOutputTokens ?? DEFAULT_MAX_OUTPUT,
      ...abilitiesOf(upstream),
      slots: slots.get(name)!,
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
      const isBuiltIn = kind === 'text' || (kind === 'image' && deps.builtin.image !== undefined)
      return [id, isBuiltIn && config.builtin ? [builtin] : []]
    }),
  )
}

/** The breaker of a target: every change of it is a line of the log (contract 22.3). */
function breakerOf(target: string, driver: Driver, { clock, log, changed }: Deps): TargetBreaker {
  return createTargetBreaker({
    clock,
    answers: () => isThere(driver),
    changed({ state, owner, why }) {
      const whose = owner === null ? 'all' : owner
      log[state === 'open' ? 'warn' : 'info']({ target, breaker: state, owners: whose, why }, `engine breaker ${state}`)
      changed()
    },
  })
}

function faultOf({ changed }: Deps): Fault {
  let fault: string | null = null
  const become = (next: string | null) => {
    if (fault === next) return
    fault = next
    changed()
  }
  return { now: () => fault, found: become, gone: () => become(null) }
}

/** An upstream that refuses the probe itself is there: its calls tell what is wrong with its key or address. */
async function isThere(driver: Driver): Promise<boolean> {
  try {
    await driver.probe(AbortSignal.timeout(PROBE_TIMEOUT_MS))
    return true
  } catch (error) {
    return error instanceof EngineFailure && ['config', 'rejected', 'throttled'].includes(error.kind)
  }
}

function createBuiltinTarget(deps: Deps): Target {
  const driver = deps.builtin
  return {
    id: 'builtin:builtin',
    makes: 'text',
    upstream: 'builtin',
    kind: 'builtin',
    model: 'builtin',
    address: 'built-in',
    driver,
    breaker: breakerOf('builtin:builtin', driver, deps),
    fault: faultOf(deps),
    window: BUILTIN_WINDOW,
    maxOutputTokens: DEFAULT_MAX_OUTPUT,
    ...abilitiesOf({}),
    slots: null,
    free: true,
  }
}

function abilitiesOf({ vision, tools, json }: Abilities): Pick<Target, 'can' | 'told'> {
  const can = { vision, tools, json }
  return {
    can,
    told(said) {
      can.vision = vision ?? said.vision
      can.tools = tools ?? said.tools
      can.json = json ?? said.json
    },
  }
}

function addressOf({ kind, baseUrl }: UpstreamConfig): string {
  const given = baseUrl ?? VENDOR_URLS[kind as Vendor]
  const url = URL.parse(given)
  return !url ? given : `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`
}

function createDriver(name: string, upstream: UpstreamConfig, { clock }: Pick<Deps, 'clock'>): Driver {
  const apiKey = readKey(name, upstream)
  const { timeoutMs, silenceMs, headers } = upstream
  const shared = { apiKey, clock, timeoutMs, silenceMs, headers: lowerCased(headers) }
  if (upstream.kind !== 'compat') {
    const driver = createAiSdkDriver({ ...shared, vendor: upstream.kind, baseUrl: upstream.baseUrl ?? null })
    if (upstream.kind !== 'openai') return driver
    const called = { ...shared, baseUrl: upstream.baseUrl ?? VENDOR_URLS.openai }
    return {
      ...driver,
      ...createCompatSpeech(called),
      ...createCompatTranscription(called),
      ...createCompatVideos(called),
    }
  }
  return createCompatDriver({
    ...shared,
    baseUrl: upstream.baseUrl!,
    outputLimitField: upstream.outputLimitField ?? 'max_tokens',
    imageEdits: upstream.imageEdits,
  })
}

const lowerCased = (headers: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

function readKey(name: string, { apiKey, apiKeyFile }: UpstreamConfig): string | null {
  if (!apiKeyFile) return apiKey || null
  try {
    return readFileSync(apiKeyFile, 'utf8').trim() || null
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new ConfigError([`engines.upstreams.${name}.apiKeyFile: ${apiKeyFile} cannot be read (${why}).`])
  }
}
