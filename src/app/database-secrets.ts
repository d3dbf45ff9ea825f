import { existsSync } from 'node:fs'
import { hasRecord } from '../audit'
import { hasOtherNodes, keepSecrets, secretsOf } from '../cluster'
import { ConfigError } from '../kernel/config'
import { hmacHex } from '../kernel/crypto'
import type { Store } from '../kernel/store'
import { endRotation, forgetRotation, loadSecrets, type Secrets, secretsFile } from './secrets'

type Options = {
  dataDir: string
  /** Id of the data folder. */
  home: string
  /** Goes on with secrets other than those of the database. */
  newSecrets: boolean
  /** A command may look into a database that a server refuses to start with. */
  serving: boolean
}

/**
 * The secrets for a database. Refuses to make new ones, or to serve with others, where it was written with some: what
 * those encrypted, as answers under Idempotency-Keys, could not be read, and two keys would sign one record.
 * @throws ConfigError
 */
export async function secretsFor(store: Store, { dataDir, home, newSecrets, serving }: Options): Promise<Secrets> {
  const path = secretsFile(dataDir)
  const known = await secretsOf(store.read)
  if (!existsSync(path) && (known !== null || (await hasRecord(store.read)))) {
    if (!newSecrets) throw missing(path)
    if (await hasOtherNodes(store, home)) throw inUse()
  }
  const found = loadSecrets(dataDir)
  const secrets = found.next ? settled(dataDir, found, found.next, known) : found
  const ours = fingerprintOf(secrets)
  if (ours === known) return secrets
  if (known !== null && !newSecrets) {
    if (serving) throw different(path)
    return secrets
  }
  if (known !== null && (await hasOtherNodes(store, home))) throw inUse()
  await store.write((tx) => keepSecrets(tx, ours))
  return secrets
}

/** A rotation that did not end: the database says whether it was committed. */
function settled(dataDir: string, secrets: Secrets, next: Uint8Array, known: string | null): Secrets {
  if (known === fingerprintOf({ ...secrets, masterKey: next })) endRotation(dataDir)
  else forgetRotation(dataDir)
  return loadSecrets(dataDir)
}

/** Tells secrets from others, and nothing about them. */
export const fingerprintOf = ({ masterKey, auditKey }: Pick<Secrets, 'masterKey' | 'auditKey'>): string =>
  hmacHex(masterKey, `fingerprint of secrets, signing as ${auditKey.publicKey}`)

const missing = (path: string) =>
  new ConfigError([
    `${path} is missing, but the database was encrypted with it. Restore your copy of it or copy it from another node. To give up what it encrypted, run svc-admin serve --new-secrets`,
  ])

const different = (path: string) =>
  new ConfigError([
    `${path} is not the file that the database was encrypted with. All nodes need the same file: copy secrets.json from the data folder of another node. To give up what it encrypted, run svc-admin serve --new-secrets`,
  ])

const inUse = () =>
  new ConfigError([
    'Other nodes use this database with its secrets. Copy secrets.json from one of them, or stop them first.',
  ])
