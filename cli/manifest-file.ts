import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { unreadable, usageFailure } from './failure'
import type { Shell } from './shell'
import { fromHere } from './transport'

/** A manifest as its author writes it, with the text of its knowledge files. */
export type WrittenManifest = Record<string, unknown>

/**
 * Reads a manifest in JSON, JSONC, YAML or TOML, or from stdin with `-`. Files listed in `knowledge` and missing from
 * `knowledgeFiles` are read from the manifest's folder. @throws CommandFailed 2
 */
export async function readManifestFile(shell: Shell, file: string): Promise<WrittenManifest> {
  const path = file === '-' ? null : fromHere(shell.cwd, file)
  const text = path === null ? await shell.io.readStdin() : readText(path, file)
  const manifest = parse(text, path === null ? '' : extname(path), file)
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest)) {
    throw usageFailure(`${file} is not a manifest: it must contain one object.`)
  }
  return path === null ? (manifest as WrittenManifest) : withKnowledge(manifest as WrittenManifest, dirname(path))
}

function readText(path: string, file: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unreadable(file, error)
  }
}

function parse(text: string, ending: string, file: string): unknown {
  try {
    if (ending === '.yaml' || ending === '.yml') return Bun.YAML.parse(text)
    if (ending === '.toml') return Bun.TOML.parse(text)
    return Bun.JSONC.parse(text)
  } catch (error) {
    throw usageFailure(`${file} cannot be read as ${ending.slice(1) || 'json'}: ${(error as Error).message}`)
  }
}

/** Matches names inside the folder. Others are not read; the review rejects them. */
const INSIDE = /^(?!\/)(?!.*(^|\/)\.\.(\/|$))[^\\]+$/

function withKnowledge(manifest: WrittenManifest, folder: string): WrittenManifest {
  const { knowledge, knowledgeFiles = {} } = manifest
  if (!Array.isArray(knowledge) || typeof knowledgeFiles !== 'object') return manifest
  const brought = knowledgeFiles as Record<string, unknown>
  const missing = knowledge.filter(
    (name): name is string =>
      typeof name === 'string' && INSIDE.test(name) && !Object.hasOwn(brought, name) && existsSync(join(folder, name)),
  )
  const read = missing.map((name) => [name, readText(join(folder, name), name)])
  return read.length ? { ...manifest, knowledgeFiles: { ...brought, ...Object.fromEntries(read) } } : manifest
}
