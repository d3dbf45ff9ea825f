import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type CheckedBackup,
  createBucket,
  isInBucket,
  manifestIn,
  type RestoredPart,
  restoreBackup,
} from '../operators'
import { type ConfigOverrides, loadConfig } from './config'
import { lockDataDir } from './lock'
import { databaseLocationOf } from './open'

export { type CheckedBackup, checkBackup } from '../operators'

/** Puts a checked backup where the configured server will find it. Throws as `restoreBackup` does, or when one runs. */
export async function restore(
  overrides: ConfigOverrides,
  folder: string,
  manifest: NonNullable<CheckedBackup['manifest']>,
  only?: RestoredPart,
): Promise<void> {
  const config = loadConfig(overrides)
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const lock = lockDataDir(config.dataDir)
  try {
    const filesDir = config.filesDir || join(config.dataDir, 'files')
    await restoreBackup(folder, manifest, { database: databaseLocationOf(config), filesDir, only })
  } finally {
    lock.release()
  }
}

/** Works on the folder of a backup; one at `s3://bucket/folder` is fetched into the folder of temporary files for it. */
export async function inFolder<T>(
  overrides: ConfigOverrides,
  place: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  if (!isInBucket(place)) return work(place)
  const bucket = createBucket(place, loadConfig(overrides))
  const folder = mkdtempSync(join(tmpdir(), 'svc-backup-'))
  try {
    if (await bucket.exists()) {
      const manifest = manifestIn(await bucket.manifest())
      if (typeof manifest !== 'string') await bucket.bring(folder, manifest.file, Boolean(manifest.files))
    }
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
