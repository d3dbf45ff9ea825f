import type { Clock } from '../kernel/clock'
import type { UpstreamConfig } from './config'
import { EngineFailure, type EngineRequest, type Sampling } from './engine'

/** Parameter names that clients send, with the request member of each (docs/api.md 33.2). */
const MEMBERS = {
  top_p: 'topP',
  top_k: 'topK',
  seed: 'seed',
  stop: 'stop',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  logit_bias: 'logitBias',
  verbosity: 'verbosity',
  logprobs: 'logprobs',
  prompt_cache_key: 'cacheKey',
  prompt_cache_retention: 'cacheRetention',
  cache_control: 'cacheMarks',
} as const satisfies Record<string, keyof Sampling>

export type Parameter = keyof typeof MEMBERS | 'reasoning_effort'

const PARAMETERS: readonly Parameter[] = [...(Object.keys(MEMBERS) as (keyof typeof MEMBERS)[]), 'reasoning_effort']

const OF_KIND: Record<UpstreamConfig['kind'] | 'builtin', readonly Parameter[]> = {
  compat: PARAMETERS.filter((name) => name !== 'top_k' && name !== 'cache_control'),
  anthropic: ['top_p', 'top_k', 'stop', 'reasoning_effort', 'cache_control'],
  google: ['top_p', 'top_k', 'seed', 'stop', 'frequency_penalty', 'presence_penalty', 'reasoning_effort'],
  openai: ['top_p', 'reasoning_effort', 'prompt_cache_key', 'prompt_cache_retention'],
  builtin: [],
}

/** Caching parameters. They never change an answer, so an engine may ignore them silently (docs/api.md 29.1). */
export const CACHING: ReadonlySet<Parameter> = new Set(['prompt_cache_key', 'prompt_cache_retention', 'cache_control'])

type Tuned = Pick<EngineRequest, 'sampling' | 'effort'>

/** Parameters that an upstream supports: those of its setting, else those of its kind. */
export const parametersOf = (kind: keyof typeof OF_KIND, named?: readonly string[]): readonly Parameter[] =>
  named ? PARAMETERS.filter((name) => named.includes(name)) : OF_KIND[kind]

/** Names of the parameters in a request. */
export const parametersIn = ({ sampling, effort }: Tuned): Parameter[] =>
  PARAMETERS.filter((name) => (name === 'reasoning_effort' ? effort : sampling?.[MEMBERS[name]]) !== undefined)

/** Removes the parameters that are not in `sent`. */
function onlySending<R extends Tuned>(request: R, sent: readonly Parameter[]): R {
  const left = parametersIn(request).filter((name) => !sent.includes(name))
  if (left.length === 0) return request
  const { sampling, effort, ...rest } = request
  const members = left.map((name) => (name === 'reasoning_effort' ? null : MEMBERS[name]))
  const chosen = Object.fromEntries(
    Object.entries(sampling ?? {}).filter(([member]) => !members.includes(member as never)),
  )
  return { ...rest, sampling: chosen, ...(effort && !members.includes(null) ? { effort } : {}) } as unknown as R
}

type Target = { id: string; parameters: readonly Parameter[] }

const HOUR_MS = 60 * 60_000

/** Remembers for an hour which parameters a target refused by name. */
export function createRefusedParameters(clock: Pick<Clock, 'monotonic'>) {
  const until = new Map<string, number>()
  const keyOf = (target: string, name: Parameter) => `${target} ${name}`
  return {
    /** Sends a request with the parameters that the target supports. Retries without one that it refuses by name. */
    async without<R extends Tuned, T>(target: Target, request: R, send: (request: R) => Promise<T>): Promise<T> {
      const own = onlySending(request, left(target))
      try {
        return await send(own)
      } catch (error) {
        // The parameter that the target refused by name.
        const words = error instanceof EngineFailure ? error.rejection?.words.split(/[^a-z_]|top_(?=logprobs)/) : []
        const name = parametersIn(own).find((one) => words?.includes(one))
        if (!name) throw error
        until.set(keyOf(target.id, name), clock.monotonic() + HOUR_MS)
        return await send(onlySending(own, left(target)))
      }
    },
  }

  function left({ id, parameters }: Target): readonly Parameter[] {
    if (until.size === 0) return parameters
    return parameters.filter((name) => (until.get(keyOf(id, name)) ?? 0) <= clock.monotonic())
  }
}
