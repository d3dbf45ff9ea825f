import { type SQL as Sql, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sql'
import { storableJson } from '../text'
import type { DatabaseLocation } from './migrate'
import { connect } from './postgres-client'
import { reached } from './reach'
import { openFile } from './sqlite-file'

type Column = { name: string; type: string }
export type TableShape = { name: string; columns: readonly Column[] }
export type CopiedRow = Record<string, unknown>

/** One side of a copy. Rows are the same on both: JSON is parsed, and what is true or false is a boolean. */
export type CopyEnd = {
  /** All rows of a table, in the order in which they are stored. */
  read(table: TableShape): AsyncGenerator<CopiedRow[]>
  /** Inserts rows in one transaction. `stored` is what is there then: Postgres has no NUL and no half surrogate pairs. */
  write(table: TableShape, rows: CopiedRow[]): { stored: CopiedRow[]; done: Promise<unknown> }
  /** Lets the database count on from the rows that came, and look at how many there are. */
  settle(tables: readonly TableShape[]): Promise<void>
  close(): Promise<void>
}

/** A batch ends with so many rows, or so many characters: one row may have a megabyte. */
const MOST_ROWS = 5_000
const MOST_CHARS = 8_000_000
/** From so many characters a row few are fetched at a time. */
const LONG_ROW_CHARS = 2_000
/** The escapes that Postgres refuses in JSON. */
const REFUSED = /\\u0000|\\ud[89a-f]/i

export const openEnd = (location: DatabaseLocation): Promise<CopyEnd> =>
  location.dialect === 'sqlite' ? Promise.resolve(fileEnd(location.path)) : serverEnd(location.url)

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
        if (batch.length < MOST_ROWS && chars < MOST_CHARS) continue
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
      const given = sql`json_populate_recordset(NULL::${table}, ${stored === rows ? text : JSON.stringify(stored)}::text::json)`
      const insert = sql`INSERT INTO ${table} (${listOf(columns)}) SELECT ${listOf(columns)} FROM ${given}`
      const done = db
        .execute(insert)
        .execute()
        // The whole message would hold the rows.
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
