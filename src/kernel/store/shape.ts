import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TableShape } from './copy-ends'
import type { DatabaseLocation } from './migrate'
import { connect } from './postgres-client'
import { reached } from './reach'
import { openFile } from './sqlite-file'
import type { Dialect } from './store'

const FOLDERS = join(import.meta.dir, '../../../drizzle')

type Shape = ReadonlyMap<string, ReadonlySet<string>>
type Snapshot = { tables: Record<string, { name: string; columns: Record<string, { name: string; type: string }> }> }

/** The tables of this release as the last migration leaves them. */
function snapshotOf(dialect: Dialect): Snapshot['tables'][string][] {
  const folder = join(FOLDERS, dialect, 'meta')
  const newest = readdirSync(folder)
    .filter((name) => name.endsWith('_snapshot.json'))
    .sort()
    .at(-1)!
  return Object.values((JSON.parse(readFileSync(join(folder, newest), 'utf8')) as Snapshot).tables)
}

const shapeOf = (dialect: Dialect): Shape =>
  new Map(snapshotOf(dialect).map(({ name, columns }) => [name, new Set(Object.keys(columns))]))

/** The tables of this release with their columns, which are the same on both databases, and the types of Postgres. */
export const tablesOf = (): TableShape[] =>
  snapshotOf('postgres').map(({ name, columns }) => ({ name, columns: Object.values(columns) }))

/** Whether nothing is in a database. A file that is missing is made. */
export const isEmpty = async (location: DatabaseLocation): Promise<boolean> =>
  (location.dialect === 'sqlite' ? shapeOfFile(location.path) : await shapeOfServer(location.url)).size === 0

/** What the database lacks of the tables and columns of this release: a sentence each, none when nothing. */
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
        client`SELECT table_name AS name, column_name AS part FROM information_schema.columns WHERE table_schema = current_schema()`,
    )
    return grouped(rows as Part[])
  } finally {
    await client.close()
  }
}

type Part = { name: string; part: string }

function grouped(rows: readonly Part[]): Shape {
  const all = new Map<string, Set<string>>()
  for (const { name, part } of rows) all.set(name, (all.get(name) ?? new Set()).add(part))
  return all
}

/** Takes everything of ours out of a database that no server uses: on SQLite the file, on Postgres what we made there. */
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
