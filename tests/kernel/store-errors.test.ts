import { describe, expect, test } from 'bun:test'
import { AppError, defineError, storageUnavailable } from '../../src/kernel/errors'
import {
  isAway,
  isBusy,
  isDiskFailure,
  isDiskFull,
  isSerializationFailure,
  isUniqueViolation,
  toAppError,
} from '../../src/kernel/store/errors'
import { createStorageHealth } from '../../src/kernel/store/sqlite'
import { isSafeVersion } from '../../src/kernel/store/sqlite-file'

const KINDS = { isUniqueViolation, isBusy, isSerializationFailure, isDiskFailure, isAway, isDiskFull }
type Kind = keyof typeof KINDS

/** What a driver says, and all that it means. SQLite names its errors, Postgres has SQLSTATEs. */
const MESSAGES: [code: string, means: Kind[]][] = [
  ['SQLITE_CONSTRAINT_UNIQUE', ['isUniqueViolation']],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', ['isUniqueViolation']],
  ['SQLITE_CONSTRAINT_CHECK', []],
  ['SQLITE_BUSY', ['isBusy', 'isAway']],
  ['SQLITE_BUSY_SNAPSHOT', ['isBusy', 'isAway']],
  ['SQLITE_LOCKED', ['isBusy', 'isAway']],
  ['SQLITE_IOERR', ['isDiskFailure', 'isAway']],
  ['SQLITE_IOERR_FSYNC', ['isDiskFailure', 'isAway']],
  ['SQLITE_CORRUPT', ['isDiskFailure']],
  ['SQLITE_FULL', ['isAway', 'isDiskFull']],
  ['SQLITE_CANTOPEN', ['isAway']],
  ['SQLITE_READONLY', ['isAway']],
  ['SQLITE_NOMEM', ['isAway']],
  ['SQLITE_ERROR', []],
  ['ENOSPC', ['isDiskFull']],
  ['EDQUOT', ['isDiskFull']],
  ['ENOENT', []],
  ['ERR_POSTGRES_CONNECTION_CLOSED', ['isAway']],
  ['ERR_POSTGRES_IDLE_TIMEOUT', ['isAway']],
  ['ERR_POSTGRES_LIFETIME_TIMEOUT', ['isAway']],
  ['ERR_POSTGRES_SERVER_ERROR', []],
]
const STATES: [errno: string, means: Kind[]][] = [
  ['23505', ['isUniqueViolation']],
  ['23514', []],
  ['40001', ['isSerializationFailure']],
  ['40P01', ['isSerializationFailure']],
  ['40002', []],
  ['08006', ['isAway']],
  ['53300', ['isAway']],
  ['53100', ['isAway', 'isDiskFull']],
  ['57P01', ['isAway']],
  ['57014', []],
  ['42P01', []],
  ['10800', []],
]

const meaningOf = (error: unknown) => (Object.keys(KINDS) as Kind[]).filter((kind) => KINDS[kind](error))
const failed = (facts: object, cause?: unknown) => Object.assign(new Error('failed', { cause }), facts)

describe('what a database says', () => {
  test.each(MESSAGES)('%s means %p, also as the cause of another error', (code, means) => {
    expect(meaningOf(failed({ code }))).toEqual(means)
    expect(meaningOf(failed({}, failed({ code })))).toEqual(means)
  })

  test.each(STATES)('SQLSTATE %s means %p, also as the cause of another error', (errno, means) => {
    expect(meaningOf(failed({ code: 'ERR_POSTGRES_SERVER_ERROR', errno }))).toEqual(means)
    expect(meaningOf(failed({}, failed({}, failed({ errno }))))).toEqual(means)
  })

  test.each([
    ['40001', isSerializationFailure],
    ['40P01', isSerializationFailure],
    ['23505', isUniqueViolation],
    ['53100', isDiskFull],
  ])('SQLSTATE %s is known by either name a driver gives it', (code, kind) => {
    expect(kind(failed({ code }))).toBe(true)
    expect(kind(failed({ errno: code }))).toBe(true)
  })

  test('is looked for in causes, five errors deep, and in nothing else', () => {
    const deep = (depth: number): Error => failed(depth ? {} : { code: 'SQLITE_FULL' }, depth ? deep(depth - 1) : null)
    expect(isDiskFull(deep(4))).toBe(true)
    expect(isDiskFull(deep(5))).toBe(false)
    for (const nothing of [undefined, null, 'SQLITE_FULL', {}]) expect(meaningOf(nothing)).toEqual([])
  })
})

describe('trouble of the storage', () => {
  test.each([
    ['a lock, which goes soon', 'SQLITE_BUSY', 1],
    ['a full disk, where somebody must make room', 'SQLITE_FULL', 30],
    ['a database that is away', 'ERR_POSTGRES_CONNECTION_CLOSED', 2],
  ])('is 503 storage_unavailable, to be tried again: %s', (_what, code, retryAfterS) => {
    const message = failed({ code })
    const shown = toAppError(failed({}, message))
    expect(shown).toBeInstanceOf(AppError)
    expect(shown).toMatchObject({ kind: 'unavailable', code: 'storage_unavailable', retryAfterS })
    expect((shown as AppError).cause).toBe(message)
  })

  test('a name of too many bytes for an index of Postgres is refused', () => {
    const shown = toAppError(failed({}, failed({ code: 'ERR_POSTGRES_SERVER_ERROR', errno: '54000' })))
    expect(shown).toMatchObject({ kind: 'invalid', code: 'validation_error' })
  })

  test('is nothing else: other errors stay what they are', () => {
    const refused = defineError('conflict', () => 'no')()
    const bug = failed({ code: 'SQLITE_ERROR' })
    const known = storageUnavailable.with({ cause: failed({ code: 'SQLITE_FULL' }) })
    for (const error of [refused, bug, known, 'text']) expect(toAppError(error)).toBe(error)
  })

  test('is remembered until something is kept again', () => {
    const keeping = createStorageHealth()
    expect(keeping.failing()).toBe(false)
    keeping.lost(failed({ code: 'SQLITE_CONSTRAINT_CHECK' }))
    expect(keeping.failing()).toBe(false)
    keeping.lost(failed({ code: 'SQLITE_FULL' }))
    expect(keeping.failing()).toBe(true)
    keeping.kept()
    expect(keeping.failing()).toBe(false)
  })
})

test.each([
  ['3.51.3', true],
  ['3.51.4', true],
  ['3.52.0', true],
  ['3.100.0', true],
  ['4.0.0', true],
  ['3.51.2', false],
  ['3.50.9', false],
  ['2.99.99', false],
  ['3.51', false],
  ['4', true],
])('SQLite %s loses no data: %p', (version, safe) => {
  expect(isSafeVersion(version)).toBe(safe)
})
