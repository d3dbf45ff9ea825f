import { existsSync, mkdirSync } from 'node:fs'
import { hasOtherNodes, keepSecrets, secretsOf } from '../cluster'
import { resealEngines } from '../engines'
import { resealAnswers } from '../idempotency'
import { ConfigError } from '../kernel/config'
import type { Resealed } from '../kernel/crypto'
import { type DatabaseLocation, inTurn, openPostgres, openSqlite, type Store } from '../kernel/store'
import { resealWebhooks } from '../webhooks'
import type { Config } from './config'
import { lockDataDir } from './lock'
import { databaseLocationOf } from './open'
import {
  beginRotation,
  endRotation,
  fingerprintOf,
  loadSecrets,
  masterKeysOf,
  nameOf,
  otherKey,
  secretsFile,
  secretsIn,
  storedIn,
  unwrapped,
  wrap,
} from './secrets'

/** What the master key protects, as counts of rows. */
export type Keyring = {
  /** Path of the secrets file. Null when the secrets come from the database. */
  file: string | null
  /** Name of the master key that wraps the secrets in the database. Null when only the file has them. */
  wrapped_by: string | null
  /** 1 for the key of the first start. Each rotation adds one. */
  version: number
  /** True when the database was last written with the secrets of the file. */
  fits: boolean
  webhooks: Resealed
  answers: Resealed
  /** The settings of engines added while servers ran, as one row. */
  engines: Resealed
}

/** Counts what the secrets decrypt. Reads the database, so it also works while a server runs. @throws ConfigError */
export async function keyringStatus(config: Config): Promise<Keyring> {
  assertDatabase(config)
  return withStore(databaseLocationOf(config), async (store) => {
    const known = await secretsOf(store.read)
    const keys = masterKeysOf(config)
    const stored = known && unwrapped(known, keys)
    if (known?.wrapped && keys.length && !stored) throw otherKey(known, keys)
    if (!stored) assertFile(config)
    const secrets = stored ? secretsIn(stored, 'the database') : loadSecrets(config.dataDir)
    return look(store, secrets, stored ? null : secretsFile(config.dataDir))
  })
}

async function look(
  { read }: Store,
  secrets: Parameters<typeof fingerprintOf>[0] & { version: number },
  file: string | null,
) {
  const known = await secretsOf(read)
  return {
    file,
    wrapped_by: known?.wrapped_by ?? null,
    version: secrets.version,
    fits: known?.fingerprint === fingerprintOf(secrets),
    webhooks: await resealWebhooks(read, secrets.masterKey, null),
    answers: await resealAnswers(read, secrets.masterKey, null),
    engines: await resealEngines(read, secrets.masterKey, null),
  }
}

/**
 * Wraps the secrets of the database with another master key: the given one, or the first of SVC_MASTER_KEY. Running
 * nodes have the secrets in memory and continue. A lost key can be replaced if `secrets.json` still has the same
 * secrets.
 * @throws ConfigError
 */
export async function rewrapSecrets(
  config: Config,
  suppliedKey: Uint8Array | null,
): Promise<Keyring & { old: string }> {
  const keys = masterKeysOf(config)
  const key = suppliedKey ?? keys[0]
  if (!key) throw new ConfigError([`There is no key to wrap with. ${HOW}`])
  const location = databaseLocationOf(config)
  return inTurn(location, () =>
    withStore(location, async (store) => {
      const known = (await secretsOf(store.read))!
      const stored =
        unwrapped(known, keys) ?? (existsSync(secretsFile(config.dataDir)) ? storedIn(config.dataDir) : null)
      const secrets = stored && secretsIn(stored, 'the database')
      if (!secrets || fingerprintOf(secrets) !== known.fingerprint) throw otherKey(known, keys)
      if (nameOf(key) === known.wrapped_by)
        throw new ConfigError([`Master key ${nameOf(key)} wraps the secrets already. ${HOW}`])
      await store.write((tx) => keepSecrets(tx, { fingerprint: known.fingerprint, ...wrap(stored, key) }))
      return { ...(await look(store, secrets, null)), old: known.wrapped_by! }
    }),
  )
}

const HOW =
  'On every node put the new key before the old one: SVC_MASTER_KEY=NEW,OLD, or a line above it in SVC_MASTER_KEY_FILE. Then run this again.'

/**
 * Replaces the master key of `secrets.json` and encrypts its data again, while no server runs. The file gets the new
 * key before the commit and drops the old one after it. If a crash comes between, the next start decides by the
 * database. The old key stays in its own file, for earlier backups. Changes nothing if a webhook secret cannot be
 * decrypted.
 * @throws ConfigError
 */
export async function rotateKeyring(
  config: Config,
  suppliedKey: Uint8Array | null,
): Promise<Keyring & { old: string }> {
  assertDatabase(config)
  assertFile(config)
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const lock = lockDataDir(config.dataDir)
  try {
    return await withStore(databaseLocationOf(config), async (store) => {
      if (await hasOtherNodes(store, lock.home))
        throw new ConfigError([
          'Other nodes use this database. Stop them first, and copy the new secrets.json to them afterwards.',
        ])
      const before = loadSecrets(config.dataDir)
      const known = await secretsOf(store.read)
      if (known !== null && known.fingerprint !== fingerprintOf(before))
        throw new ConfigError([`${before.path} is not the file that the database was encrypted with.`])
      const next = beginRotation(config.dataDir, suppliedKey)
      const counted = await store.write(async (tx) => {
        const webhooks = await resealWebhooks(tx, before.masterKey, next)
        const answers = await resealAnswers(tx, before.masterKey, next)
        const engines = await resealEngines(tx, before.masterKey, next)
        if (webhooks.unreadable)
          throw new ConfigError([
            `secrets.json cannot decrypt the secrets of ${webhooks.unreadable} webhooks, so nothing was changed. Give each a new secret first: svc-admin webhooks rotate-secret ID`,
          ])
        const fingerprint = fingerprintOf({ ...before, masterKey: next })
        await keepSecrets(tx, { fingerprint, wrapped: null, wrapped_by: null })
        return { webhooks, answers, engines }
      })
      const { old, version } = endRotation(config.dataDir)
      return { file: before.path, wrapped_by: null, version, fits: true, ...counted, old }
    })
  } finally {
    lock.release()
  }
}

function assertFile({ dataDir }: Config): void {
  const path = secretsFile(dataDir)
  if (!existsSync(path)) throw new ConfigError([`There is no ${path}. The first start creates it: svc-admin serve`])
}

function assertDatabase({ dataDir, databaseUrl }: Config): void {
  if (!databaseUrl && !existsSync(`${dataDir}/svc.db`))
    throw new ConfigError([
      `There is no database in ${dataDir}. If the server uses Postgres, run this with its SVC_DATABASE_URL. Otherwise the first start creates a database: svc-admin serve`,
    ])
}

/** Opens a database for `work` and closes it. */
export async function withStore<T>(location: DatabaseLocation, work: (store: Store) => Promise<T>): Promise<T> {
  const onDiskFailure = (error: unknown) => {
    throw error
  }
  const store =
    location.dialect === 'postgres'
      ? openPostgres({ url: location.url })
      : openSqlite({ path: location.path, onDiskFailure })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
