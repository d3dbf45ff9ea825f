import {
  ENGINES,
  type EngineRegistry,
  type EngineSettings,
  type EngineVersion,
  readKey,
  type StoredEngines,
  type UpstreamConfig,
} from '../engines'
import type { Call, OperatorCaller } from '../kernel/caller'
import { defineErrors, invalidInput, quoted } from '../kernel/errors'
import type { Tx } from '../kernel/store'
import { type EnginePatch, MAX_MODELS, type NewEngine } from './schema-engines'

const EVERY_TEXT_ENGINE = '*'

const configErrors = {
  ...defineErrors('conflict', {
    nameTaken: (name: string, place: string) =>
      `There is an engine "${name}" already, in ${place}. Choose another name, or change that one with engines update.`,
    setElsewhere: (name: string, place: string) =>
      `"${name}" is set in ${place}. Change it there and restart, or copy it to here first: svc-admin engines update ${name} --copy`,
    stillUsed: (name: string, left: string) =>
      `Without "${name}", ${left} would have no targets. Map them to another engine first, or add --force.`,
  }),
  ...defineErrors('not_found', {
    unknownUpstream: (name: string) => `There is no upstream "${quoted(name)}".`,
  }),
}

/** Where an upstream is configured: in the database at run time, or in a server's file or environment. */
type Source = 'here' | 'file' | 'environment'
type Place = { source: Source; words: string }

type Deps = {
  settings: EngineSettings
  configFile: string
  setByEnvironment(name: keyof EngineSettings): boolean
}

/** Upstreams defined by the short settings. */
const SHORT = {
  default: { setting: 'engineBaseUrl', variable: 'SVC_ENGINE_BASE_URL' },
  tts: { setting: 'ttsBaseUrl', variable: 'SVC_TTS_BASE_URL' },
  stt: { setting: 'sttBaseUrl', variable: 'SVC_STT_BASE_URL' },
  video: { setting: 'videoBaseUrl', variable: 'SVC_VIDEO_BASE_URL' },
  embed: { setting: 'embedBaseUrl', variable: 'SVC_EMBED_BASE_URL' },
} as const

/** The places where an upstream is configured. The first one takes precedence. */
export function createPlaces({ settings, configFile, setByEnvironment }: Deps) {
  const placeOf = (setting: keyof EngineSettings, variable: string, member: string): Place =>
    setByEnvironment(setting)
      ? { source: 'environment', words: variable }
      : { source: 'file', words: `${member} of ${configFile}` }

  return ({ stored }: Pick<EngineVersion, 'stored'>, name: string): Place[] => {
    const short = Object.hasOwn(SHORT, name) ? SHORT[name as keyof typeof SHORT] : null
    return [
      ...(Object.hasOwn(stored.upstreams, name) ? [{ source: 'here', words: 'the database' } as const] : []),
      ...(short && settings[short.setting] ? [placeOf(short.setting, short.variable, short.setting)] : []),
      ...(Object.hasOwn(settings.engines.upstreams, name)
        ? [placeOf('engines', 'SVC_ENGINES', `engines.upstreams.${name}`)]
        : []),
    ]
  }
}

type Places = ReturnType<typeof createPlaces>

/** Throws 409 for a name that an upstream already has. */
export function assertNameFree(before: EngineVersion, placesOf: Places, name: string): void {
  const [taken] = placesOf(before, name)
  if (taken) throw configErrors.nameTaken(name, taken.words)
}

/** The models of a new upstream whose request names none: all that it lists. Throws 400 when it lists too many. */
export function chosenFrom(name: string, listed: string[]): string[] {
  if (listed.length <= MAX_MODELS) return listed
  const some = listed.slice(0, MAX_MODELS).join(', ')
  throw invalidInput(
    'models',
    `"${name}" lists ${listed.length} models. Name those to use, best first: --models ${listed[0]},${listed[1]}. It lists ${some}, and others.`,
  )
}

/** Adds a new upstream ahead of the present targets of text modes. Throws 409 when the name is taken. */
export function withAdded(
  before: EngineVersion,
  placesOf: Places,
  engine: NewEngine & { models: readonly string[] },
): StoredEngines {
  const { stored } = before
  assertNameFree(before, placesOf, engine.name)
  const { targets = [], only = false } = stored.models[EVERY_TEXT_ENGINE] ?? {}
  const own = engine.models.map((model) => `${engine.name}:${model}`)
  return {
    ...stored,
    upstreams: { ...stored.upstreams, [engine.name]: toUpstream(engine) },
    models: { ...stored.models, [EVERY_TEXT_ENGINE]: { targets: [...own, ...targets], only } },
  }
}

/**
 * An upstream after a change, and its used models. Throws 404, and 409 for an upstream of the file or environment,
 * unless `copy` is set.
 */
export function changedUpstream(before: EngineVersion, placesOf: Places, name: string, patch: EnginePatch) {
  const current = upstreamIn(before, placesOf, name, patch.copy === true)
  const { settings = {}, base_url: baseUrl, api_key: apiKey } = patch
  const changes = Object.entries({
    ...current,
    ...settings,
    ...(baseUrl ? { baseUrl } : {}),
    ...(apiKey ? { apiKey } : {}),
  })
  const upstream = Object.fromEntries(changes.filter(([, value]) => value !== null)) as UpstreamConfig
  const refs = [...before.config.targets.values(), ...before.config.off.values()].flat()
  const models = new Set(refs.flatMap((ref) => (ref.upstream === name ? ref.model : [])))
  return { upstream, models: [...models] }
}

/** The stored engines with a changed upstream. Throws as {@link changedUpstream}. */
export function withChanged(before: EngineVersion, placesOf: Places, name: string, patch: EnginePatch): StoredEngines {
  const { upstream } = changedUpstream(before, placesOf, name, patch)
  return { ...before.stored, upstreams: { ...before.stored.upstreams, [name]: upstream } }
}

/** Removes an upstream and its targets. The file's configuration of a copied one applies again. Throws 404, 409. */
export function withRemoved(before: EngineVersion, placesOf: Places, name: string): StoredEngines {
  upstreamIn(before, placesOf, name, false)
  const { [name]: _, ...upstreams } = before.stored.upstreams
  const isElsewhere = placesOf(before, name).length > 1
  const left = Object.entries(before.stored.models).flatMap(([id, { targets, only }]) => {
    const others = isElsewhere ? targets : targets.filter((target) => !target.startsWith(`${name}:`))
    return others.length ? [[id, { targets: others, only }] as const] : []
  })
  return { ...before.stored, upstreams, models: Object.fromEntries(left) }
}

/** Throws 409 when a change leaves engines without a target that had one before. */
export function assertStillAnswered(name: string, before: EngineVersion, after: EngineVersion): void {
  const lost = [...before.config.targets.keys()].filter((id) => !after.config.targets.has(id))
  const texts = ENGINES.flatMap(({ id, kind }) => (kind === 'text' ? id : []))
  const isEvery = texts.every((id) => lost.includes(id))
  const words = [...(isEvery ? ['every text engine'] : []), ...lost.filter((id) => !isEvery || !texts.includes(id))]
  if (words.length) throw configErrors.stillUsed(name, words.join(', '))
}

/** Sets the targets of an engine, best first. Without targets, those of the file, the environment and `*` apply. */
export function withMapping({ stored }: EngineVersion, id: string, targets: readonly string[]): StoredEngines {
  const { [id]: _, ...others } = stored.models
  return { ...stored, models: targets.length ? { ...others, [id]: { targets: [...targets], only: true } } : others }
}

type AcceptDeps = {
  engineRegistry: Pick<EngineRegistry, 'change'>
  record(tx: Tx, call: Call<OperatorCaller>, action: string, metadata: Record<string, unknown>): Promise<unknown>
}

/** Forgets the identity of the vectors of `svc-1-embed`. Its next answer sets it again (docs/api.md 31). */
export const acceptVectors = ({ engineRegistry, record }: AcceptDeps, call: Call<OperatorCaller>) =>
  engineRegistry.change(async (tx, { stored, config }) => {
    const { vectors, ...rest } = stored
    const was = { was_model: vectors?.model ?? null, was_length: vectors?.length ?? null }
    const model = config.targets.get('svc-1-embed')?.[0]?.model ?? null
    await record(tx, call, 'engine.vectors_accepted', { ...was, model })
    return { kept: rest, answer: { object: 'vector_space' as const, engine: 'svc-1-embed' as const, ...was, model } }
  })

export const toUpstream = ({ kind, base_url, api_key, settings }: NewEngine): UpstreamConfig => ({
  kind,
  ...(base_url ? { baseUrl: base_url } : {}),
  ...(api_key ? { apiKey: api_key } : {}),
  ...settings,
})

/** Includes the key from a key file, because other nodes do not have the file. */
function upstreamIn(before: EngineVersion, placesOf: Places, name: string, copies: boolean): UpstreamConfig {
  const [place] = placesOf(before, name)
  const found = place && before.config.upstreams.get(name)
  if (!found) throw configErrors.unknownUpstream(name)
  if (place.source !== 'here' && !copies) throw configErrors.setElsewhere(name, place.words)
  const { apiKeyFile: _, apiKey: __, ...rest } = found
  const apiKey = readKey(name, found)
  return { ...rest, ...(apiKey ? { apiKey } : {}) }
}
