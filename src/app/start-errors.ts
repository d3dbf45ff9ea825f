import { statfsSync } from 'node:fs'
import type { Clock } from '../kernel/clock'
import { ConfigError } from '../kernel/config'
import { isAway, isDiskFull } from '../kernel/store'

/** How long a start waits for Postgres, which may restart at the same time, and how often it tries. */
const [PATIENCE_MS, AGAIN_MS] = [30_000, 500]

/** Free space below this counts as a full disk, because the smallest commit writes more. */
const NO_ROOM_BYTES = 64 * 1024

/**
 * Returns a readable error if a full disk stopped the start, else the error unchanged. On a full disk, SQLite also
 * fails with other codes, for example when it cannot grow its shared memory, or has rolled back by itself.
 */
function namedIfFull(error: unknown, dataDir: string): unknown {
  if (error instanceof ConfigError) return error
  if (!isDiskFull(error) && !hasNoRoom(dataDir)) return error
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

/**
 * Runs a start again while Postgres does not answer, for up to PATIENCE_MS, and tells why once. A wrong password or a
 * missing database fails at once. Returns null if `stop` aborts between two attempts.
 * @throws ConfigError with the last problem
 */
export async function onceDatabaseAnswers<T>(
  start: () => Promise<T>,
  { clock, stop, say }: { clock: Clock; stop: AbortSignal; say(line: string): void },
): Promise<T | null> {
  const until = clock.monotonic() + PATIENCE_MS
  for (let isReported = false; ; isReported = true) {
    try {
      return await start()
    } catch (error) {
      if (!isAway(error)) throw error
      const { message } = error as Error
      if (clock.monotonic() >= until) throw error instanceof ConfigError ? error : new ConfigError([message], error)
      if (!isReported) say(`${message} Trying again for ${PATIENCE_MS / 1_000} s.\n`)
      await clock.sleep(AGAIN_MS, stop)
      if (stop.aborted) return null
    }
  }
}
