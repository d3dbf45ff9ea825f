import { statfsSync } from 'node:fs'
import { ConfigError } from '../kernel/config'
import { isDiskFull } from '../kernel/store'

/** Less than this is no room: the smallest commit writes more. */
const NO_ROOM_BYTES = 64 * 1024

/**
 * What stopped a start, named for an operator where it was a full disk; any other error unchanged. Without room SQLite
 * also fails with other codes, as when it cannot grow its shared memory.
 */
export function namedIfFull(error: unknown, dataDir: string): unknown {
  if (error instanceof ConfigError) return error
  if (!isDiskFull(error) && !(isFromDisk(error) && hasNoRoom(dataDir))) return error
  return new ConfigError([
    `The disk of ${dataDir} is full. Make room on it and start again; what was answered before is safe.`,
  ])
}

const isFromDisk = (error: unknown): boolean =>
  /^SQLITE_(IOERR|CANTOPEN)/.test(String((error as { code?: unknown } | null)?.code))

function hasNoRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize < NO_ROOM_BYTES
  } catch {
    return false
  }
}
