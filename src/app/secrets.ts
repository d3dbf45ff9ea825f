import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../kernel/config'
import { writePrivate } from './private-file'

export type Secrets = {
  /** Seals what must be readable again: AES-256-GCM (contract 22.7). */
  masterKey: Uint8Array
  /** Was made just now. */
  isNew: boolean
  path: string
}

/**
 * Reads `secrets.json` in the data folder, or makes it, readable by its owner only. Refuses one that
 * others can read: it opens every stored secret (dx 4.5).
 * @throws ConfigError
 */
export function loadSecrets(dataDir: string): Secrets {
  const path = join(dataDir, 'secrets.json')
  if (!existsSync(path)) {
    const masterKey = randomBytes(32)
    const text = `${JSON.stringify({ version: 1, master_key: masterKey.toString('base64') }, null, 2)}\n`
    writePrivate(path, text)
    return { masterKey, isNew: true, path }
  }
  const mode = statSync(path).mode & 0o777
  if (mode & 0o077) {
    throw new ConfigError([`${path} can be read by others (mode ${mode.toString(8)}). Run: chmod 600 ${path}`])
  }
  const masterKey = readMasterKey(readFileSync(path, 'utf8'))
  if (masterKey.length !== 32)
    throw new ConfigError([`${path} holds no master key of 32 bytes. Restore it from a backup.`])
  return { masterKey, isNew: false, path }
}

/** The key in the file's text; empty when the text is not what this program writes. */
function readMasterKey(text: string): Uint8Array {
  try {
    const { master_key } = JSON.parse(text) as { master_key?: string }
    return Buffer.from(master_key ?? '', 'base64')
  } catch {
    return new Uint8Array()
  }
}
