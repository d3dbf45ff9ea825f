import { statfsSync } from 'node:fs'
import { ConfigError } from '../kernel/config'
import { isDiskFull } from '../kernel/store'

/** Free space below this counts as a full disk, because the smallest commit writes more. */
const NO_ROOM_BYTES = 64 * 1024

/**
 * Returns a readable error if a full disk stopped the start, else the error unchanged. On a full disk, SQLite also
 * fails with other codes, for example when it cannot grow its shared memory.
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

/** Error messages of SQLite and the file system for an unusable data folder, each with advice for the operator. */
const UNFIT: readonly (readonly [RegExp, string])[] = [
  [/^(EEXIST|ENOTDIR)/, 'is a file, or is below one. Set SVC_DATA_DIR to a folder'],
  [/^EROFS|readonly database/, 'is read-only. Mount it for writing, or set SVC_DATA_DIR to another folder'],
  [/^EACCES|^EPERM|unable to open database/, 'cannot be written to by this user. svc-admin doctor shows the fix'],
  [
    /malformed|not a database/,
    'contains a damaged database (svc.db). Move it aside and restore the last backup: svc-admin backup restore',
  ],
]

/** Returns a readable error if the data folder stopped the start, else the error unchanged. */
export function namedForOperators(error: unknown, dataDir: string): unknown {
  const named = namedIfFull(error, dataDir)
  if (named instanceof ConfigError || !(named instanceof Error)) return named
  const why = UNFIT.find(([words]) => words.test(named.message))?.[1]
  return why ? new ConfigError([`The data folder ${dataDir} ${why}.`]) : named
}
