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
  /** The master key of a rotation that has not ended; the database knows whether it is in force. */
  next: Uint8Array | null
  /** 1 for the first master key; each rotation adds one. */
  version: number
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
      next: null,
      version: 1,
      isNew: true,
      path,
    }
  }
  assertPrivate(path)
  const stored = read(readFileSync(path, 'utf8'))
  const masterKey = keyIn(stored.master_key)
  if (!masterKey) throw new ConfigError([`${path} contains no master key of 32 bytes. Restore it from a backup.`])
  const more = { next: keyIn(stored.next_master_key), version: stored.key_version ?? 1 }
  return { ...withAuditKey(path, stored), ...more, masterKey, isNew: false, path }
}

export const secretsFile = (dataDir: string): string => join(dataDir, 'secrets.json')

type Stored = {
  version?: number
  master_key?: string
  /** Absent: 1. */
  key_version?: number
  next_master_key?: string
  audit_key?: string
}

function keyIn(word: string | undefined): Uint8Array | null {
  const key = Buffer.from(word ?? '', 'base64')
  return key.length === 32 ? key : null
}

/** Puts the next master key beside the one in force, and returns it. */
export function beginRotation(dataDir: string, given: Uint8Array | null): Uint8Array {
  const next = given ?? randomBytes(32)
  rewrite(dataDir, (stored) => ({ ...stored, next_master_key: Buffer.from(next).toString('base64') }))
  return next
}

/** Lets the next master key be the only one. The file as it was before stays beside it, for older backups. */
export function endRotation(dataDir: string): { old: string; version: number } {
  const path = secretsFile(dataDir)
  const { next_master_key: next, ...stored } = read(readFileSync(path, 'utf8'))
  const before = stored.key_version ?? 1
  const old = join(dataDir, `secrets.v${before}.json`)
  writePrivate(old, textOf(stored))
  writePrivate(path, textOf({ ...stored, master_key: next, key_version: before + 1 }))
  return { old, version: before + 1 }
}

/** Takes back what {@link beginRotation} wrote. */
export const forgetRotation = (dataDir: string): void => rewrite(dataDir, ({ next_master_key: _, ...stored }) => stored)

function rewrite(dataDir: string, change: (stored: Stored) => Stored): void {
  const path = secretsFile(dataDir)
  writePrivate(path, textOf(change(read(readFileSync(path, 'utf8')))))
}

const textOf = (stored: object): string => `${JSON.stringify(stored, null, 2)}\n`

/** Adds an audit key to a file that has none (older than checkpoints). A broken key is an error, never replaced. */
function withAuditKey(path: string, stored: Stored): { auditKey: SigningKey } {
  const audit_key = stored.audit_key ?? newSigningKey()
  if (stored.audit_key === undefined) writePrivate(path, textOf({ ...stored, audit_key }))
  try {
    return { auditKey: openSigningKey(audit_key) }
  } catch {
    throw new ConfigError([`The audit key in ${path} is not an Ed25519 key. Restore the file from a backup.`])
  }
}

/** The members of the file; an empty object when the text is not a JSON object. */
function read(text: string): Stored {
  try {
    const stored: unknown = JSON.parse(text)
    return typeof stored === 'object' && stored !== null ? stored : {}
  } catch {
    return {}
  }
}
