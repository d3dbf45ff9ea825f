import { AppError, invalidInput, storageUnavailable } from '../errors'

type DatabaseError = { code?: string; errno?: number | string; cause?: unknown; message?: string }

const chain = (error: unknown): DatabaseError[] => {
  const links: DatabaseError[] = []
  for (
    let at = error as DatabaseError | undefined;
    at && links.length < 5;
    at = at.cause as DatabaseError | undefined
  ) {
    links.push(at)
  }
  return links
}

const matches = (error: unknown, test: (link: DatabaseError) => boolean): boolean => chain(error).some(test)

const UNIQUE = new Set(['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', '23505'])

/** True if the error reports that a row with this key already exists, on either database. */
export const isUniqueViolation = (error: unknown): boolean =>
  matches(error, ({ code, errno }) => UNIQUE.has(String(code)) || UNIQUE.has(String(errno)))

export const isBusy = (error: unknown): boolean =>
  matches(error, ({ code }) => code?.startsWith('SQLITE_BUSY') || code?.startsWith('SQLITE_LOCKED') || false)

/** The transaction lost a conflict with another one and can be retried (Postgres 40001, 40P01). */
export const isSerializationFailure = (error: unknown): boolean =>
  matches(
    error,
    ({ errno, code }) => ['40001', '40P01'].includes(String(errno)) || ['40001', '40P01'].includes(String(code)),
  )

/** True if the disk failed or the file is corrupt. Later commits cannot be trusted then (docs/design.md 4). */
export const isDiskFailure = (error: unknown): boolean =>
  matches(error, ({ code }) => code?.startsWith('SQLITE_IOERR') || code === 'SQLITE_CORRUPT' || false)

const AWAY = /SQLITE_(FULL|BUSY|LOCKED|CANTOPEN|READONLY|IOERR|NOMEM)|ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME)/
/** Postgres error classes: connection, resources, operator intervention. */
const AWAY_STATES = /^(08|53|57P)/

/** True if the storage is the cause: unreachable, locked by another program, or full. */
export const isAway = (error: unknown): boolean =>
  matches(error, ({ code, errno }) => AWAY.test(String(code)) || AWAY_STATES.test(String(errno)))

const FULL = new Set(['SQLITE_FULL', 'ENOSPC', 'EDQUOT', '53100'])

/** True if the disk is full: of the database, or of a file to be written. */
export const isDiskFull = (error: unknown): boolean =>
  matches(error, ({ code, errno }) => FULL.has(String(code)) || FULL.has(String(errno)))

/**
 * Turns storage trouble into 503 `storage_unavailable`, and a name with too many bytes into 400 `validation_error`.
 * Returns any other error unchanged. The cause is the driver's error, because drizzle's error around it contains the
 * values of the query, which no log may contain.
 */
export function toAppError(error: unknown): unknown {
  if (error instanceof AppError) return error
  // Postgres stores no text above about 2,700 bytes in an index. A name with many accents can exceed that.
  if (matches(error, ({ code, errno }) => code === '54000' || String(errno) === '54000'))
    return invalidInput('', 'A name takes too many bytes. Use fewer accents and emoji.')
  if (!isAway(error)) return error
  // A lock ends soon, a restarting database returns within seconds, and a full disk needs someone to free space
  // (docs/design.md 4).
  return storageUnavailable.with({
    retryAfterS: isBusy(error) ? 1 : isDiskFull(error) ? 30 : 2,
    cause: chain(error).at(-1),
  })
}
