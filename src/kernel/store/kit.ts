import * as pg from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'
import { storableJson } from '../text'

/**
 * Bun's Postgres client encodes jsonb itself; drizzle's own column would encode it twice. Postgres refuses NUL and half
 * pairs in it, and a job whose result cannot be stored would be done again for ever.
 */
const pgJson = pg.customType<{ data: unknown; driverData: unknown }>({
  dataType: () => 'jsonb',
  toDriver: storableJson,
  fromDriver: (value) => value,
})

/** Column types that behave the same on both databases. */
const sqliteKit = {
  table: sqlite.sqliteTable,
  index: sqlite.index,
  uniqueIndex: sqlite.uniqueIndex,
  primaryKey: sqlite.primaryKey,
  check: sqlite.check,
  /** An auto-incremented primary key: its order is the order in which rows were inserted. */
  serial: (name: string) => sqlite.integer(name, { mode: 'number' }).primaryKey(),
  text: (name: string) => sqlite.text(name),
  /** Any whole number, money included: 64 bits on both sides, exact up to 2^53. */
  int: (name: string) => sqlite.integer(name, { mode: 'number' }),
  real: (name: string) => sqlite.real(name),
  bool: (name: string) => sqlite.integer(name, { mode: 'boolean' }),
  /** A moment in epoch milliseconds. */
  ms: (name: string) => sqlite.integer(name, { mode: 'number' }),
  /** A JSON value that is read back parsed. Use `text` for what must be replayed byte for byte. */
  json: <T>(name: string) => sqlite.text(name, { mode: 'json' }).$type<T>(),
}

export type Kit = typeof sqliteKit

const pgKit = {
  table: pg.pgTable,
  index: pg.index,
  uniqueIndex: pg.uniqueIndex,
  primaryKey: pg.primaryKey,
  check: pg.check,
  serial: (name: string) => pg.bigserial(name, { mode: 'number' }).primaryKey(),
  text: (name: string) => pg.text(name),
  int: (name: string) => pg.bigint(name, { mode: 'number' }),
  real: (name: string) => pg.doublePrecision(name),
  bool: (name: string) => pg.boolean(name),
  ms: (name: string) => pg.bigint(name, { mode: 'number' }),
  json: <T>(name: string) => pgJson(name).$type<T>(),
} as unknown as Kit

/** A table on both databases. Rooms see the SQLite types, which hold for Postgres too. */
export type Table<T> = { readonly sqlite: T; readonly postgres: T; readonly clustered?: true }

export type Row<T> = T extends Table<infer S extends sqlite.SQLiteTable> ? S['$inferSelect'] : never

/** Defines a table once for both dialects: `define` runs twice, once with the columns of each. */
export const defineTable = <T>(define: (kit: Kit) => T): Table<T> => ({
  sqlite: define(sqliteKit),
  postgres: define(pgKit),
})

/**
 * The same for a table that SQLite stores in the order of its primary key (WITHOUT ROWID), in one B-tree instead of two:
 * for what is written with every paid call, or read in long ranges.
 */
export const defineClusteredTable = <T>(define: (kit: Kit) => T): Table<T> => ({
  ...defineTable(define),
  clustered: true,
})
