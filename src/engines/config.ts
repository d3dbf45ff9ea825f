import type { PriceTable } from '../billing/schema'
import { ConfigError, setting, type Values } from '../kernel/config'
import { sha256Hex } from '../kernel/crypto'
import { type Static, t } from '../kernel/schema'
import { ENGINES, findEngine } from './catalog'
import { OUR_HEADERS, Upstream, type UpstreamConfig } from './upstream'

/** The long form in svc.server.json: upstreams by name, and for each engine its targets, `name:model`, best first. */
export const EnginesFile = t.Object(
  {
    upstreams: t.Record(t.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }), Upstream),
    models: t.Record(t.String(), t.Array(t.String({ pattern: '^[a-z0-9-]+:.+$' }), { minItems: 1 })),
  },
  { additionalProperties: false },
)

export type EnginesFile = Static<typeof EnginesFile>

export const engineSettings = {
  engineBaseUrl: setting({
    env: 'SVC_ENGINE_BASE_URL',
    schema: t.String({ pattern: '^(https?://[^\\s]+)?$' }),
    default: '',
    about:
      'Base address of one chat-completions server that answers every text mode, such as http://127.0.0.1:8080/v1.',
  }),
  engineApiKey: setting({
    env: 'SVC_ENGINE_API_KEY',
    schema: t.String(),
    default: '',
    about: 'The key sent to SVC_ENGINE_BASE_URL as a bearer token.',
    secret: true,
  }),
  engineModel: setting({
    env: 'SVC_ENGINE_MODEL',
    schema: t.String({ minLength: 1 }),
    default: 'default',
    about: 'The model name sent to SVC_ENGINE_BASE_URL.',
  }),
  engineContextWindow: setting({
    env: 'SVC_ENGINE_CONTEXT_WINDOW',
    schema: t.Integer({ minimum: 1_000, maximum: 100_000_000 }),
    default: 128_000,
    about: 'Most tokens of prompt and answer together that SVC_ENGINE_BASE_URL takes.',
  }),
  engineMaxOutputTokens: setting({
    env: 'SVC_ENGINE_MAX_OUTPUT_TOKENS',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    default: 4_096,
    about: 'Most tokens of an answer of SVC_ENGINE_BASE_URL.',
  }),
  engineTimeoutS: setting({
    env: 'SVC_ENGINE_TIMEOUT_S',
    schema: t.Number({ minimum: 0.1, maximum: 600 }),
    default: 600,
    about: 'Longest call of SVC_ENGINE_BASE_URL in seconds; a request itself takes at most 120, as a stream 600.',
  }),
  engineVision: setting({
    env: 'SVC_ENGINE_VISION',
    schema: t.Union([t.Boolean(), t.Literal('auto')]),
    default: 'auto',
    about: 'Whether SVC_ENGINE_BASE_URL sees images; "auto" believes what it says of itself.',
  }),
  engineBuiltin: setting({
    env: 'SVC_ENGINE_BUILTIN',
    schema: t.Boolean(),
    default: true,
    about:
      'Whether the built-in deterministic engine answers text modes that have no upstream; without it they answer 503.',
  }),
  engines: setting({
    env: 'SVC_ENGINES',
    schema: EnginesFile,
    default: { upstreams: {}, models: {} },
    about:
      'Upstreams by name and the targets of each engine, as "name:model", best first; "*" stands for every text engine.',
    secret: true,
  }),
}

export type EngineSettings = Values<typeof engineSettings>

type TargetRef = { upstream: string; model: string }
export type EngineConfig = {
  upstreams: ReadonlyMap<string, UpstreamConfig>
  /** Targets by engine id, best first; an engine that is not here has none. */
  targets: ReadonlyMap<string, readonly TargetRef[]>
  builtin: boolean
}

/** Hash of the configuration without keys: cached answers of another configuration must not be served. */
export function fingerprintOf({ upstreams, targets, builtin }: EngineConfig): string {
  const named = [...upstreams].map(([name, { apiKey: _, apiKeyFile: __, ...rest }]) => [name, rest])
  return sha256Hex(JSON.stringify([named, [...targets], builtin]))
}

/** Name of the upstream that the short settings define. */
const SHORT_NAME = 'default'
const EVERY_TEXT_ENGINE = '*'

/**
 * Combines the short settings with the long form, whose targets come first.
 * @throws ConfigError with every problem at once
 */
export function readEngineConfig(settings: EngineSettings): EngineConfig {
  const problems: string[] = []
  const upstreams = new Map(Object.entries(settings.engines.upstreams))
  for (const [name, { kind, baseUrl, headers = {} }] of upstreams) {
    const problem = (text: string) => problems.push(`engines.upstreams.${name}: ${text}`)
    if (kind === 'compat' && !baseUrl) problem('"compat" needs a "baseUrl".')
    if (baseUrl && !URL.canParse(baseUrl)) problem('"baseUrl" is not an address.')
    const ours = Object.keys(headers).find((header) => OUR_HEADERS.includes(header.toLowerCase()))
    if (ours) problem(`the header "${ours}" belongs to the message itself and cannot be set.`)
  }
  const named = new Map<string, TargetRef[]>()
  for (const [engineId, words] of Object.entries(settings.engines.models)) {
    const refs = words.map(readTarget)
    const unknown = refs.find(({ upstream }) => !upstreams.has(upstream))
    if (unknown) problems.push(`engines.models.${engineId}: there is no upstream "${unknown.upstream}".`)
    const entry = findEngine(engineId)
    if (engineId !== EVERY_TEXT_ENGINE && entry?.kind !== 'text') {
      problems.push(`engines.models.${engineId}: not a text engine. They are ${textEngines().join(', ')}.`)
    }
    named.set(entry?.id ?? engineId, refs)
  }
  if (problems.length) throw new ConfigError(problems)

  if (settings.engineBaseUrl) {
    upstreams.set(SHORT_NAME, shortForm(settings))
    named.set(EVERY_TEXT_ENGINE, [
      ...(named.get(EVERY_TEXT_ENGINE) ?? []),
      { upstream: SHORT_NAME, model: settings.engineModel },
    ])
  }
  return { upstreams, targets: spread(named), builtin: settings.engineBuiltin }
}

const shortForm = (settings: EngineSettings): UpstreamConfig => ({
  kind: 'compat',
  baseUrl: settings.engineBaseUrl,
  apiKey: settings.engineApiKey,
  contextWindow: settings.engineContextWindow,
  maxOutputTokens: settings.engineMaxOutputTokens,
  ...(settings.engineTimeoutS < 600 ? { timeoutMs: Math.round(settings.engineTimeoutS * 1_000) } : {}),
  ...(settings.engineVision === 'auto' ? {} : { vision: settings.engineVision }),
})

/** The prices that upstreams set, for the engines that ask them first. */
export function upstreamPrices(settings: EngineSettings): PriceTable {
  const { upstreams, targets } = readEngineConfig(settings)
  const prices = [...targets].map(([id, refs]) => [id, upstreams.get(refs[0]!.upstream)?.prices] as const)
  return Object.fromEntries(prices.filter(([, price]) => price)) as PriceTable
}

const textEngines = (): string[] => ENGINES.filter(({ kind }) => kind === 'text').map(({ id }) => id)

/** `local:llama3:8b` is the model `llama3:8b` of the upstream `local`. */
function readTarget(word: string): TargetRef {
  const colon = word.indexOf(':')
  return { upstream: word.slice(0, colon), model: word.slice(colon + 1) }
}

/** Gives the targets of `*` to every text engine that is not named; `auto`, if not named, gets those of `fast`. */
function spread(named: ReadonlyMap<string, TargetRef[]>): Map<string, readonly TargetRef[]> {
  const targets = new Map<string, readonly TargetRef[]>()
  for (const id of textEngines()) {
    const refs = named.get(id) ?? named.get(EVERY_TEXT_ENGINE)
    if (refs) targets.set(id, refs)
  }
  const fast = targets.get('svc-1-flash')
  if (fast && !named.has('svc-1-auto')) targets.set('svc-1-auto', fast)
  return targets
}
