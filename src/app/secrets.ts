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
 * read, because it decrypts every stored secret (dx 4.5). Adds an audit key to a file older than checkpoints.
 * @throws ConfigError
 */
export function loadSecrets(dataDir: string): Secrets {
  const path = secretsFile(dataDir)
  const isNew = !existsSync(path)
  if (!isNew) assertPrivate(path)
  const stored = isNew ? newSecrets() : storedIn(dataDir)
  const whole = { ...stored, audit_key: stored.audit_key ?? newSigningKey() }
  const found = secretsIn(whole, path)
  if (isNew || stored.audit_key === undefined) writePrivate(path, textOf(whole))
  return { ...found, next: keyIn(stored.next_master_key), isNew, path }
}

/** What stored members contain; errors name their place. A broken key is never replaced. @throws ConfigError */
export function secretsIn(stored: Stored, place: string): Pick<Secrets, 'masterKey' | 'auditKey' | 'version'> {
  const masterKey = keyIn(stored.master_key)
  if (!masterKey) throw new ConfigError([`${place} contains no master key of 32 bytes. Restore it from a backup.`])
  try {
    return { masterKey, auditKey: openSigningKey(stored.audit_key!), version: stored.key_version ?? 1 }
  } catch {
    throw new ConfigError([`The audit key in ${place} is not an Ed25519 key. Restore the file from a backup.`])
  }
}

export const newSecrets = (): Stored => ({
  version: 1,
  master_key: randomBytes(32).toString('base64'),
  audit_key: newSigningKey(),
})

/** What `secrets.json` of this folder contains. */
export const storedIn = (dataDir: string): Stored => read(readFileSync(secretsFile(dataDir), 'utf8'))

export const secretsFile = (dataDir: string): string => join(dataDir, 'secrets.json')

/** The members of `secrets.json`, which the database has too, wrapped, where there is a key to wrap with. */
export type Stored = {
  version?: number
  master_key?: string
  /** Absent: 1. */
  key_version?: number
  next_master_key?: string
  audit_key?: string
}

/** The 32 bytes that a word of base64 stands for; null where it is no such word. */
export function keyIn(word: string | undefined): Uint8Array | null {
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
  const { next_master_key: next, ...stored } = storedIn(dataDir)
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
  writePrivate(path, textOf(change(storedIn(dataDir))))
}

const textOf = (stored: object): string => `${JSON.stringify(stored, null, 2)}\n`

/** The members of the file; an empty object when the text is not a JSON object. */
function read(text: string): Stored {
  try {
    const stored: unknown = JSON.parse(text)
    return typeof stored === 'object' && stored !== null ? stored : {}
  } catch {
    return {}
  }
}
