import type { DatabaseLocation } from '../src/kernel/store'

/** Brings a database to the schema of this release, while no server uses its data folder. @throws ConfigError */
export async function bringUp(location: DatabaseLocation, dataDir: string): Promise<void> {
  const { lockDataDir } = await import('../src/app/lock')
  const { migrate } = await import('../src/kernel/store')
  const lock = lockDataDir(dataDir)
  try {
    await migrate(location)
  } finally {
    lock.release()
  }
}
