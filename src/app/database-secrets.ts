import { existsSync, readFileSync, statSync } from 'node:fs'
import { hasRecord } from '../audit'
import { hasOtherNodes, keepSecrets, secretsOf } from '../cluster'
import { ConfigError } from '../kernel/config'
import { hmacHex, open, seal } from '../kernel/crypto'
import type { Store } from '../kernel/store'
import type { Config } from './config'
import {
  endRotation,
  forgetRotation,
  keyIn,
  loadSecrets,
  newSecrets as makeSecrets,
  type Secrets,
  type Stored,
  secretsFile,
  secretsIn,
  storedIn,
} from './secrets'

type Options = {
  config: Config
  /** Id of the data folder. */
  home: string
  /** Goes on with secrets other than those of the database. */
  newSecrets: boolean
  /** A command may look into a database that a server refuses to start with. */
  serving: boolean
}

type Found = Pick<Secrets, 'masterKey' | 'auditKey' | 'version' | 'isNew'>
type Known = NonNullable<Awaited<ReturnType<typeof secretsOf>>>

const CONTEXT = 'secrets of the database'
const GIVE_UP = 'To give up what it encrypted, run svc-admin serve --new-secrets'

/**
 * The secrets for a database: those it has itself, where the node has the key that wraps them, or those of `secrets.json`.
 * With a key the first start makes them in the database, and a database that used the file takes them over. Refuses to
 * make new ones, or to serve with others, where it was written with some: what those encrypted, as answers under
 * Idempotency-Keys, could not be read, and two keys would sign one record. Starts run one at a time (`inTurn`).
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
    if (!newSecrets) throw missing(path)
    if (await hasOtherNodes(store, home)) throw inUse()
  }
  const stored = keys.length && !isThere ? makeSecrets() : null
  const secrets = stored ? { ...secretsIn(stored, ''), isNew: true } : settled(dataDir, known?.fingerprint)
  const fingerprint = fingerprintOf(secrets)
  const fits = fingerprint === known?.fingerprint
  if (fits && !(keys.length && serving)) return secrets
  if (known && !fits) {
    if (!newSecrets) {
      if (serving) throw different(path)
      return secrets
    }
    if (await hasOtherNodes(store, home)) throw inUse()
  }
  const sealed = keys[0] ? wrap(stored ?? storedIn(dataDir), keys[0]) : { wrapped: null, wrapped_by: null }
  await store.write((tx) => keepSecrets(tx, { fingerprint, ...sealed }))
  return secrets
}

/**
 * The keys that may wrap the secrets: the first wraps, and each is tried, so that nodes can be given a new one before
 * the database is. Empty without SVC_MASTER_KEY and SVC_MASTER_KEY_FILE.
 * @throws ConfigError
 */
export function masterKeysOf({ masterKey, masterKeyFile }: Pick<Config, 'masterKey' | 'masterKeyFile'>): Uint8Array[] {
  if (!masterKeyFile) return readKeys(masterKey, 'SVC_MASTER_KEY')
  if (masterKey) throw new ConfigError(['SVC_MASTER_KEY and SVC_MASTER_KEY_FILE are both set. Remove one of them.'])
  let text: string
  try {
    // Its group may read it: containers that do not run as root are given such files.
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

/** The secrets that the database has, where one of the keys opens them. */
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

/** Seals secrets for the database. */
export function wrap({ next_master_key: _, ...stored }: Stored, key: Uint8Array) {
  return { wrapped: seal(key, CONTEXT, JSON.stringify(stored)), wrapped_by: nameOf(key) }
}

/** Tells a master key from others, and nothing about it. */
export const nameOf = (key: Uint8Array): string => hmacHex(key, 'name of a master key').slice(0, 8)

/** The secrets of the file. Of a rotation that did not end the database says whether it was committed. */
function settled(dataDir: string, known: string | undefined): Secrets {
  const found = loadSecrets(dataDir)
  if (!found.next) return found
  if (known === fingerprintOf({ ...found, masterKey: found.next })) endRotation(dataDir)
  else forgetRotation(dataDir)
  return loadSecrets(dataDir)
}

/** Tells secrets from others, and nothing about them. */
export const fingerprintOf = ({ masterKey, auditKey }: Pick<Secrets, 'masterKey' | 'auditKey'>): string =>
  hmacHex(masterKey, `fingerprint of secrets, signing as ${auditKey.publicKey}`)

/** Why a node cannot open the secrets of the database. */
export const otherKey = ({ wrapped_by }: Known, keys: readonly Uint8Array[]) =>
  new ConfigError([
    `The secrets of the database are wrapped by master key ${wrapped_by}, and this node has ${keys.length ? `only ${keys.map(nameOf).join(', ')}` : 'none'}. Set SVC_MASTER_KEY or SVC_MASTER_KEY_FILE as on the other nodes. If the key is lost and you have secrets.json, start without a master key and run svc-admin keyring rotate --from-file NEW_KEY. ${GIVE_UP}`,
  ])

const missing = (path: string) =>
  new ConfigError([
    `${path} is missing, but the database was encrypted with it. Restore your copy of it or copy it from another node. ${GIVE_UP}`,
  ])

const different = (path: string) =>
  new ConfigError([
    `${path} is not the file that the database was encrypted with. All nodes need the same file: copy secrets.json from the data folder of another node. ${GIVE_UP}`,
  ])

const inUse = () =>
  new ConfigError([
    'Other nodes use this database with its secrets. Give this node the same master key or secrets.json, or stop them first.',
  ])
