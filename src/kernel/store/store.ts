import { getTableColumns, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { BuildColumns } from 'drizzle-orm/column-builder'
import * as pg from 'drizzle-orm/pg-core'
import type {
  BaseSQLiteDatabase,
  SQLiteColumnBuilderBase,
  SQLiteTable,
  SQLiteTableExtraConfigValue,
} from 'drizzle-orm/sqlite-core'
import * as sqlite from 'drizzle-orm/sqlite-core'
import { ConfigError } from '../config'
import { storableJson } from '../text'
import { type Plan, type Prepared, planned, type Statements } from './prepared'
import type { Changes, Wire } from './wire'

const TYPES = { text: sql`text`, bigint: sql`bigint` }

/** Epoch milliseconds by the clock of Postgres. */
export const postgresNow = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`

/**
 * Epoch milliseconds by the clock of the database, which all its processes share. An SQLite file has only one process,
 * so its own clock counts.
 */
export const databaseNow = ({ dialect }: { dialect: Dialect }, own: number): SQL<number> =>
  dialect === 'postgres' ? postgresNow : sql<number>`${own}`

/**
 * Bun's Postgres client encodes jsonb itself, so drizzle's own column would encode it twice. Removes NUL and lone
 * surrogates, which Postgres rejects in jsonb: a job whose result cannot be stored would run again forever.
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
  /** An auto-incremented primary key. Its order is the insertion order. */
  serial: (name: string) => sqlite.integer(name, { mode: 'number' }).primaryKey(),
  text: (name: string) => sqlite.text(name),
  /** Any whole number, money included: 64 bits on both sides, exact up to 2^53. */
  int: (name: string) => sqlite.integer(name, { mode: 'number' }),
  real: (name: string) => sqlite.real(name),
  bool: (name: string) => sqlite.integer(name, { mode: 'boolean' }),
  /** A moment in epoch milliseconds. */
  ms: (name: string) => sqlite.integer(name, { mode: 'number' }),
  /** A JSON value that is read back parsed. Use `text` for values that must be replayed byte for byte. */
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

/** A table on both databases. Modules see the SQLite types, which also hold for Postgres. */
export type Table<T> = { readonly sqlite: T; readonly postgres: T; readonly clustered?: true; readonly view?: true }

export type Row<T> = T extends Table<infer S extends sqlite.SQLiteTable> ? S['$inferSelect'] : never

/** Builds on first use, because a process has one database. */
function once<T>(build: () => T): () => T {
  let built: T | undefined
  return () => (built ??= build())
}

/**
 * Defines a table once for both dialects: its name, its columns, and its indexes if it has some. `columns` and `indexes`
 * run twice, with the columns of each dialect.
 */
export function defineTable<Name extends string, Columns extends Record<string, SQLiteColumnBuilderBase>>(
  name: Name,
  columns: (kit: Kit) => Columns,
  indexes?: (table: BuildColumns<Name, Columns, 'sqlite'>, kit: Kit) => SQLiteTableExtraConfigValue[],
) {
  const tableOf = (kit: Kit) => kit.table(name, columns(kit), indexes && ((table) => indexes(table, kit)))
  const [sqlite, postgres] = [once(() => tableOf(sqliteKit)), once(() => tableOf(pgKit))]
  return {
    get sqlite() {
      return sqlite()
    },
    get postgres() {
      return postgres()
    },
  }
}

/**
 * Like `defineTable`, for a table that SQLite stores in the order of its primary key (WITHOUT ROWID), in one B-tree
 * instead of two. For rows written with every paid call, or read in long ranges.
 */
export const defineClusteredTable: typeof defineTable = (...table) =>
  Object.assign(defineTable(...table), { clustered: true as const })

/** The columns of a view that a migration creates. Read like a table, and not part of generated migrations. */
export const defineView: typeof defineTable = (...table) =>
  Object.assign(defineTable(...table), { view: true as const })

export type Dialect = 'sqlite' | 'postgres'

/** The operations that both databases have, asynchronous. Sync helpers and raw transactions are hidden on purpose. */
type Db = BaseSQLiteDatabase<'async', unknown>

export type Reader = Pick<Db, 'select' | 'selectDistinct' | '$count' | 'with'> & {
  readonly dialect: Dialect
  /** The table definition for this database. */
  of<T>(table: Table<T>): T
  /** Statements built for this store, by query, for this connection. */
  readonly prepared: Statements
}

export type Tx = Reader &
  Pick<Db, 'insert' | 'update' | 'delete'> & {
    /** Registers an effect to run, in order, once the unit is durable. Dropped when the unit is rolled back. */
    afterCommit(effect: () => void): void
  }

/** Writes several items in one transaction. Returns one result for each, in their order. */
export type WriteAll<T, R> = (tx: Tx, items: readonly T[]) => Promise<readonly R[]>

export type Store = {
  readonly dialect: Dialect
  readonly read: Reader
  /** For statements that may take minutes, such as a verify. Others are ended when no request waits any more. */
  readonly readLong: Reader
  /** Messages to the other processes of this database. Null on SQLite, where one process holds the file. */
  readonly wire: Wire | null
  /** Changes by other processes in the tables that this one caches. */
  readonly changes: Changes
  /**
   * Runs one unit of work: all of it commits, or none. It may await only this store. Units queued in the same turn
   * share one commit, and the promise settles after that commit (docs/design.md 4).
   */
  write<T>(unit: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Like `write`, for an effect that a crash may undo without harm, such as a hold on money. The promise settles once
   * the unit has run, and the effect becomes durable with the next commit, milliseconds later. Later units see it. On
   * Postgres it is an ordinary write.
   */
  writeSoon<T>(unit: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Writes an item together with others: those of one turn, and on Postgres those that arrive while others are written.
   * `write` gets all items given with the same function, and returns one result for each, in their order. If it throws,
   * it runs again for each item alone. With `isSoon` the promise settles like that of `writeSoon`.
   */
  writeTogether<T, R>(write: WriteAll<T, R>, item: T, isSoon?: boolean): Promise<R>
  /** Like `write`, for a unit of one statement without later effects. Postgres commits it automatically. */
  writeOne<T>(unit: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Settles once everything written so far is durable, which proves that the storage works. Throws 503
   * `storage_unavailable`. On Postgres, where every write is durable, asks whether the server accepts writes.
   */
  confirm(): Promise<void>
  /** True if the last commit failed because of the storage. */
  failing(): boolean
  /** One round trip, for health checks. */
  ping(): Promise<void>
  /** Problems found by the database's own checks of integrity and foreign keys. Empty when there are none. */
  integrity(): Promise<string[]>
  /** Writes a consistent copy to `path` while serving. SQLite only, because Postgres has pg_dump. */
  backup(path: string): Promise<void>
  close(): Promise<void>
}

/**
 * Postgres settings with which a power loss may destroy acknowledged writes, or a page of them. None on SQLite, where
 * this program sets them.
 */
export async function riskySettings(reader: Reader): Promise<string[]> {
  if (reader.dialect === 'sqlite') return []
  const found = await reader
    .select({ name: sql<string>`name` })
    .from(sql`pg_settings`)
    .where(sql`name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'`)
  return found.map(({ name }) => `${name}=off`).sort()
}

type Buildable = PromiseLike<unknown> & { prepare(name?: string): unknown }
type Rows<Q> = Q extends PromiseLike<infer R> ? R : never

const placeholders = new Proxy({} as Record<string, Placeholder>, {
  get: (_, name: string) => sql.placeholder(name),
})

let statements = 0

/**
 * Declares a query once. It is built once and compiled for each connection, because building it costs more than running
 * it. `build` may look at the dialect of `db` and nothing else of it. It must name each parameter it uses: a parameter
 * exists once it is named, so spreading `params` gives none.
 *
 *     const byId = query<{ id: KeyId }>()((db, p) => db.select().from(db.of(apiKeys)).where(eq(db.of(apiKeys).id, p.id)))
 *     const [row] = await byId(store.read, { id })
 */
export const query =
  <P extends Record<string, unknown> = Record<never, never>, D extends Reader = Reader>() =>
  <Q extends Buildable>(build: (db: D, params: { [K in keyof P]: Placeholder }) => Q) => {
    const key = {}
    const name = `svc_${++statements}`
    let plan: Plan | null = null
    const made = (db: D): Prepared => {
      if (plan && db.prepared.compile) return plan(db.prepared.compile)
      const built = build(db, placeholders as { [K in keyof P]: Placeholder })
      if (db.dialect === 'postgres') return built.prepare(name) as Prepared
      const first = planned(built.prepare())
      plan = first.plan
      return first.prepared
    }
    const prepare = (db: D): Prepared => {
      const prepared = made(db)
      db.prepared.set(key, prepared)
      return prepared
    }
    // Not `async`: a call makes a dozen of these, and each such function costs as much as a small statement.
    const ask = (db: D, params: P): Promise<Rows<Q>> => {
      try {
        return (db.prepared.get(key) ?? prepare(db)).execute(params) as Promise<Rows<Q>>
      } catch (error) {
        return Promise.reject(error)
      }
    }
    /** Runs it once for each of several parameters. On SQLite without a promise for each. */
    const each = async (db: D, list: readonly P[]): Promise<unknown> => {
      const { prepared } = db
      const statement = prepared.get(key) ?? prepare(db)
      if (statement.executeEach) return statement.executeEach(list)
      return Promise.all(list.map((params) => statement.execute(params)))
    }
    return Object.assign(ask, { each })
  }

/**
 * Like {@link command}, but returns only the number of changed rows. Cheaper on SQLite than `returning`, which first
 * collects the rows in a temporary table.
 */
export const counted = <P extends Record<string, unknown>>() => {
  const declare = query<P, Tx>()
  return <Q extends Buildable>(build: (db: Tx, params: { [K in keyof P]: Placeholder }) => Q) => {
    const run = declare(build)
    return (tx: Tx, params: P): Promise<number> => run(tx, params).then(changedBy)
  }
}

const changedBy = (result: unknown): number => {
  const { changes, count } = result as { changes?: number; count?: number }
  return changes ?? count ?? 0
}

/**
 * Placeholders for all columns of a table, for a statement that inserts a whole row. Leaves out a key that the database
 * counts up itself.
 */
export const allOf = <P extends Record<string, Placeholder>>(table: sqlite.SQLiteTable, params: P): P =>
  Object.fromEntries(
    Object.entries(getTableColumns(table)).flatMap(([name, { primary, hasDefault }]) =>
      primary && hasDefault ? [] : [[name, params[name]]],
    ),
  ) as P

/** Placeholders for some columns, for a statement that changes these. */
export const someOf = <Name extends string>(params: Record<Name, Placeholder>, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, sql`${params[name]}`])) as Record<Name, SQL>

/** For an upsert: the columns of `row` take the values of the row that exists already, without those in `but`. */
export const excludedOf = (row: object, ...but: string[]): Record<string, SQL> =>
  Object.fromEntries(
    Object.keys(row)
      .filter((name) => !but.includes(name))
      .map((name) => [name, sql`excluded.${sql.identifier(name)}`]),
  )

/** For an upsert that adds up: these columns of a row that exists already grow by those of the new one. */
export const addedOf = <T extends sqlite.SQLiteTable>(table: T, names: readonly (keyof T & string)[]) =>
  Object.fromEntries(names.map((name) => [name, sql`${table[name]} + excluded.${sql.identifier(name)}`]))

/** Like {@link query}, for statements that change rows and therefore need a unit of work. */
export const command = <P extends Record<string, unknown> = Record<never, never>>() => query<P, Tx>()

/**
 * Objects of JSON in one parameter as the table `given`, with these members as its columns: a statement that is built
 * once serves however many there are.
 *
 *     const found = query<{ list: string }>()((db, p) =>
 *       db.select({ id: t.id }).from(t).where(sql`${t.id} in (select id from ${rowsIn(db, p.list, { id: 'text' })})`))
 *     await found(store.read, { list: JSON.stringify([{ id }]) })
 */
export function rowsIn(db: Reader, list: Placeholder | string, columns: Record<string, keyof typeof TYPES>): SQL {
  const names = Object.entries(columns)
  if (db.dialect === 'postgres') {
    const typed = names.map(([name, type]) => sql`${sql.identifier(name)} ${TYPES[type]}`)
    // Cast from text first, because the driver would otherwise encode it as JSON again.
    return sql`json_to_recordset(${list}::text::json) as given(${sql.join(typed, sql`, `)})`
  }
  const taken = names.map(([name]) => sql`json_extract(value, ${`$.${name}`}) as ${sql.identifier(name)}`)
  return sql`(select ${sql.join(taken, sql`, `)} from json_each(${list})) as given`
}

/**
 * Inserts many rows and skips existing ones. On SQLite, one statement per row (`one`) is cheapest. On Postgres, one
 * statement for all, with one parameter.
 */
export async function insertAll<T extends object>(
  tx: Tx,
  table: SQLiteTable,
  rows: readonly T[],
  one: (tx: Tx, row: T) => Promise<unknown>,
): Promise<void> {
  if (tx.dialect === 'sqlite' || rows.length < 2) {
    for (const row of rows) await one(tx, row)
    return
  }
  const names = sql.join(
    Object.values(getTableColumns(table)).map(({ name }) => sql.identifier(name)),
    sql`, `,
  )
  const records = sql`json_populate_recordset(null::${table}, ${JSON.stringify(rows)}::text::json)`
  await tx.insert(table).select(sql`select ${names} from ${records}`).onConflictDoNothing()
}

/** For Postgres: inserts the rows of a JSON list. Built once. `own` gives columns that the rows do not have. */
export function insertListed(
  tx: Tx,
  table: SQLiteTable,
  list: Placeholder,
  own: Record<string, SQL> = {},
  where = sql``,
) {
  const names = Object.values(getTableColumns(table)).map(({ name }) => own[name] ?? sql.identifier(name))
  const records = sql`json_populate_recordset(null::${table}, ${list}::text::json)`
  return tx.insert(table).select(sql`select ${sql.join(names, sql`, `)} from ${records} ${where}`)
}

/** For Postgres: locks the rows that a statement reads, in its order, until the transaction ends. */
export function locked<Q>(select: Q): Q {
  return (select as unknown as { for(strength: 'update'): unknown }).for('update') as Q
}

/** Skips rows that another transaction has locked, so that several processes do not wait for each other. */
export function unlocked<Q>(tx: Tx, select: Q): Q {
  if (tx.dialect === 'sqlite') return select
  // Only Postgres' builder has this method. Modules see the types of SQLite's builder.
  type Locking = { for(strength: 'update', how: { skipLocked: true }): unknown }
  return (select as unknown as Locking).for('update', { skipLocked: true }) as Q
}

/**
 * Runs the first request to Postgres. If it fails, the error names the host, the database and the setting, never the
 * password.
 * @throws ConfigError
 */
export async function reached<T>(url: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const { message, code, errno } = error as { message?: string; code?: string; errno?: string }
    const which = [code, errno].find((one) => typeof one === 'string' && one !== '')
    throw new ConfigError(
      [
        `${placeOf(url)}: ${`${String(message).replace(/\.$/, '')}${which ? ` (${which})` : ''}`}. Check SVC_DATABASE_URL or --to.`,
      ],
      error,
    )
  }
}

function placeOf(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed) return 'The URL of Postgres cannot be read'
  const { hostname, port, pathname, username } = parsed
  const who = username ? ` as ${decodeURIComponent(username)}` : ''
  return `Postgres at ${hostname || 'localhost'}:${port || '5432'} cannot be used (database ${pathname.slice(1) || username}${who})`
}
