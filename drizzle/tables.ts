/** Every table that `src` defines, wherever it is defined: the migrations of both databases are made from this list. */
import { join } from 'node:path'
import { is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Table } from '../src/kernel/store'

const SRC = join(import.meta.dir, '../src')
const DEFINES = /= define(Clustered)?Table\(/g

/** A table, with the file that exports it and the name of the export. */
export type FoundTable = { file: string; name: string; table: Table<SQLiteTable> }

/** All tables by file and name. Throws when a file defines a table and does not export it. */
export async function findTables(): Promise<FoundTable[]> {
  const files = await Array.fromAsync(new Bun.Glob('**/*.ts').scan({ cwd: SRC, absolute: true }))
  return (await Promise.all(files.sort().map(tablesIn))).flat()
}

async function tablesIn(file: string): Promise<FoundTable[]> {
  const defined = [...(await Bun.file(file).text()).matchAll(DEFINES)].length
  if (!defined) return []
  const exported: [string, unknown][] = Object.entries(await import(file))
  const found = exported.flatMap(([name, value]) => (isTable(value) ? [{ file, name, table: value }] : []))
  if (found.length !== defined) throw new Error(`${file} defines ${defined} tables and exports ${found.length}`)
  return found
}

const isTable = (value: unknown): value is Table<SQLiteTable> =>
  typeof value === 'object' &&
  value !== null &&
  'sqlite' in value &&
  is(value.sqlite, SQLiteTable) &&
  !('view' in value)
