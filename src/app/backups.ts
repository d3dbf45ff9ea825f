import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import {
  type CheckedBackup,
  checkBackup,
  createBucket,
  isInBucket,
  manifestIn,
  type RestoredPart,
  restoreBackup,
  unseal,
} from '../operators'
import { type ConfigOverrides, loadConfig } from './config'
import { lockDataDir } from './lock'
import { databaseLocationOf } from './open'

export { type CheckedBackup, tooNew } from '../operators'

/**
 * Restores a checked backup to the places that the configured server reads. The caller names the data folder and moves
 * existing data aside. Throws like `restoreBackup`, or when a server runs.
 */
export async function restore(
  overrides: ConfigOverrides,
  folder: string,
  manifest: NonNullable<CheckedBackup['manifest']>,
  { only, confirmed, now }: { only?: RestoredPart | undefined; confirmed?: string | undefined; now: number },
): Promise<string[]> {
  const config = loadConfig(overrides)
  const name = basename(config.dataDir)
  if (confirmed !== undefined && confirmed !== name) throw new Error(`--confirm is not ${name}. Nothing was changed.`)
  const aside = confirmed === undefined ? null : `.was-${now}`
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const lock = lockDataDir(config.dataDir)
  try {
    const filesDir = config.filesDir || join(config.dataDir, 'files')
    const database = databaseLocationOf(config)
    const stored = await restoreBackup(folder, manifest, { database, filesDir, only, aside })
    const audit = join(config.dataDir, 'audit')
    if (!aside || only === 'files' || !existsSync(audit)) return stored
    // Its checkpoints sign events that the backup does not have.
    renameSync(audit, `${audit}${aside}`)
    return [...stored, `${audit}${aside}`]
  } finally {
    lock.release()
  }
}

/**
 * Checks the backup at a place and runs `work` on its folder. A backup at `s3://bucket/folder` is downloaded to a
 * temporary folder. An encrypted one is decrypted there, if identities for it are given.
 */
export async function checked<T>(
  overrides: ConfigOverrides,
  { place, identities }: { place: string; identities: readonly string[] | null },
  work: (folder: string, found: CheckedBackup) => Promise<T>,
): Promise<T> {
  const scratch = mkdtempSync(join(tmpdir(), 'svc-backup-'))
  try {
    const folder = isInBucket(place) ? await fetched(overrides, place, scratch) : place
    const found = await checkBackup(folder)
    if (!found.ok || !found.manifest?.encrypted || !identities) return await work(folder, found)
    const plain = join(scratch, 'plain')
    const problem = await unseal(folder, plain, identities)
    return problem
      ? await work(folder, { ...found, ok: false, problems: [problem] })
      : await work(plain, await checkBackup(plain))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function fetched(overrides: ConfigOverrides, place: string, scratch: string): Promise<string> {
  const bucket = createBucket(place, loadConfig(overrides))
  const folder = join(scratch, 'fetched')
  if (!(await bucket.exists())) return folder
  const manifest = manifestIn(await bucket.manifest())
  if (typeof manifest !== 'string') await bucket.bring(folder, manifest)
  return folder
}
