import type { PriceTable } from '../billing/schema'
import { ConfigError, setting, type Values } from '../kernel/config'
import { sha256Hex } from '../kernel/crypto'
import { type Static, t } from '../kernel/schema'
import { AUDIO_ENGINES, ENGINES, findEngine, findImageEngine, IMAGE_ENGINES } from './catalog'
import { EVERY_TEXT_ENGINE, shortForms, shortSettings } from './short-forms'
import { NOTHING_STORED, type StoredEngines } from './stored'
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
  ...shortSettings,
  engineBuiltin: setting({
    env: 'SVC_ENGINE_BUILTIN',
    schema: t.Boolean(),
    default: true,
    about: 'Whether the built-in engine answers text modes that have no upstream. Otherwise they answer 503.',
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
  /** Targets by engine id, best first; an engine that is not here has none. */
  targets: ReadonlyMap<string, readonly TargetRef[]>
  /** Targets of upstreams that are switched off, by engine id or `*`: nothing is asked of them. */
  off: ReadonlyMap<string, readonly TargetRef[]>
  builtin: boolean
}

/** Hash of the configuration without keys: cached answers of another configuration must not be served. */
export function fingerprintOf({ upstreams, targets, builtin }: EngineConfig): string {
  const named = [...upstreams].map(([name, { apiKey: _, apiKeyFile: __, ...rest }]) => [name, rest])
  return sha256Hex(JSON.stringify([named, [...targets], builtin]))
}

/**
 * Combines what is kept in the database, the long form and the short settings; the targets of each come in this order.
 * Kept targets of an upstream that is gone are passed over.
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
        `engines.models.${engineId}: not an engine for text, images, videos or audio. Those are ${connectable().join(', ')}.`,
      )
    }
    const mute = audio && refs.find(({ upstream }) => !WITH_MEDIA.has(upstreams.get(upstream)?.kind ?? 'compat'))
    if (mute) problems.push(`engines.models.${engineId}: "${mute.upstream}" is of a kind that does not support audio.`)
    const still =
      entry?.kind === 'video' && refs.find(({ upstream }) => !WITH_MEDIA.has(upstreams.get(upstream)?.kind ?? 'compat'))
    if (still)
      problems.push(`engines.models.${engineId}: "${still.upstream}" is of a kind that does not support videos.`)
    named.set(entry?.id ?? engineId, refs)
  }
  if (problems.length) throw new ConfigError(problems)
  // What is switched off is as if it was not named, and what is left with nothing as if it never was.
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
  return { upstreams, targets: spread(named), off, builtin: settings.engineBuiltin }
}

/** The prices that upstreams set, for the engines that ask them first. */
export function upstreamPrices({ upstreams, targets }: Pick<EngineConfig, 'upstreams' | 'targets'>): PriceTable {
  const prices = [...targets].map(([id, refs]) => [id, upstreams.get(refs[0]!.upstream)?.prices] as const)
  return Object.fromEntries(prices.filter(([, price]) => price)) as PriceTable
}

/** Kinds of upstreams that speak, transcribe and make videos. */
const WITH_MEDIA: ReadonlySet<string> = new Set(['compat', 'openai'])

/** Engines that get the targets only that are named for them. */
const namedAlone = (): string[] => [
  ...ENGINES.filter(({ kind }) => kind !== 'text').map(({ id }) => id),
  ...[...IMAGE_ENGINES, ...AUDIO_ENGINES].map(({ id }) => id),
]

const connectable = (): string[] => [
  ...ENGINES.filter(({ kind }) => kind === 'text').map(({ id }) => id),
  ...namedAlone(),
]

/** Kinds of listed engine that an upstream can be asked for. */
const ASKABLE: ReadonlySet<string> = new Set(['text', 'image', 'video'])

const withoutTwins = (refs: readonly TargetRef[]): TargetRef[] => [
  ...new Map(refs.map((ref) => [`${ref.upstream}:${ref.model}`, ref])).values(),
]

/** `local:llama3:8b` is the model `llama3:8b` of the upstream `local`. */
function readTarget(word: string): TargetRef {
  const colon = word.indexOf(':')
  return { upstream: word.slice(0, colon), model: word.slice(colon + 1) }
}

/** Gives the targets of `*` to every text engine that is not named; `auto`, if not named, gets those of `fast`. */
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
