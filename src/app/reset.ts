import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../kernel/config'
import { wipe } from '../kernel/store'
import type { Config } from './config'
import { lockDataDir } from './lock'
import { databaseLocationOf } from './open'
import { assertAlone } from './single-server'

export { assertAlone }

/** Files that a reset removes besides the database. Secrets and backups stay. */
const NAMES = ['dev-key', 'audit', 'ops.sock'] as const
const OF_FILES = /^[0-9a-f]{2}$/

/**
 * Deletes the data of a development server: its database and files. Touches nothing else in the folders.
 * @throws ConfigError in production mode, and while a server uses the data
 */
export async function resetData(config: Config): Promise<void> {
  if (config.production)
    throw new ConfigError(['A server in production mode cannot be reset. Delete its data yourself.'])
  if (!existsSync(config.dataDir)) return
  const lock = lockDataDir(config.dataDir)
  try {
    const location = databaseLocationOf(config)
    await assertAlone(location, lock.home)
    await wipe(location)
    const filesDir = config.filesDir || join(config.dataDir, 'files')
    const places = existsSync(filesDir) ? readdirSync(filesDir).filter((name) => OF_FILES.test(name)) : []
    for (const name of places) rmSync(join(filesDir, name), { recursive: true })
    for (const name of NAMES) rmSync(join(config.dataDir, name), { recursive: true, force: true })
  } finally {
    lock.release()
  }
}
