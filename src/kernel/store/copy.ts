import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type SQL as Sql, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sql'
import { storableJson } from '../text'
import { type DatabaseLocation, markUnfinished, migrate, unmark } from './migrate'
import { connect } from './postgres-line'
import { openFile } from './sqlite-file'
import type { Dialect } from './store'
import { reached } from './store'

type Column = { name: string; type: string }

type TableShape = { name: string; columns: readonly Column[] }

type CopiedRow = Record<string, unknown>

/** One side of a copy. Rows have the same form on both sides: JSON is parsed, and flags are booleans. */
type CopyEnd = {
  /** All rows of a table, in storage order. */
  read(table: TableShape): AsyncGenerator<CopiedRow[]>
  /** Inserts rows in one transaction. `stored` is the result: Postgres cannot store NUL and lone surrogates. */
  write(table: TableShape, rows: CopiedRow[]): { stored: CopiedRow[]; done: Promise<unknown> }
  /** Moves the database's counters behind the copied rows, and updates its statistics. */
  settle(tables: readonly TableShape[]): Promise<void>
  close(): Promise<void>
}

/** Maximum rows and characters of a batch, because one row may have a megabyte. */
const MAX_ROWS = 5_000

const MAX_CHARS = 8_000_000

/** Tables with rows of this length or more are fetched a few rows at a time. */
const LONG_ROW_CHARS = 2_000

/** The escapes that Postgres refuses in JSON. */
const REFUSED = /\\u0000|\\ud[89a-f]/i

const openEnd = (location: DatabaseLocation): Promise<CopyEnd> =>
  location.dialect === 'sqlite' ? Promise.resolve(fileEnd(location.path)) : serverEnd(location.url)

const FOLDERS = join(import.meta.dir, '../../../drizzle')

type Shape = ReadonlyMap<string, ReadonlySet<string>>

type Snapshot = { tables: Record<string, { name: string; columns: Record<string, { name: string; type: string }> }> }

const shapeOf = (dialect: Dialect): Shape =>
  new Map(snapshotOf(dialect).map(({ name, columns }) => [name, new Set(Object.keys(columns))]))

/** True if a database has no tables. Creates a missing file. */
export const isEmpty = async (location: DatabaseLocation): Promise<boolean> =>
  (location.dialect === 'sqlite' ? shapeOfFile(location.path) : await shapeOfServer(location.url)).size === 0

type Part = { name: string; part: string }

export type CopiedTable = {
  table: string
  rows: number
  /** The sum of the row hashes, in hexadecimal. Independent of the order of rows. */
  hash: string
  /** Number of rows that had characters Postgres cannot store, which were removed. */
  changed: number
}

type Options = {
  /** Checks the copy before it counts as finished. Returns its problems, one sentence each. */
  verify(): Promise<string[]>
  /** Called after every batch with the number of rows of that table so far. */
  onProgress(table: string, rows: number, step: 'copied' | 'compared'): void
}

/**
 * Copies every row of one database into another, empty one, and compares both. Until everything is verified, the target
 * refuses to start. No server may use either.
 * @throws Error when rows differ or the copy does not verify; it stays marked as unfinished
 */
export async function copyDatabase(
  from: DatabaseLocation,
  to: DatabaseLocation,
  { verify, onProgress }: Options,
): Promise<CopiedTable[]> {
  await markUnfinished(to)
  await migrate(to)
  // The tables and columns of this release, which are the same on both databases, with the types of Postgres.
  const tables = snapshotOf('postgres').map(({ name, columns }) => ({ name, columns: Object.values(columns) }))
  const source = await openEnd(from)
  const target = await openEnd(to)
  const copied: CopiedTable[] = []
  try {
    for (const table of tables) {
      const sum = createSum(table)
      let changed = 0
      let writing: Promise<unknown> = Promise.resolve()
      // Reads a batch while the previous one is written.
      for await (const rows of source.read(table)) {
        await writing
        const { stored, done } = target.write(table, rows)
        writing = done
        // Awaited in the next round, or below.
        done.catch(() => undefined)
        for (const [at, row] of stored.entries()) {
          sum.add(row)
          if (row !== rows[at]) changed += 1
        }
        onProgress(table.name, sum.rows(), 'copied')
      }
      await writing
      copied.push({ table: table.name, rows: sum.rows(), hash: sum.hash(), changed })
    }
    await target.settle(tables)
    const problems: string[] = []
    for (const [at, table] of tables.entries()) {
      const sum = createSum(table)
      for await (const rows of target.read(table)) {
        for (const row of rows) sum.add(row)
        onProgress(table.name, sum.rows(), 'compared')
      }
      const { rows, hash } = copied[at]!
      if (rows !== sum.rows()) problems.push(`${table.name} has ${sum.rows()} rows instead of ${rows}.`)
      else if (hash !== sum.hash()) problems.push(`The rows of ${table.name} differ from the source.`)
    }
    problems.push(...(await verify()))
    if (problems.length) throw new Error(`The copy differs from the source. ${problems.join(' ')}`)
  } finally {
    await source.close()
    await target.close()
  }
  await unmark(to)
  return copied
}

const MASK = (1n << 64n) - 1n

function createSum({ columns }: TableShape) {
  let [rows, sum] = [0, 0n]
  return {
    add(row: CopiedRow): void {
      const values = columns.map(({ name, type }) => (type === 'jsonb' ? sorted(row[name]) : row[name]))
      rows += 1
      sum = (sum + BigInt(Bun.hash(JSON.stringify(values)))) & MASK
    },
    rows: () => rows,
    hash: () => sum.toString(16).padStart(16, '0'),
  }
}

/** A JSON value with sorted members, because Postgres orders them its own way. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]))
}

/** The tables of this release after its last migration. */
function snapshotOf(dialect: Dialect): Snapshot['tables'][string][] {
  const folder = join(FOLDERS, dialect, 'meta')
  const newest = readdirSync(folder)
    .filter((name) => name.endsWith('_snapshot.json'))
    .sort()
    .at(-1)!
  return Object.values((JSON.parse(readFileSync(join(folder, newest), 'utf8')) as Snapshot).tables)
}

/** Tables and columns of this release that the database lacks, one sentence each. Empty if complete. */
export async function lackingIn(location: DatabaseLocation): Promise<string[]> {
  const there = location.dialect === 'sqlite' ? shapeOfFile(location.path) : await shapeOfServer(location.url)
  return [...shapeOf(location.dialect)].flatMap(([table, columns]) => {
    const found = there.get(table)
    if (!found) return [`The table ${table} is missing.`]
    return [...columns].filter((name) => !found.has(name)).map((name) => `The column ${table}.${name} is missing.`)
  })
}

function shapeOfFile(path: string): Shape {
  const database = openFile(path)
  try {
    const rows = database
      .query('SELECT m.name AS name, c.name AS part FROM sqlite_schema m, pragma_table_xinfo(m.name) c')
      .all()
    return grouped(rows as Part[])
  } finally {
    database.close()
  }
}

async function shapeOfServer(url: string): Promise<Shape> {
  const client = connect(url)
  try {
    const rows = await reached(
      url,
      () =>
        client`SELECT table_name AS name, column_name AS part FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name) WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`,
    )
    return grouped(rows as Part[])
  } finally {
    await client.close()
  }
}

function grouped(rows: readonly Part[]): Shape {
  const all = new Map<string, Set<string>>()
  for (const { name, part } of rows) all.set(name, (all.get(name) ?? new Set()).add(part))
  return all
}

/** Removes all our data from a database that no server uses: on SQLite the file, on Postgres everything we created. */
export async function wipe(location: DatabaseLocation): Promise<void> {
  if (location.dialect === 'sqlite') {
    for (const end of ['', '-wal', '-shm']) rmSync(`${location.path}${end}`, { force: true })
    return
  }
  const client = connect(location.url)
  try {
    for (const table of shapeOf('postgres').keys()) await client`DROP TABLE IF EXISTS ${client(table)} CASCADE`
    for (const made of functionsOfServer()) await client`DROP FUNCTION IF EXISTS ${client(made)} CASCADE`
    await client`DROP SCHEMA IF EXISTS drizzle CASCADE`
  } finally {
    await client.close()
  }
}

function functionsOfServer(): string[] {
  const folder = join(FOLDERS, 'postgres')
  const scripts = readdirSync(folder).filter((name) => /^\d+_.*\.sql$/.test(name))
  return scripts.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/^CREATE FUNCTION (\w+)\(/gm)].map(([, made]) => made!),
  )
}

function fileEnd(path: string): CopyEnd {
  const database = openFile(path)
  const quoted = (name: string) => `"${name}"`

  return {
    async *read({ name, columns }) {
      const text = `SELECT ${columns.map((column) => quoted(column.name)).join(', ')} FROM ${quoted(name)}`
      let batch: CopiedRow[] = []
      let chars = 0
      for (const row of database.prepare<CopiedRow, []>(text).iterate()) {
        for (const column of columns) {
          const value = row[column.name]
          if (typeof value === 'string') chars += value.length
          if (value === null) continue
          if (column.type === 'boolean') row[column.name] = value !== 0
          else if (column.type === 'jsonb') row[column.name] = JSON.parse(value as string)
        }
        batch.push(row)
        if (batch.length < MAX_ROWS && chars < MAX_CHARS) continue
        yield batch
        batch = []
        chars = 0
      }
      if (batch.length) yield batch
    },
    write({ name, columns }, rows) {
      const places = columns.map(() => '?').join(', ')
      const names = columns.map((column) => quoted(column.name)).join(', ')
      const insert = database.prepare(`INSERT INTO ${quoted(name)} (${names}) VALUES (${places})`)
      const bound = (row: CopiedRow) =>
        columns.map(({ name, type }) => {
          const value = row[name] ?? null
          return (type === 'jsonb' && value !== null ? JSON.stringify(value) : value) as
            | string
            | number
            | boolean
            | null
        })
      database.transaction(() => {
        for (const row of rows) insert.run(...bound(row))
      })()
      insert.finalize()
      return { stored: rows, done: Promise.resolve() }
    },
    settle: () => Promise.resolve(),
    async close() {
      database.run('PRAGMA wal_checkpoint(TRUNCATE)')
      database.close()
    },
  }
}

async function serverEnd(url: string): Promise<CopyEnd> {
  const client = connect(url)
  const db = drizzle({ client })
  await reached(url, () => client`SELECT 1`)
  const listOf = (columns: readonly Column[]): Sql =>
    sql.join(
      columns.map(({ name }) => sql.identifier(name)),
      sql`, `,
    )

  return {
    async *read({ name, columns }) {
      const rows = sql`SELECT row_to_json(given)::text AS row FROM (SELECT ${listOf(columns)} FROM ${sql.identifier(name)}) AS given`
      await client`BEGIN READ ONLY`
      try {
        await db.execute(sql`DECLARE copied NO SCROLL CURSOR FOR ${rows}`)
        for (let many = false; ; ) {
          const fetched = many ? client`FETCH 4000 FROM copied` : client`FETCH 50 FROM copied`
          const found = (await fetched) as { row: string }[]
          if (!found.length) break
          const text = `[${found.map(({ row }) => row).join(',')}]`
          many = text.length / found.length < LONG_ROW_CHARS
          yield JSON.parse(text)
        }
      } finally {
        await client`ROLLBACK`
      }
    },
    write({ name, columns }, rows) {
      const table = sql.identifier(name)
      const text = JSON.stringify(rows)
      const stored = REFUSED.test(text) ? (storableJson(rows) as CopiedRow[]) : rows
      const records = sql`json_populate_recordset(NULL::${table}, ${stored === rows ? text : JSON.stringify(stored)}::text::json)`
      const insert = sql`INSERT INTO ${table} (${listOf(columns)}) SELECT ${listOf(columns)} FROM ${records}`
      const done = db
        .execute(insert)
        .execute()
        // The full error message would contain the rows.
        .catch(({ cause }: Error) =>
          Promise.reject(new Error(`${name} cannot be written: ${(cause as Error).message}`)),
        )
      return { stored, done }
    },
    async settle(tables) {
      for (const { name, columns } of tables) {
        const counted = columns.find(({ type }) => type === 'bigserial')
        if (!counted) continue
        const last = sql`SELECT coalesce(max(${sql.identifier(counted.name)}), 0) + 1 FROM ${sql.identifier(name)}`
        await db.execute(sql`SELECT setval(pg_get_serial_sequence(${name}, ${counted.name}), (${last}), false)`)
      }
      await client`ANALYZE`
    },
    close: () => client.close(),
  }
}
