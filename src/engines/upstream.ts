import { Price } from '../billing/schema'
import { oneOf, type Static, t } from '../kernel/schema'

export const UPSTREAM_KINDS = ['compat', 'anthropic', 'google', 'openai'] as const

/** Headers of the message itself, which nobody may set. */
export const OUR_HEADERS = [
  'host',
  'connection',
  'content-type',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'te',
]

const limit = (minimum: number, maximum: number, description: string) =>
  t.Optional(t.Integer({ minimum, maximum, description }))

const ability = (description: string) => t.Optional(t.Boolean({ description }))

/** What an operator may set of an upstream, whatever its kind (contract 28.4). */
export const UPSTREAM_SETTINGS = {
  contextWindow: limit(1_000, 100_000_000, 'Maximum tokens of prompt and answer together; default 128000'),
  maxOutputTokens: limit(1, 1_000_000, 'Maximum tokens of an answer; default 4096'),
  timeoutMs: limit(100, 600_000, 'Longest whole call; a request itself takes at most 120 s, as a stream 600 s'),
  silenceMs: limit(100, 600_000, 'Longest wait for the next byte; default: no limit'),
  concurrency: limit(0, 100_000, 'Maximum calls at a time, others wait up to 30 s; 0: no limit'),
  headers: t.Optional(
    t.Record(
      t.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }),
      t.String({ maxLength: 4_096, pattern: '^[\\x20-\\x7e]*$' }),
      { maxProperties: 20, description: 'Headers for every call; they are added to the default ones or replace them' },
    ),
  ),
  vision: ability('Whether it accepts images; default: what it reports'),
  tools: ability('Whether it supports tools; default: what it reports'),
  json: ability('Whether it can answer in JSON on request; default: what it reports'),
  imageEdits: ability('Whether it edits pictures (POST /images/edits); default: models named gpt-image'),
  off: ability('Whether it is disabled: its settings stay, but it gets no calls'),
  /** Micro-cents, for the engines that ask it first; SVC_PRICES goes before them, and members left out keep the engine's price. */
  prices: t.Optional(Price),
}

export const Upstream = t.Object(
  {
    kind: oneOf(UPSTREAM_KINDS),
    baseUrl: t.Optional(t.String({ pattern: '^https?://[^\\s]+$' })),
    apiKey: t.Optional(t.String()),
    apiKeyFile: t.Optional(t.String({ description: 'Path of a file that contains only the key' })),
    models: t.Optional(t.Array(t.String({ minLength: 1 }))),
    outputLimitField: t.Optional(t.String({ pattern: '^[a-z_]{1,40}$' })),
    ...UPSTREAM_SETTINGS,
  },
  { additionalProperties: false },
)

export type UpstreamConfig = Static<typeof Upstream>
