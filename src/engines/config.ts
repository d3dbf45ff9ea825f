import { Price, type PriceTable } from '../billing/schema'
import { ConfigError, setting, type Values } from '../kernel/config'
import { sha256Hex } from '../kernel/crypto'
import { form } from '../kernel/form'
import { oneOf, type Static, strictObject, t } from '../kernel/schema'
import {
  ALIAS_NAME,
  Alias,
  type Aliases,
  AUDIO_ENGINES,
  type AudioEngine,
  aliasProblems,
  ENGINES,
  findEngine,
  findImageEngine,
  IMAGE_ENGINES,
  MAX_ALIASES,
  type VectorSpace,
} from './catalog'

/** Engine settings that were made at runtime. They override those of the file and the environment. */
export type StoredEngines = {
  upstreams: Record<string, UpstreamConfig>
  /** Targets by engine id, best first. `only`: ignore targets of the file and the environment. */
  models: Record<string, { targets: string[]; only: boolean }>
  prices: PriceTable
  /** Absent in settings stored by older releases. */
  aliases?: Aliases
  /** Absent until `svc-1-embed` answers, and after an operator accepted that its vectors change. */
  vectors?: VectorSpace
}

export const NOTHING_STORED: StoredEngines = { upstreams: {}, models: {}, prices: {} }

/** Means every text engine that is not named. */
const EVERY_TEXT_ENGINE = '*'

const address = (env: string, about: string) =>
  setting({
    env,
    schema: t.String({
      pattern: form('^(https?://[^\\s]+)?$', 'an address that begins with https:// or http://, or empty'),
    }),
    default: '',
    about,
  })

const keyOf = (name: string) =>
  setting({
    env: `${name}_API_KEY`,
    schema: t.String(),
    default: '',
    about: `The key sent to ${name}_BASE_URL as a bearer token.`,
    secret: true,
  })

const modelOf = (name: string, model: string) =>
  setting({
    env: `${name}_MODEL`,
    schema: t.String({ minLength: 1 }),
    default: model,
    about: `The model name sent to ${name}_BASE_URL.`,
  })

/** Settings that connect one upstream each, without `svc.server.json`. */
const shortSettings = {
  engineBaseUrl: address(
    'SVC_ENGINE_BASE_URL',
    'Base address of one chat-completions server that answers every text mode, such as http://127.0.0.1:8080/v1.',
  ),
  engineApiKey: keyOf('SVC_ENGINE'),
  engineModel: modelOf('SVC_ENGINE', 'default'),
  engineContextWindow: setting({
    env: 'SVC_ENGINE_CONTEXT_WINDOW',
    schema: t.Integer({ minimum: 1_000, maximum: 100_000_000 }),
    default: 128_000,
    about: 'Maximum tokens of prompt and answer together at SVC_ENGINE_BASE_URL.',
  }),
  engineMaxOutputTokens: setting({
    env: 'SVC_ENGINE_MAX_OUTPUT_TOKENS',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    default: 4_096,
    about: 'Maximum tokens of an answer from SVC_ENGINE_BASE_URL.',
  }),
  engineTimeoutS: setting({
    env: 'SVC_ENGINE_TIMEOUT_S',
    schema: t.Number({ minimum: 0.1, maximum: 600 }),
    default: 600,
    about: 'Timeout of a call to SVC_ENGINE_BASE_URL in seconds. A request takes at most 120, a stream 600.',
  }),
  engineVision: setting({
    env: 'SVC_ENGINE_VISION',
    schema: t.Union([t.Boolean(), t.Literal('auto')]),
    default: 'auto',
    about: 'Whether SVC_ENGINE_BASE_URL accepts images; "auto" uses its model list.',
  }),
  ttsBaseUrl: address(
    'SVC_TTS_BASE_URL',
    'Base address of a server with /audio/speech for /audio/tts, such as http://127.0.0.1:8880/v1.',
  ),
  ttsApiKey: keyOf('SVC_TTS'),
  ttsModel: modelOf('SVC_TTS', 'tts-1'),
  sttBaseUrl: address(
    'SVC_STT_BASE_URL',
    'Base address of a server with /audio/transcriptions for /audio/stt, such as http://127.0.0.1:8000/v1.',
  ),
  sttApiKey: keyOf('SVC_STT'),
  sttModel: modelOf('SVC_STT', 'whisper-1'),
  embedBaseUrl: address(
    'SVC_EMBED_BASE_URL',
    'Base address of a server with /embeddings, such as http://127.0.0.1:8080/v1.',
  ),
  embedApiKey: keyOf('SVC_EMBED'),
  embedModel: modelOf('SVC_EMBED', 'text-embedding-3-small'),
  videoBaseUrl: address(
    'SVC_VIDEO_BASE_URL',
    'Base address of a server with /videos, such as http://127.0.0.1:8091/v1.',
  ),
  videoApiKey: keyOf('SVC_VIDEO'),
  videoModel: modelOf('SVC_VIDEO', 'default'),
}

type ShortSettings = Values<typeof shortSettings>

type ShortForm = {
  /** Name of the upstream that the settings define. */
  name: string
  engineId: typeof EVERY_TEXT_ENGINE | AudioEngine | 'svc-1-motion'
  model: string
  upstream: UpstreamConfig
}

const compat = (baseUrl: string, apiKey: string): UpstreamConfig => ({ kind: 'compat', baseUrl, apiKey })

const textUpstream = (settings: ShortSettings): UpstreamConfig => ({
  ...compat(settings.engineBaseUrl, settings.engineApiKey),
  contextWindow: settings.engineContextWindow,
  maxOutputTokens: settings.engineMaxOutputTokens,
  ...(settings.engineTimeoutS < 600 ? { timeoutMs: Math.round(settings.engineTimeoutS * 1_000) } : {}),
  ...(settings.engineVision === 'auto' ? {} : { vision: settings.engineVision }),
})

export const UPSTREAM_KINDS = ['compat', 'anthropic', 'google', 'openai'] as const

/** Headers of the HTTP message itself, which an operator may not set. */
const OUR_HEADERS = ['host', 'connection', 'content-type', 'content-length', 'transfer-encoding', 'upgrade', 'te']

const limit = (minimum: number, maximum: number, description: string) =>
  t.Optional(t.Integer({ minimum, maximum, description }))
const ability = (description: string) => t.Optional(t.Boolean({ description }))

/** Settings of an upstream of any kind (docs/api.md 28.4). */
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
      { maxProperties: 20, additionalProperties: false, description: 'For every call; they win over default ones' },
    ),
  ),
  vision: ability('Whether it accepts images; default: what it reports'),
  tools: ability('Whether it supports tools; default: what it reports'),
  json: ability('Whether it can answer in JSON on request; default: what it reports'),
  files: ability('Whether it reads documents as they are; default: it gets their text'),
  audio: ability('Whether it hears recordings; default: it gets their words'),
  parameters: t.Optional(
    t.Array(t.String({ pattern: '^[a-z_]{1,40}$' }), {
      ...{ maxItems: 32, description: 'Parameters that it is sent, such as top_p; default: what its kind has' },
    }),
  ),
  thinksFirst: ability('Whether its answers begin within thoughts, which only </think> ends; default: no'),
  imageEdits: ability('Whether it edits pictures (POST /images/edits); default: models named gpt-image'),
  translates: ability('Whether it has /audio/translations, which puts recordings into English; default: no'),
  off: ability('Whether it is disabled: its settings stay, but it gets no calls'),
  /** Micro-cents, for engines that try it first. SVC_PRICES wins. A missing member keeps the engine's price. */
  prices: t.Optional(Price),
}

const Upstream = strictObject({
  kind: oneOf(UPSTREAM_KINDS),
  baseUrl: t.Optional(t.String({ pattern: '^https?://[^\\s]+$' })),
  apiKey: t.Optional(t.String()),
  apiKeyFile: t.Optional(t.String({ description: 'Path of a file that contains only the key' })),
  models: t.Optional(t.Array(t.String({ minLength: 1 }))),
  outputLimitField: t.Optional(t.String({ pattern: '^[a-z_]{1,40}$' })),
  dimensions: t.Optional(
    t.Union([t.Boolean(), t.Literal('cut')], {
      description: 'Whether it makes vectors of other lengths, or "cut": they are cut here; default: by its model',
    }),
  ),
  batchSize: limit(1, 2_048, 'Maximum texts of one call for vectors; default 256'),
  ...UPSTREAM_SETTINGS,
})

export type UpstreamConfig = Static<typeof Upstream>

/** The long form in svc.server.json: upstreams by name, and for each engine its targets, `name:model`, best first. */
export const EnginesFile = strictObject({
  upstreams: t.Record(t.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }), Upstream, { additionalProperties: false }),
  models: t.Record(t.String(), t.Array(t.String({ pattern: '^[a-z0-9-]+:.+$' }), { minItems: 1 })),
})

export type EnginesFile = Static<typeof EnginesFile>

export const engineSettings = {
  ...shortSettings,
  engineBuiltin: setting({
    env: 'SVC_ENGINE_BUILTIN',
    schema: t.Boolean(),
    default: true,
    about: 'Whether the built-in engine answers text modes that have no upstream. Otherwise they answer 503.',
  }),
  modelAliases: setting({
    env: 'SVC_MODEL_ALIASES',
    schema: t.Record(t.String({ pattern: form(ALIAS_NAME, 'a name without spaces, which may end in *') }), Alias, {
      ...{ maxProperties: MAX_ALIASES, additionalProperties: false },
    }),
    default: {},
    about: 'Model names of clients and the engine of each, as {"gpt-*":{"engine":"svc-1-flash"}}. "listed" shows one.',
  }),
  engines: setting({
    env: 'SVC_ENGINES',
    schema: EnginesFile,
    default: { upstreams: {}, models: {} },
    about:
      'Upstreams by name, and the targets of each engine as "name:model", best first. "*" means every text engine.',
    secret: true,
  }),
}

export type EngineSettings = Values<typeof engineSettings>

type TargetRef = { upstream: string; model: string }
export type EngineConfig = {
  upstreams: ReadonlyMap<string, UpstreamConfig>
  /** Targets by engine id, best first. An engine without an entry has none. */
  targets: ReadonlyMap<string, readonly TargetRef[]>
  /** Targets of disabled upstreams, by engine id or `*`. They are never called. */
  off: ReadonlyMap<string, readonly TargetRef[]>
  builtin: boolean
  aliases: Aliases
  /** Fixed by the first answer; null before. */
  vectors: VectorSpace | null
}

/** Hash of the configuration without keys: cached answers of another configuration must not be served. */
export function fingerprintOf({ upstreams, targets, builtin }: Omit<EngineConfig, 'aliases' | 'vectors'>): string {
  const named = [...upstreams].map(([name, { apiKey: _, apiKeyFile: __, ...rest }]) => [name, rest])
  return sha256Hex(JSON.stringify([named, [...targets], builtin]))
}

/**
 * Combines the stored settings, `svc.server.json` and the short settings. Targets come in this order. Stored targets of
 * a removed upstream are ignored.
 * @throws ConfigError with every problem at once
 */
export function readEngineConfig(settings: EngineSettings, stored: StoredEngines = NOTHING_STORED): EngineConfig {
  const problems: string[] = []
  const short = shortForms(settings)
  const ofShort = Object.fromEntries(short.map(({ name, upstream }) => [name, upstream]))
  const upstreams = new Map(Object.entries({ ...settings.engines.upstreams, ...ofShort, ...stored.upstreams }))
  for (const [name, { kind, baseUrl, headers = {} }] of upstreams) {
    const problem = (text: string) => problems.push(`engines.upstreams.${name}: ${text}`)
    if (kind === 'compat' && !baseUrl) problem('"compat" needs a "baseUrl".')
    if (baseUrl && !URL.canParse(baseUrl)) problem('"baseUrl" is not a URL.')
    const ours = Object.keys(headers).find((header) => OUR_HEADERS.includes(header.toLowerCase()))
    if (ours) problem(`the header "${ours}" is set by the server and cannot be changed.`)
  }
  const named = new Map<string, TargetRef[]>()
  const inFile = settings.engines.models
  for (const engineId of new Set([...Object.keys(inFile), ...Object.keys(stored.models)])) {
    const { targets = [], only = false } = stored.models[engineId] ?? {}
    const own = (only ? [] : (inFile[engineId] ?? [])).map(readTarget)
    const unknown = own.find(({ upstream }) => !upstreams.has(upstream))
    if (unknown) problems.push(`engines.models.${engineId}: there is no upstream "${unknown.upstream}".`)
    const refs = withoutTwins([...targets.map(readTarget).filter(({ upstream }) => upstreams.has(upstream)), ...own])
    const entry = findEngine(engineId) ?? findImageEngine(engineId)
    const audio = AUDIO_ENGINES.find(({ id }) => id === engineId)
    if (engineId !== EVERY_TEXT_ENGINE && !ASKABLE.has(entry?.kind ?? '') && !audio) {
      problems.push(
        `engines.models.${engineId}: not an engine for text, images, videos, audio or embeddings. Those are ${connectable().join(', ')}.`,
      )
    }
    const heard = audio && (audio.kind === 'embedding' ? 'embeddings' : 'audio')
    const made = heard ?? (entry?.kind === 'video' ? 'videos' : null)
    const able = [...WITH_MEDIA, ...(made === 'embeddings' ? ['google'] : [])]
    const unfit = made && refs.find(({ upstream }) => !able.includes(upstreams.get(upstream)?.kind ?? 'compat'))
    if (unfit)
      problems.push(`engines.models.${engineId}: "${unfit.upstream}" is of a kind that does not support ${made}.`)
    if (engineId === 'svc-1-embed' && new Set(refs.map(({ model }) => model)).size > 1)
      problems.push(
        `engines.models.${engineId}: its targets must name one model, because vectors of several do not mix.`,
      )
    named.set(entry?.id ?? engineId, refs)
  }
  const aliases = { ...settings.modelAliases, ...stored.aliases }
  problems.push(...aliasProblems(aliases, connectable()))
  if (problems.length) throw new ConfigError(problems)
  // A disabled upstream counts as not named. An engine that only named disabled ones counts as not named, too.
  const isOff = ({ upstream }: Pick<TargetRef, 'upstream'>) => upstreams.get(upstream)?.off === true
  const off = new Map<string, TargetRef[]>()
  for (const [engineId, refs] of named) {
    const on = refs.filter((ref) => !isOff(ref))
    if (on.length < refs.length) off.set(engineId, refs.filter(isOff))
    if (on.length) named.set(engineId, on)
    else named.delete(engineId)
  }

  for (const { name, engineId, model } of short) {
    if (stored.models[engineId]?.only) continue
    if (isOff({ upstream: name }))
      off.set(engineId, withoutTwins([...(off.get(engineId) ?? []), { upstream: name, model }]))
    else named.set(engineId, withoutTwins([...(named.get(engineId) ?? []), { upstream: name, model }]))
  }
  const [builtin, vectors] = [settings.engineBuiltin, stored.vectors ?? null]
  return { upstreams, targets: spread(named), off, builtin, aliases, vectors }
}

/** Prices set by upstreams, for the engines that try them first. */
export function upstreamPrices({ upstreams, targets }: Pick<EngineConfig, 'upstreams' | 'targets'>): PriceTable {
  const prices = [...targets].map(([id, refs]) => [id, upstreams.get(refs[0]!.upstream)?.prices] as const)
  return Object.fromEntries(prices.filter(([, price]) => price)) as PriceTable
}

/** Kinds of upstreams that offer speech, transcription and videos. */
const WITH_MEDIA: ReadonlySet<string> = new Set(['compat', 'openai'])

/** Engines that get only their own targets, not those of `*`. */
const namedAlone = (): string[] => [
  ...ENGINES.filter(({ kind }) => kind !== 'text').map(({ id }) => id),
  ...[...IMAGE_ENGINES, ...AUDIO_ENGINES].map(({ id }) => id),
]

const connectable = (): string[] => [
  ...ENGINES.filter(({ kind }) => kind === 'text').map(({ id }) => id),
  ...namedAlone(),
]

/** Kinds of listed engines that an upstream can serve. */
const ASKABLE: ReadonlySet<string> = new Set(['text', 'image', 'video'])

const withoutTwins = (refs: readonly TargetRef[]): TargetRef[] => [
  ...new Map(refs.map((ref) => [`${ref.upstream}:${ref.model}`, ref])).values(),
]

/** `local:llama3:8b` is the model `llama3:8b` of the upstream `local`. */
function readTarget(word: string): TargetRef {
  const colon = word.indexOf(':')
  return { upstream: word.slice(0, colon), model: word.slice(colon + 1) }
}

/** Gives the targets of `*` to every text engine without its own. `auto` without its own gets those of `fast`. */
function spread(named: ReadonlyMap<string, TargetRef[]>): Map<string, readonly TargetRef[]> {
  const targets = new Map<string, readonly TargetRef[]>()
  for (const id of connectable()) {
    if (!named.has(id) && namedAlone().includes(id)) continue
    const refs = named.get(id) ?? named.get(EVERY_TEXT_ENGINE)
    if (refs) targets.set(id, refs)
  }
  const fast = targets.get('svc-1-flash')
  if (fast && !named.has('svc-1-auto')) targets.set('svc-1-auto', fast)
  return targets
}

/** The upstreams that the short settings define, and their engines. */
function shortForms(settings: ShortSettings): ShortForm[] {
  const only = (name: 'tts' | 'stt' | 'video' | 'embed', engineId: ShortForm['engineId']): ShortForm => {
    const upstream = compat(settings[`${name}BaseUrl`], settings[`${name}ApiKey`])
    return { name, engineId, model: settings[`${name}Model`], upstream }
  }
  const text = textUpstream(settings)
  const forms: ShortForm[] = [
    { name: 'default', engineId: EVERY_TEXT_ENGINE, model: settings.engineModel, upstream: text },
    only('tts', 'svc-1-voice'),
    only('stt', 'svc-1-transcribe'),
    only('video', 'svc-1-motion'),
    only('embed', 'svc-1-embed'),
  ]
  return forms.filter(({ upstream }) => upstream.baseUrl)
}
