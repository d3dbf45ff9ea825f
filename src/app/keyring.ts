import { existsSync, mkdirSync } from 'node:fs'
import { hasOtherNodes, keepSecrets, secretsOf } from '../cluster'
import { resealEngines } from '../engines'
import { resealAnswers } from '../idempotency'
import { ConfigError } from '../kernel/config'
import type { Resealed } from '../kernel/crypto'
import { openPostgres, openSqlite, type Store } from '../kernel/store'
import { resealWebhooks } from '../webhooks'
import type { Config } from './config'
import { fingerprintOf } from './database-secrets'
import { lockDataDir } from './lock'
import { databaseLocationOf } from './open'
import { beginRotation, endRotation, loadSecrets, secretsFile } from './secrets'

/** What the master key protects, as counts of rows. */
export type Keyring = {
  file: string
  /** 1 for the key of the first start; each rotation adds one. */
  version: number
  /** Whether the database was last written with the secrets of the file. */
  fits: boolean
  webhooks: Resealed
  answers: Resealed
  /** The settings of engines that were made while servers ran: one row. */
  engines: Resealed
}

/** What `secrets.json` opens: read from the database, whether or not a server runs. @throws ConfigError */
export async function keyringStatus(config: Config): Promise<Keyring> {
  assertThere(config)
  const secrets = loadSecrets(config.dataDir)
  return withStore(config, async (store) => ({
    file: secrets.path,
    version: secrets.version,
    fits: (await secretsOf(store.read)) === fingerprintOf(secrets),
    webhooks: await resealWebhooks(store.read, secrets.masterKey, null),
    answers: await resealAnswers(store.read, secrets.masterKey, null),
    engines: await resealEngines(store.read, secrets.masterKey, null),
  }))
}

/**
 * Replaces the master key and encrypts again what the old one protected, while no server runs. The new key is in the file
 * before the commit and the only one after it: a crash in between is settled by the next start, by what the database
 * says. The old key stays in a file of its own, for backups from before. Nothing is changed where a row cannot be opened.
 * @throws ConfigError
 */
export async function rotateKeyring(config: Config, given: Uint8Array | null): Promise<Keyring & { old: string }> {
  assertThere(config)
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const lock = lockDataDir(config.dataDir)
  try {
    return await withStore(config, async (store) => {
      if (await hasOtherNodes(store, lock.home))
        throw new ConfigError([
          'Other nodes use this database. Stop them first, and copy the new secrets.json to them afterwards.',
        ])
      const before = loadSecrets(config.dataDir)
      const known = await secretsOf(store.read)
      if (known !== null && known !== fingerprintOf(before))
        throw new ConfigError([`${before.path} is not the file that the database was encrypted with.`])
      const next = beginRotation(config.dataDir, given)
      const counted = await store.write(async (tx) => {
        const webhooks = await resealWebhooks(tx, before.masterKey, next)
        const answers = await resealAnswers(tx, before.masterKey, next)
        const engines = await resealEngines(tx, before.masterKey, next)
        if (webhooks.unreadable) throw unreadable(webhooks.unreadable)
        await keepSecrets(tx, fingerprintOf({ ...before, masterKey: next }))
        return { webhooks, answers, engines }
      })
      const { old, version } = endRotation(config.dataDir)
      return { file: before.path, version, fits: true, ...counted, old }
    })
  } finally {
    lock.release()
  }
}

const unreadable = (count: number) =>
  new ConfigError([
    `secrets.json cannot decrypt the secrets of ${count} webhooks, so nothing was changed. Give each a new secret first: svc-admin webhooks rotate-secret ID`,
  ])

function assertThere({ dataDir, databaseUrl }: Config): void {
  const path = secretsFile(dataDir)
  if (!existsSync(path)) throw new ConfigError([`There is no ${path}. The first start creates it: svc-admin serve`])
  if (!databaseUrl && !existsSync(`${dataDir}/svc.db`))
    throw new ConfigError([`There is no database in ${dataDir}. The first start creates it: svc-admin serve`])
}

async function withStore<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const location = databaseLocationOf(config)
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
