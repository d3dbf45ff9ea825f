import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../kernel/config'
import { newSigningKey, openSigningKey, type SigningKey } from '../kernel/signing'
import { assertPrivate, writePrivate } from './private-file'

export type Secrets = {
  /** Encrypts stored secrets that must be read again: AES-256-GCM (contract 22.7). */
  masterKey: Uint8Array
  /** Signs the checkpoints of the audit record: Ed25519 (contract 19). */
  auditKey: SigningKey
  /** True when this start created the file. */
  isNew: boolean
  path: string
}

/**
 * Reads `secrets.json` in the data folder, or creates it, readable by its owner only. Refuses a file that others can
 * read, because it decrypts every stored secret (dx 4.5).
 * @throws ConfigError
 */
export function loadSecrets(dataDir: string): Secrets {
  const path = secretsFile(dataDir)
  if (!existsSync(path)) {
    const masterKey = randomBytes(32)
    return {
      ...withAuditKey(path, { version: 1, master_key: masterKey.toString('base64') }),
      masterKey,
      isNew: true,
      path,
    }
  }
  assertPrivate(path)
  const kept = read(readFileSync(path, 'utf8'))
  const masterKey = Buffer.from(kept.master_key ?? '', 'base64')
  if (masterKey.length !== 32)
    throw new ConfigError([`${path} holds no master key of 32 bytes. Restore it from a backup.`])
  return { ...withAuditKey(path, kept), masterKey, isNew: false, path }
}

export const secretsFile = (dataDir: string): string => join(dataDir, 'secrets.json')

type Kept = { version?: number; master_key?: string; audit_key?: string }

/** Adds an audit key to a file that has none (older than checkpoints). A broken key is an error, never replaced. */
function withAuditKey(path: string, kept: Kept): { auditKey: SigningKey } {
  const audit_key = kept.audit_key ?? newSigningKey()
  if (kept.audit_key === undefined) writePrivate(path, `${JSON.stringify({ ...kept, audit_key }, null, 2)}\n`)
  try {
    return { auditKey: openSigningKey(audit_key) }
  } catch {
    throw new ConfigError([`${path} holds an audit key that is no Ed25519 key. Restore it from a backup.`])
  }
}

/** The members of the file; an empty object when the text is not a JSON object. */
function read(text: string): Kept {
  try {
    const kept: unknown = JSON.parse(text)
    return typeof kept === 'object' && kept !== null ? kept : {}
  } catch {
    return {}
  }
}
