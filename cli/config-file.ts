import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { defineError } from '../src/kernel/errors'

const commentsWouldGo = defineError(
  'conflict',
  'conflict',
  (path: string, snippet: string) =>
    `${path} has comments, which would be lost if this command rewrote it. Add this to it yourself:\n${snippet}`,
)

const unreadable = defineError('conflict', 'conflict', (path: string) => `${path} is not valid JSON. Correct it first.`)

/** The configuration file: its text, and the parsed settings. */
export type ConfigFile = { path: string; text: string; config: Record<string, unknown> }

/** Reads the configuration file. A missing file has no settings. Throws 409 for invalid JSON. */
export function readConfigFile(path: string): ConfigFile {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '{}'
  try {
    return { path, text, config: Bun.JSONC.parse(text) as Record<string, unknown> }
  } catch {
    throw unreadable(path)
  }
}

/** Throws 409 if rewriting would lose the comments of the file. `changed` is what to add to it by hand. */
export function assertRewritable({ path, text }: ConfigFile, changed: Record<string, unknown>): void {
  try {
    JSON.parse(text)
  } catch {
    throw commentsWouldGo(path, JSON.stringify(changed, null, 2))
  }
}

/** Replaces the configuration file once it is fully written. Only its owner can read it: it may hold keys. */
export const writeConfigFile = (path: string, config: Record<string, unknown>): Promise<void> =>
  writeWhole(path, `${JSON.stringify(config, null, 2)}\n`)

/** Writes a file for its owner only. Writes it completely before it replaces the existing one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const partial = `${path}.partial`
  await writeFile(partial, text, { mode: 0o600 })
  await chmod(partial, 0o600)
  await rename(partial, path)
}
