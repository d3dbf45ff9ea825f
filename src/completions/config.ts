import { MODES } from '../kernel/caller'
import { setting } from '../kernel/config'
import { form } from '../kernel/form'
import { t } from '../kernel/schema'

/** Seconds that the cache may serve an answer, by mode (docs/api.md 22.1). */
const TTL_S: Record<string, number> = {
  think: 3600,
  code: 3600,
  genui: 3600,
  vision: 3600,
  data_extraction: 3600,
  domain_analysis: 3600,
}
const defaultTtlS = (mode: string): number => TTL_S[mode] ?? 300

const ttlName = (mode: string) => `cacheTtl_${mode}`

/** Settings of the completions module (docs/api.md 22.1). */
export const completionSettings = {
  traceBodies: setting({
    env: 'SVC_TRACE_BODIES',
    schema: t.Boolean(),
    default: false,
    about: 'Whether accounts may store the requests and answers of their calls, with the setting keep_bodies.',
  }),
  maxTestCases: setting({
    env: 'SVC_MAX_TEST_CASES',
    schema: t.Integer({ minimum: 1, maximum: 100_000 }),
    default: 500,
    about: 'How many test cases one person or organization can have.',
  }),
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
      'Megabytes of memory for cached answers. One user, or one key of an organization, gets at most an eighth of it.',
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

/** Rules for caching answers. */
export type CacheRules = {
  enabled: boolean
  maxBytes: number
  /** Seconds that an answer is served, by resolved mode. Answers to mode `auto` use the value of `auto`. */
  ttlS(mode: string): number
}

/** The cache rules from the resolved settings. */
export const cacheRulesOf = (values: { cacheEnabled: boolean; cacheMaxMb: number }): CacheRules => ({
  enabled: values.cacheEnabled,
  maxBytes: values.cacheMaxMb * 1024 * 1024,
  ttlS: (mode) => ((values as Record<string, unknown>)[ttlName(mode)] as number | undefined) ?? defaultTtlS(mode),
})

export const voiceSettings = {
  voiceUrl: setting({
    env: 'SVC_VOICE_URL',
    schema: t.String({
      pattern: form(
        '^((wss?|https?)://[^\\s]+)?$',
        'an address that begins with wss://, ws://, https:// or http://, or empty',
      ),
    }),
    default: '',
    about: 'Address of the live voice server. Clients connect to it with a token from /voice/token.',
  }),
  voiceSecret: setting({
    env: 'SVC_VOICE_SECRET',
    schema: t.String({ pattern: form('^$|^.{32,}$', 'at least 32 characters long, or empty') }),
    default: '',
    secret: true,
    about: 'Secret of at least 32 characters that signs voice tokens (HS256) for the live voice server.',
  }),
} as const
