import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { verifyChains } from '../audit'
import { ConfigError } from '../kernel/config'
import { type CopiedTable, copyDatabase, type DatabaseLocation, inTurn, isEmpty, schemaOf, wipe } from '../kernel/store'
import { withStore } from './keyring'
import { lockDataDir } from './lock'
import { claimDatabase } from './open'
import { assertAlone } from './single-server'

type Copying = {
  from: DatabaseLocation
  /** The data folder of the server that uses the source. Null for a backup, which no server uses. */
  dataDir: string | null
  to: DatabaseLocation
  onProgress(table: string, rows: number, step: 'copied' | 'compared'): void
}

/**
 * Copies a database while no server uses it or the target, and verifies the audit chains of the copy.
 * @throws ConfigError when a server uses one of them, Error when the target is taken or the copy differs
 */
export async function copyWhileStopped({ from, dataDir, to, onProgress }: Copying): Promise<CopiedTable[]> {
  const copy = async () => {
    const state = await targetStateOf(to)
    if (state === 'taken') throw new ConfigError(['The target is not empty. Nothing was changed.'])
    // Creates the file again with its owner and mode.
    if (state === 'unfinished') await wipe(to)
    claimDatabase(to)
    return copyDatabase(from, to, { verify: () => withStore(to, ({ read }) => verifyChains(read)), onProgress })
  }
  const folders = [...(dataDir === null ? [] : [dataDir]), ...(to.dialect === 'sqlite' ? [dirname(to.path)] : [])]
  return inside([...new Set(folders)], (home) =>
    inTurn(from, async () => {
      if (dataDir !== null) await assertAlone(from, home)
      return inTurn(to, copy)
    }),
  )
}

/** Runs `work` while holding the locks of data folders. `home` is the id of the first folder. */
async function inside<T>([folder, ...rest]: string[], work: (home: string) => Promise<T>): Promise<T> {
  if (folder === undefined) return work('')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lock = lockDataDir(folder)
  try {
    return await inside(rest, () => work(lock.home))
  } finally {
    lock.release()
  }
}

/** State of a copy target: `empty`, `unfinished` after an aborted copy, or `taken` by any other content. */
export async function targetStateOf(to: DatabaseLocation): Promise<'empty' | 'unfinished' | 'taken'> {
  if (to.dialect === 'sqlite' && !existsSync(to.path)) return 'empty'
  if ((await schemaOf(to)).unfinished) return 'unfinished'
  return (await isEmpty(to)) ? 'empty' : 'taken'
}
