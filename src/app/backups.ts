import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type CheckedBackup, type RestoredPart, restoreBackup } from '../operators'
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
