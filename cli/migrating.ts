import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { copyFile, cp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { DatabaseLocation } from '../src/kernel/store'

const BEFORE = 'before-migrate-'
/** The folder of the checkpoints, which say what the database had on record when they were signed. */
const AUDIT = 'audit'

/** Works on a database while no server uses its data folder. @throws ConfigError */
async function alone<T>(dataDir: string, work: (home: string) => Promise<T>): Promise<T> {
  const { lockDataDir } = await import('../src/app/lock')
  const lock = lockDataDir(dataDir)
  try {
    return await work(lock.home)
  } finally {
    lock.release()
  }
}

/** Brings a database to the schema of this release, or its first `to` migrations, while no server uses its data folder and no node the database. @throws ConfigError */
export async function bringUp(location: DatabaseLocation, dataDir: string, to?: number): Promise<void> {
  const [{ inTurn, migrate }, { assertAlone }] = await Promise.all([
    import('../src/kernel/store'),
    import('../src/app/reset'),
  ])
  await alone(dataDir, (home) =>
    // No node begins between the look and the work.
    inTurn(location, async () => {
      await assertAlone(location, home)
      await migrate(location, to)
    }),
  )
}

/** Copies a SQLite file that has data, and its checkpoints, so that a migration can be taken back. @returns the copy, if one was made */
export async function copyBefore(location: DatabaseLocation, dataDir: string, now: number): Promise<string | null> {
  if (location.dialect !== 'sqlite') return null
  const { openSqlite } = await import('../src/kernel/store')
  const folder = join(dataDir, 'backups', `${BEFORE}${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const copy = join(folder, 'svc.db')
  await alone(dataDir, async () => {
    const store = openSqlite({
      path: location.path,
      onDiskFailure: (error) => {
        throw error
      },
    })
    try {
      await store.backup(copy)
    } finally {
      await store.close()
    }
    const audit = join(dataDir, AUDIT)
    if (existsSync(audit)) await cp(audit, join(folder, AUDIT), { recursive: true })
  })
  return copy
}

/** The newest copy that {@link copyBefore} made here, or null. */
export function newestCopy(dataDir: string): string | null {
  const folder = join(dataDir, 'backups')
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(BEFORE)) : []
  const copies = names.sort().map((name) => join(folder, name, 'svc.db'))
  return copies.findLast(existsSync) ?? null
}

/**
 * Puts a copy in the place of the database, which is kept beside it. So are the checkpoints made since: they sign events
 * that the copy does not have.
 * @returns where it is kept
 */
export async function putBack(path: string, copy: string, dataDir: string, now: number): Promise<string> {
  const stored = `${path}.was-${now}`
  await alone(dataDir, async () => {
    for (const end of ['', '-wal', '-shm'])
      if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${stored}${end}`)
    await copyFile(copy, path)
    const [audit, copied] = [join(dataDir, AUDIT), join(dirname(copy), AUDIT)]
    if (existsSync(audit)) renameSync(audit, `${audit}.was-${now}`)
    if (existsSync(copied)) await cp(copied, audit, { recursive: true })
  })
  return stored
}
