import { statfsSync } from 'node:fs'
import { ConfigError } from '../kernel/config'
import { isDiskFull } from '../kernel/store'

/** Less than this is no room: the smallest commit writes more. */
const NO_ROOM_BYTES = 64 * 1024

/**
 * What stopped a start, named for an operator where it was a full disk; any other error unchanged. Without room SQLite
 * also fails with other codes, as when it cannot grow its shared memory.
 */
function namedIfFull(error: unknown, dataDir: string): unknown {
  if (error instanceof ConfigError) return error
  if (
    !isDiskFull(error) &&
    !(/^SQLITE_(IOERR|CANTOPEN)/.test(String((error as { code?: unknown } | null)?.code)) && hasNoRoom(dataDir))
  )
    return error
  return new ConfigError([
    `The disk of ${dataDir} is full. Free some space and start again. Everything answered so far is safe.`,
  ])
}

function hasNoRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < NO_ROOM_BYTES
  } catch {
    return false
  }
}

/** The words of SQLite and of the file system for a data folder that does not serve, and what an operator can do. */
const UNFIT: readonly (readonly [RegExp, string])[] = [
  [/^(EEXIST|ENOTDIR)/, 'is a file, or is below one. Set SVC_DATA_DIR to a folder'],
  [/^EROFS|readonly database/, 'is read-only. Mount it for writing, or set SVC_DATA_DIR to another folder'],
  [/^EACCES|^EPERM|unable to open database/, 'cannot be written to by this user. svc-admin doctor shows the fix'],
  [
    /malformed|not a database/,
    'contains a damaged database (svc.db). Move it aside and restore the last backup: svc-admin backup restore',
  ],
]

/** What stopped a start, named for an operator where the data folder is the reason; any other error unchanged. */
export function namedForOperators(error: unknown, dataDir: string): unknown {
  const named = namedIfFull(error, dataDir)
  if (named instanceof ConfigError || !(named instanceof Error)) return named
  const why = UNFIT.find(([words]) => words.test(named.message))?.[1]
  return why ? new ConfigError([`The data folder ${dataDir} ${why}.`]) : named
}
