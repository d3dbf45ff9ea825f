import { readFileSync } from 'node:fs'
import type { Clock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import { type Breaker, createBreaker } from './breaker'
import { ENGINES } from './catalog'
import type { EngineConfig, UpstreamConfig } from './config'
import { createAiSdkDriver } from './drivers/ai-sdk/client'
import { createBuiltinDriver } from './drivers/builtin/client'
import { createCompatDriver } from './drivers/compat/client'
import type { Driver } from './engine'

/** One model at one upstream, with its own circuit breaker. */
export type Target = {
  /** `upstream:model`, for operators only. */
  id: string
  upstream: string
  kind: UpstreamConfig['kind'] | 'builtin'
  model: string
  driver: Driver
  breaker: Breaker
  /** Most tokens of prompt and answer together. */
  window: number
  /** Most tokens of an answer. */
  maxOutputTokens: number
  /** Costs the operator nothing, so it costs the tenant nothing. */
  free: boolean
}

export type Targets = ReadonlyMap<string, readonly Target[]>

const DEFAULT_WINDOW = 128_000
const DEFAULT_MAX_OUTPUT = 4_096
/** The built-in engine has no window of its own; this is more than the longest prompt the API takes. */
const BUILTIN_WINDOW = 1_200_000

type Deps = { clock: Clock }

/** Opens every configured target; a text engine without one gets the built-in engine, unless that is off. */
export function createTargets(config: EngineConfig, deps: Deps): Targets {
  const drivers = new Map([...config.upstreams].map(([name, upstream]) => [name, createDriver(name, upstream, deps)]))
  const made = new Map<string, Target>()
  const builtin = createBuiltinTarget(deps)

  const open = (name: string, model: string): Target => {
    const id = `${name}:${model}`
    const known = made.get(id)
    if (known) return known
    const upstream = config.upstreams.get(name)!
    const target: Target = {
      id,
      upstream: name,
      kind: upstream.kind,
      model,
      driver: drivers.get(name)!,
      breaker: createBreaker(deps.clock),
      window: upstream.contextWindow ?? DEFAULT_WINDOW,
      maxOutputTokens: upstream.maxOutputTokens ?? DEFAULT_MAX_OUTPUT,
      free: false,
    }
    made.set(id, target)
    return target
  }

  return new Map(
    ENGINES.map(({ id, kind }) => {
      const refs = config.targets.get(id)
      if (refs) return [id, refs.map(({ upstream, model }) => open(upstream, model))]
      return [id, kind === 'text' && config.builtin ? [builtin] : []]
    }),
  )
}

function createBuiltinTarget({ clock }: Deps): Target {
  return {
    id: 'builtin:builtin',
    upstream: 'builtin',
    kind: 'builtin',
    model: 'builtin',
    driver: createBuiltinDriver({ clock }),
    breaker: createBreaker(clock),
    window: BUILTIN_WINDOW,
    maxOutputTokens: DEFAULT_MAX_OUTPUT,
    free: true,
  }
}

function createDriver(name: string, upstream: UpstreamConfig, { clock }: Deps): Driver {
  const apiKey = readKey(name, upstream)
  const { timeoutMs, silenceMs } = upstream
  const shared = { apiKey, clock, timeoutMs, silenceMs }
  if (upstream.kind !== 'compat') {
    return createAiSdkDriver({ ...shared, vendor: upstream.kind, baseUrl: upstream.baseUrl ?? null })
  }
  return createCompatDriver({
    ...shared,
    baseUrl: upstream.baseUrl!,
    outputLimitField: upstream.outputLimitField ?? 'max_tokens',
  })
}

function readKey(name: string, { apiKey, apiKeyFile }: UpstreamConfig): string | null {
  if (!apiKeyFile) return apiKey || null
  try {
    return readFileSync(apiKeyFile, 'utf8').trim() || null
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new ConfigError([`engines.upstreams.${name}.apiKeyFile: ${apiKeyFile} cannot be read (${why}).`])
  }
}
