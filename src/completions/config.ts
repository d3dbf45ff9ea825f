import { setting } from '../kernel/config'
import { t } from '../kernel/schema'
import { defaultTtlS } from './rules'
import { MODES } from './schema'

const ttlName = (mode: string) => `cacheTtl_${mode}`

/** Settings of the completions room (contract 22.1). */
export const completionSettings = {
  cacheEnabled: setting({
    env: 'SVC_CACHE_ENABLED',
    schema: t.Boolean(),
    default: true,
    about: 'Serve identical requests from memory at no cost.',
  }),
  cacheMaxMb: setting({
    env: 'SVC_CACHE_MAX_MB',
    schema: t.Integer({ minimum: 1, maximum: 65_536 }),
    default: 64,
    about:
      'Megabytes of memory for cached answers; one user, or one key of an organization, gets at most an eighth of it.',
  }),
  cacheSimilarity: setting({
    env: 'SVC_CACHE_SIMILARITY',
    schema: t.Number({ minimum: 0, maximum: 1 }),
    default: 0,
    about:
      'Cosine similarity from which a differently worded request is served a cached answer, such as 0.95; 0 turns this off. Needs SVC_EMBEDDINGS_BASE_URL.',
  }),
  ...Object.fromEntries(
    MODES.map((mode) => [
      ttlName(mode),
      setting({
        env: `SVC_CACHE_TTL_${mode.toUpperCase()}`,
        schema: t.Integer({ minimum: 0, maximum: 86_400 }),
        default: defaultTtlS(mode),
        about: `Seconds for which an answer of mode ${mode} is cached; 0 turns the cache off for it.`,
      }),
    ]),
  ),
}

/** How answers are cached. */
export type CacheRules = {
  enabled: boolean
  maxBytes: number
  /** Least cosine at which another wording counts as the same request; 0 turns this off. */
  similarity: number
  /** Seconds an answer is served, by resolved mode; answers to mode `auto` use the value of `auto`. */
  ttlS(mode: string): number
}

type Settled = { cacheEnabled: boolean; cacheMaxMb: number; cacheSimilarity: number }

/** The cache rules from the resolved settings. */
export const cacheRulesOf = (values: Settled): CacheRules => ({
  enabled: values.cacheEnabled,
  maxBytes: values.cacheMaxMb * 1024 * 1024,
  similarity: values.cacheSimilarity,
  ttlS: (mode) => ((values as Record<string, unknown>)[ttlName(mode)] as number | undefined) ?? defaultTtlS(mode),
})
