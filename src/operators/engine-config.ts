import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { EnginesFile, type UpstreamConfig } from '../engines'
import { assertRewritable, type ConfigFile, readConfigFile, writeConfigFile, writeWhole } from '../kernel/config-file'
import { defineError, notFound } from '../kernel/errors'
import { checker } from '../kernel/schema'
import type { EnginePatch, NewEngine } from './schema-engines'

const EVERY_TEXT_ENGINE = '*'

const nameTaken = defineError(
  'conflict',
  'conflict',
  (name: string, path: string) =>
    `${path} already has an engine "${name}". Choose another name, or change that one with engines update.`,
)

export const setElsewhere = defineError(
  'conflict',
  'conflict',
  (variable: string) => `${variable} is set and overrides the configuration file. Change it there, or unset it.`,
)

const stillUsed = defineError(
  'conflict',
  'conflict',
  (name: string, left: string) =>
    `Without "${name}" nothing is left of the targets of ${left}. Map them to another engine first, or add --force.`,
)

type EnginesFileLocation = { file: string; dataDir: string }
type Key = { file: string; text: string }

/**
 * Adds an upstream to the configuration file, ahead of the present targets for text modes. Its key goes to a file of
 * its own that only the owner can read. Both files are written completely before they replace the old ones.
 * Throws 409 when the name is taken, or when rewriting would lose comments of the file.
 */
export async function saveEngine(location: EnginesFileLocation, engine: NewEngine): Promise<void> {
  const { before, engines } = readEngines(location)
  if (Object.hasOwn(engines.upstreams, engine.name)) throw nameTaken(engine.name, location.file)
  const file = keyFileOf(location, engine.name)
  const targets = [
    ...engine.models.map((model) => `${engine.name}:${model}`),
    ...(engines.models[EVERY_TEXT_ENGINE] ?? []),
  ]
  const after: EnginesFile = {
    upstreams: { ...engines.upstreams, [engine.name]: toUpstream(engine, file) },
    models: { ...engines.models, [EVERY_TEXT_ENGINE]: targets },
  }
  await write(location, { before, after }, engine.api_key ? { file, text: `${engine.api_key}\n` } : null)
}

/** The upstream as it would be after a change, and the models that are asked of it. Throws 404. */
export function changedUpstream(location: EnginesFileLocation, name: string, patch: EnginePatch) {
  const { engines } = readEngines(location)
  const { settings = {}, base_url: baseUrl, api_key: apiKey } = patch
  const given = Object.entries({ ...upstreamIn(engines, name), ...settings, ...(baseUrl ? { baseUrl } : {}) })
  const upstream = Object.fromEntries(given.filter(([, value]) => value !== null)) as UpstreamConfig
  const targets = new Set(Object.values(engines.models).flat())
  const models = [...targets].filter((target) => target.startsWith(`${name}:`))
  return { upstream, apiKey, models: models.map((target) => target.slice(name.length + 1)) }
}

/** Changes an upstream; what the patch leaves out stays. Throws 404, and 409 as {@link saveEngine} does. */
export async function updateEngine(location: EnginesFileLocation, name: string, patch: EnginePatch): Promise<void> {
  const { before, engines } = readEngines(location)
  const { upstream, apiKey } = changedUpstream(location, name, patch)
  const { apiKey: inline, ...rest } = upstream
  const file = keyFileOf(location, name)
  const changed = apiKey ? { ...rest, apiKeyFile: file } : { ...rest, ...(inline ? { apiKey: inline } : {}) }
  const after = { ...engines, upstreams: { ...engines.upstreams, [name]: changed } }
  await write(location, { before, after }, apiKey ? { file, text: `${apiKey}\n` } : null)
}

/**
 * Removes an upstream, its targets and its key file. Throws 404, and 409 when an engine would be left without a target,
 * unless `force`, or as {@link saveEngine} does.
 */
export async function removeEngine(location: EnginesFileLocation, name: string, force: boolean): Promise<void> {
  const { before, engines } = readEngines(location)
  upstreamIn(engines, name)
  const { [name]: _, ...upstreams } = engines.upstreams
  const kept = Object.entries(engines.models).map(
    ([id, targets]) => [id, targets.filter((target) => !target.startsWith(`${name}:`))] as const,
  )
  const left = kept.filter(([, targets]) => targets.length === 0).map(([id]) => (id === '*' ? 'every text engine' : id))
  if (left.length && !force) throw stillUsed(name, left.join(', '))
  const models = Object.fromEntries(kept.filter(([, targets]) => targets.length))
  await write(location, { before, after: { upstreams, models } }, null)
  await rm(keyFileOf(location, name), { force: true })
}

/** Sets the targets of an engine, best first; none leaves it to those of `*`. Throws 409 as {@link saveEngine} does. */
export async function mapEngine(location: EnginesFileLocation, id: string, targets: readonly string[]): Promise<void> {
  const { before, engines } = readEngines(location)
  await write(location, { before, after: mapped(engines, id, targets) }, null)
}

/** The engines of the file with this mapping, to be checked before it is written. */
export const withMapping = (location: EnginesFileLocation, id: string, targets: readonly string[]): EnginesFile =>
  mapped(readEngines(location).engines, id, targets)

function mapped({ upstreams, models }: EnginesFile, id: string, targets: readonly string[]): EnginesFile {
  const { [id]: _, ...others } = models
  return { upstreams, models: targets.length ? { ...others, [id]: [...targets] } : others }
}

export const toUpstream = ({ kind, base_url, api_key, settings }: NewEngine, apiKeyFile: string): UpstreamConfig => ({
  kind,
  ...(base_url ? { baseUrl: base_url } : {}),
  ...(api_key ? { apiKeyFile } : {}),
  ...settings,
})

const keyFileOf = ({ dataDir }: EnginesFileLocation, name: string): string => join(dataDir, 'engine-keys', name)

function upstreamIn({ upstreams }: EnginesFile, name: string): UpstreamConfig {
  const found = Object.hasOwn(upstreams, name) ? upstreams[name] : undefined
  if (!found) throw notFound('upstream in the configuration file')
  return found
}

function readEngines({ file }: EnginesFileLocation) {
  const before = readConfigFile(file)
  return { before, engines: enginesOf(before.config) }
}

type Change = { before: ConfigFile; after: EnginesFile }

async function write({ file }: EnginesFileLocation, { before, after }: Change, key: Key | null): Promise<void> {
  assertRewritable(before, { engines: after })
  if (key) await writeWhole(key.file, key.text)
  await writeConfigFile(file, { ...before.config, engines: after })
}

const engineShape = checker(EnginesFile)

const enginesOf = ({ engines }: Record<string, unknown>): EnginesFile =>
  engineShape.is(engines) ? engines : { upstreams: {}, models: {} }
