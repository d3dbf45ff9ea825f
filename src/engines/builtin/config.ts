import { setting, type Values } from '../../kernel/config'
import { t } from '../../kernel/schema'

/** Makes the built-in engine slow or failing, to test how clients handle that. */
export const builtinSettings = {
  builtinDelayMs: setting({
    env: 'SVC_BUILTIN_DELAY_MS',
    schema: t.Integer({ minimum: 0, maximum: 600_000 }),
    default: 0,
    about: 'Milliseconds the built-in engine waits before it answers (development).',
  }),
  builtinFailRate: setting({
    env: 'SVC_BUILTIN_FAIL_RATE',
    schema: t.Number({ minimum: 0, maximum: 1 }),
    default: 0,
    about: 'Share of calls that fail in the built-in engine, 0 to 1 (development).',
  }),
  builtinChunk: setting({
    env: 'SVC_BUILTIN_CHUNK',
    schema: t.Integer({ minimum: 1, maximum: 10_000 }),
    default: 1,
    about: 'Words in each chunk that the built-in engine streams.',
  }),
} as const

export type BuiltinSettings = Values<typeof builtinSettings>
