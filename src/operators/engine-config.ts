import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { EnginesFile, type UpstreamConfig } from '../engines'
import { defineError } from '../kernel/errors'
import { checker } from '../kernel/schema'
import type { NewEngine } from './schema'

const EVERY_TEXT_ENGINE = '*'

const commentsWouldGo = defineError(
  'conflict',
  'conflict',
  (path: string, snippet: string) =>
    `${path} has comments, which would be lost if this command rewrote it. Add this to it yourself:\n${snippet}`,
)

const nameTaken = defineError(
  'conflict',
  'conflict',
  (name: string, path: string) =>
    `${path} already has an engine "${name}". Choose another name, or remove that engine from the file.`,
)

const unreadable = defineError('conflict', 'conflict', (path: string) => `${path} is not valid JSON. Correct it first.`)

type Place = { file: string; dataDir: string }

/**
 * Adds an upstream to the configuration file, ahead of the present targets for text modes. Its key goes to a file of
 * its own that only the owner can read. Both files are written completely before they replace the old ones.
 * Throws 409 when the name is taken, or when rewriting would lose comments of the file.
 */
export async function saveEngine({ file, dataDir }: Place, engine: NewEngine): Promise<void> {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}'
  const config = readConfig(text, file)
  const engines = enginesOf(config)
  if (Object.hasOwn(engines.upstreams, engine.name)) throw nameTaken(engine.name, file)
  const upstream = toUpstream(engine, join(dataDir, 'engine-keys', engine.name))
  const targets = [
    ...engine.models.map((model) => `${engine.name}:${model}`),
    ...(engines.models[EVERY_TEXT_ENGINE] ?? []),
  ]
  const after: EnginesFile = {
    upstreams: { ...engines.upstreams, [engine.name]: upstream },
    models: { ...engines.models, [EVERY_TEXT_ENGINE]: targets },
  }
  const written = `${JSON.stringify({ ...config, engines: after }, null, 2)}\n`
  if (!isPlainJson(text)) throw commentsWouldGo(file, JSON.stringify({ engines: after }, null, 2))
  if (engine.api_key && upstream.apiKeyFile) await writeWhole(upstream.apiKeyFile, `${engine.api_key}\n`)
  await writeWhole(file, written)
}

export const toUpstream = ({ kind, base_url, api_key }: NewEngine, apiKeyFile: string): UpstreamConfig => ({
  kind,
  ...(base_url ? { baseUrl: base_url } : {}),
  ...(api_key ? { apiKeyFile } : {}),
})

function readConfig(text: string, file: string): Record<string, unknown> {
  try {
    return Bun.JSONC.parse(text) as Record<string, unknown>
  } catch {
    throw unreadable(file)
  }
}

const engineShape = checker(EnginesFile)

const enginesOf = ({ engines }: Record<string, unknown>): EnginesFile =>
  engineShape.is(engines) ? engines : { upstreams: {}, models: {} }

function isPlainJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The configuration's folder also holds the keys, so both are readable by their owner only. */
async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const partial = `${path}.partial`
  await writeFile(partial, text, { mode: 0o600 })
  await chmod(partial, 0o600)
  await rename(partial, path)
}
