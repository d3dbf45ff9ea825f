import { Database } from 'bun:sqlite'
import { SQL } from 'bun'
import { createPostgresDatabase, type OwnDatabase } from '../support/store'

const TRIES = 600
const PAUSE_MS = 50

/** An empty Postgres database under a server that is killed, and copies of what a kill left in it. */
export async function createChaosDatabase(server: string) {
  const database = await createPostgresDatabase(server)
  return { url: database.url, twin, openHolds, drop: database.drop }

  /** A copy for those who look into it with the product's own means, which change what they find. */
  async function twin(): Promise<OwnDatabase> {
    const own = await createPostgresDatabase(server)
    await own.drop()
    const [name, source] = [own.url, database.url].map((url) => new URL(url).pathname.slice(1))
    const admin = new SQL(server, { max: 1 })
    try {
      for (let tried = 1; ; tried++) {
        try {
          await admin.unsafe(`CREATE DATABASE ${name} TEMPLATE ${source}`)
          return own
        } catch (error) {
          // The sessions of the killed server end when Postgres sees that nobody reads their answers.
          if (tried === TRIES || !String(error).includes('being accessed')) throw error
          await Bun.sleep(PAUSE_MS)
        }
      }
    } finally {
      await admin.close()
    }
  }

  async function openHolds(): Promise<number> {
    const client = new SQL(database.url, { max: 1 })
    try {
      const [found] = await client`SELECT count(*)::int AS n FROM holds WHERE state = 'open'`
      return found.n
    } finally {
      await client.close()
    }
  }
}

type Column = { table_name: string; column_name: string; data_type: string }

/** Writes every row of a Postgres database into an SQLite file, so that one inspection serves both. */
export async function writeAsSqlite(url: string, path: string): Promise<void> {
  const client = new SQL(url, { max: 1 })
  const file = new Database(path, { create: true })
  try {
    const columns: Column[] = await client`SELECT table_name, column_name, data_type FROM information_schema.columns
      WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`
    const tables = Map.groupBy(columns, ({ table_name }) => table_name)
    file.run('BEGIN')
    for (const [table, of] of tables) {
      file.run(`CREATE TABLE ${table} (${of.map(({ column_name }) => `"${column_name}"`).join()})`)
      const insert = file.query(`INSERT INTO ${table} VALUES (${of.map(() => '?').join()})`)
      for (const row of await client.unsafe(`SELECT * FROM ${table}`)) {
        insert.run(...of.map(({ column_name, data_type }) => plain(row[column_name], data_type)))
      }
    }
    file.run('COMMIT')
  } finally {
    file.close()
    await client.close()
  }
}

function plain(value: unknown, type: string): string | number | null {
  if (value === null) return null
  if (type === 'bigint') return Number(value)
  if (type === 'boolean') return Number(value)
  return typeof value === 'object' ? JSON.stringify(value) : (value as string | number)
}
