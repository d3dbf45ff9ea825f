import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasRecord } from '../audit'
import { hasOtherNodes, keepSecrets, secretsOf } from '../cluster'
import { ConfigError } from '../kernel/config'
import { hmacHex, open, seal } from '../kernel/crypto'
import { parsedJson } from '../kernel/json'
import { newSigningKey, openSigningKey, type SigningKey } from '../kernel/signing'
import type { Store } from '../kernel/store'
import type { Config } from './config'
import { assertPrivate, writePrivate } from './private-file'

export type Secrets = {
  /** Encrypts stored secrets that must be read again: AES-256-GCM (docs/api.md 22.7). */
  masterKey: Uint8Array
  /** Signs the checkpoints of the audit record: Ed25519 (docs/api.md 19). */
  auditKey: SigningKey
  /** The next master key of an unfinished rotation. The database tells whether it is in force. */
  next: Uint8Array | null
  /** 1 for the first master key. Each rotation adds one. */
  version: number
  /** True when this start created the file. */
  isNew: boolean
  path: string
}

/**
 * Reads `secrets.json` in the data folder, or creates it, readable by its owner only. Rejects a file that others can
 * read, because it decrypts every stored secret (docs/operating.md 4.5). Adds an audit key to a file older than
 * checkpoints.
 * @throws ConfigError
 */
export function loadSecrets(dataDir: string): Secrets {
  const path = secretsFile(dataDir)
  const isNew = !existsSync(path)
  if (!isNew) assertPrivate(path)
  const stored = isNew ? madeSecrets() : storedIn(dataDir)
  const completed = { ...stored, audit_key: stored.audit_key ?? newSigningKey() }
  const found = secretsIn(completed, path)
  if (isNew || stored.audit_key === undefined) writePrivate(path, textOf(completed))
  return { ...found, next: keyIn(stored.next_master_key), isNew, path }
}

/** Parses the stored members. Errors name `place`. A broken key is never replaced. @throws ConfigError */
export function secretsIn(stored: Stored, place: string): Pick<Secrets, 'masterKey' | 'auditKey' | 'version'> {
  const masterKey = keyIn(stored.master_key)
  if (!masterKey) throw new ConfigError([`${place} contains no master key of 32 bytes. Restore it from a backup.`])
  try {
    return { masterKey, auditKey: openSigningKey(stored.audit_key!), version: stored.key_version ?? 1 }
  } catch {
    throw new ConfigError([`The audit key in ${place} is not an Ed25519 key. Restore the file from a backup.`])
  }
}

const madeSecrets = (): Stored => ({
  version: 1,
  master_key: randomBytes(32).toString('base64'),
  audit_key: newSigningKey(),
})

/** What `secrets.json` of this folder contains. */
export function storedIn(dataDir: string): Stored {
  const stored = parsedJson(readFileSync(secretsFile(dataDir), 'utf8'))
  return typeof stored === 'object' && stored !== null ? stored : {}
}

export const secretsFile = (dataDir: string): string => join(dataDir, 'secrets.json')

/** The members of `secrets.json`. If there is a key to wrap them, the database stores them too. */
type Stored = {
  version?: number
  master_key?: string
  /** 1 if absent. */
  key_version?: number
  next_master_key?: string
  audit_key?: string
}

/** Decodes a base64 key of 32 bytes. Null for any other text. */
function keyIn(word: string | undefined): Uint8Array | null {
  const key = Buffer.from(word ?? '', 'base64')
  return key.length === 32 ? key : null
}

/** Adds the next master key to the file, beside the one in force, and returns it. */
export function beginRotation(dataDir: string, suppliedKey: Uint8Array | null): Uint8Array {
  const next = suppliedKey ?? randomBytes(32)
  rewrite(dataDir, (stored) => ({ ...stored, next_master_key: Buffer.from(next).toString('base64') }))
  return next
}

/** Makes the next master key the only one. The old file stays beside it, for older backups. */
export function endRotation(dataDir: string): { old: string; version: number } {
  const path = secretsFile(dataDir)
  const { next_master_key: next, ...stored } = storedIn(dataDir)
  const before = stored.key_version ?? 1
  const old = join(dataDir, `secrets.v${before}.json`)
  writePrivate(old, textOf(stored))
  writePrivate(path, textOf({ ...stored, master_key: next, key_version: before + 1 }))
  return { old, version: before + 1 }
}

function rewrite(dataDir: string, change: (stored: Stored) => Stored): void {
  const path = secretsFile(dataDir)
  writePrivate(path, textOf(change(storedIn(dataDir))))
}

const textOf = (stored: object): string => `${JSON.stringify(stored, null, 2)}\n`

type Options = {
  config: Config
  /** Id of the data folder. */
  home: string
  /** Continues with other secrets than the database was written with. */
  newSecrets: boolean
  /** False inside a command, which may read a database that a server refuses to start with. */
  serving: boolean
}

type Found = Pick<Secrets, 'masterKey' | 'auditKey' | 'version' | 'isNew'>
type Known = NonNullable<Awaited<ReturnType<typeof secretsOf>>>

const CONTEXT = 'secrets of the database'
const GIVE_UP = 'To give up what it encrypted, run svc-admin serve --new-secrets'

/**
 * The secrets for a database: its own, if this node has the key that wraps them, else those of `secrets.json`. With
 * such a key, the first start creates them in the database, and a database that used the file takes them over. Refuses
 * to create or use other secrets than the database was written with. Otherwise encrypted data (for example answers
 * under Idempotency-Keys) would be lost, and two keys would sign one audit record. Starts run one at a time (`inTurn`).
 * @throws ConfigError
 */
export async function secretsFor(store: Store, options: Options): Promise<Found> {
  const { config, home, newSecrets, serving } = options
  const { dataDir } = config
  const path = secretsFile(dataDir)
  const keys = masterKeysOf(config)
  const known = await secretsOf(store.read)
  const wrapped = known && unwrapped(known, keys)
  if (wrapped) return { ...secretsIn(wrapped, 'the database'), isNew: false }
  const isThere = existsSync(path)
  if (!newSecrets && known?.wrapped && (keys.length || !isThere)) throw otherKey(known, keys)
  if (!isThere && (known !== null || (await hasRecord(store.read)))) {
    if (!newSecrets)
      throw new ConfigError([
        `${path} is missing, but the database was encrypted with it. Restore your copy of it or copy it from another node. ${GIVE_UP}`,
      ])
    if (await hasOtherNodes(store, home)) throw inUse()
  }
  const stored = keys.length && !isThere ? madeSecrets() : null
  const secrets = stored ? { ...secretsIn(stored, ''), isNew: true } : settled(dataDir, known?.fingerprint)
  const fingerprint = fingerprintOf(secrets)
  const fits = fingerprint === known?.fingerprint
  if (fits && !(keys.length && serving)) return secrets
  if (known && !fits) {
    if (!newSecrets) {
      if (serving)
        throw new ConfigError([
          `${path} is not the file that the database was encrypted with. All nodes need the same file: copy secrets.json from the data folder of another node. ${GIVE_UP}`,
        ])
      return secrets
    }
    if (await hasOtherNodes(store, home)) throw inUse()
  }
  const sealed = keys[0] ? wrap(stored ?? storedIn(dataDir), keys[0]) : { wrapped: null, wrapped_by: null }
  await store.write((tx) => keepSecrets(tx, { fingerprint, ...sealed }))
  return secrets
}

/**
 * The keys that may wrap the secrets. The first one wraps, and each is tried for unwrapping, so nodes can get a new key
 * before the database does. Empty without SVC_MASTER_KEY and SVC_MASTER_KEY_FILE.
 * @throws ConfigError
 */
export function masterKeysOf({ masterKey, masterKeyFile }: Pick<Config, 'masterKey' | 'masterKeyFile'>): Uint8Array[] {
  if (!masterKeyFile) return readKeys(masterKey, 'SVC_MASTER_KEY')
  if (masterKey) throw new ConfigError(['SVC_MASTER_KEY and SVC_MASTER_KEY_FILE are both set. Remove one of them.'])
  let text: string
  try {
    // Its group may read the file, because containers that do not run as root get such files.
    if (statSync(masterKeyFile).mode & 0o007)
      throw new ConfigError([`${masterKeyFile} can be read by other users. Run: chmod o= ${masterKeyFile}`])
    text = readFileSync(masterKeyFile, 'utf8')
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError([`SVC_MASTER_KEY_FILE cannot be read: ${(error as Error).message}`])
  }
  const keys = readKeys(text, masterKeyFile)
  if (!keys.length) throw new ConfigError([`${masterKeyFile} is empty. ${MAKE}`])
  return keys
}

const MAKE = 'Make a key with: openssl rand -base64 32'

function readKeys(text: string, place: string): Uint8Array[] {
  return text.split(/[\s,]+/).flatMap((word) => {
    const key = keyIn(word)
    if (word && !key) throw new ConfigError([`${place} contains a key that is not 32 bytes in base64. ${MAKE}`])
    return key ?? []
  })
}

/** The secrets stored in the database. Null if none of the keys opens them. */
export function unwrapped({ wrapped }: Known, keys: readonly Uint8Array[]): Stored | null {
  for (const key of wrapped ? keys : []) {
    try {
      return JSON.parse(open(key, CONTEXT, wrapped!))
    } catch {
      // Another key may open it.
    }
  }
  return null
}

/** Encrypts secrets for the database. */
export function wrap({ next_master_key: _, ...stored }: Stored, key: Uint8Array) {
  return { wrapped: seal(key, CONTEXT, JSON.stringify(stored)), wrapped_by: nameOf(key) }
}

/** Name that distinguishes master keys without revealing them. */
export const nameOf = (key: Uint8Array): string => hmacHex(key, 'name of a master key').slice(0, 8)

/** The secrets of the file. If a rotation did not end, the database tells whether it was committed. */
function settled(dataDir: string, known: string | undefined): Secrets {
  const found = loadSecrets(dataDir)
  if (!found.next) return found
  if (known === fingerprintOf({ ...found, masterKey: found.next })) endRotation(dataDir)
  else rewrite(dataDir, ({ next_master_key: _, ...stored }) => stored)
  return loadSecrets(dataDir)
}

/** Fingerprint that distinguishes secrets without revealing them. */
export const fingerprintOf = ({ masterKey, auditKey }: Pick<Secrets, 'masterKey' | 'auditKey'>): string =>
  hmacHex(masterKey, `fingerprint of secrets, signing as ${auditKey.publicKey}`)

/** The error for a node that cannot open the secrets of the database. */
export const otherKey = ({ wrapped_by }: Known, keys: readonly Uint8Array[]) =>
  new ConfigError([
    `The secrets of the database are wrapped by master key ${wrapped_by}, and this node has ${keys.length ? `only ${keys.map(nameOf).join(', ')}` : 'none'}. Set SVC_MASTER_KEY or SVC_MASTER_KEY_FILE as on the other nodes. If the key is lost and you have secrets.json, start without a master key and run svc-admin keyring rotate --from-file NEW_KEY. ${GIVE_UP}`,
  ])

const inUse = () =>
  new ConfigError([
    'Other nodes use this database with its secrets. Give this node the same master key or secrets.json, or stop them first.',
  ])
