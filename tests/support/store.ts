import { Database } from 'bun:sqlite'
import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { migrate, openPostgres, openSqlite, type Store } from '../../src/kernel/store'

/** The database of this test run; `tests/run.ts` runs the database-bound tests on both. */
export const postgresUrl = process.env.SVC_TEST_POSTGRES_URL

let made = 0
const TEMPLATE_LOCK = 7_316_402

/** A migrated, empty store for one test file, on the database of this run. Closed and removed afterwards. */
export async function openTestStore(): Promise<Store> {
  return postgresUrl ? openOnPostgres(postgresUrl) : openOnSqlite()
}

async function openOnSqlite(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-store-'))
  const path = join(folder, 'svc.db')
  await copyMigratedFile(path)
  const store = openSqlite({
    path,
    strict: true,
    onDiskFailure: (error) => {
      throw error
    },
  })
  afterAll(async () => {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return store
}

/** Writes an empty SQLite database with the current schema to `path`. */
export async function copyMigratedFile(path: string): Promise<void> {
  migrated ??= migrateFile()
  writeFileSync(path, await migrated, { mode: 0o600 })
}

/** The bytes of such a file; made once per worker. */
let migrated: Promise<Uint8Array> | null = null

async function migrateFile(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-migrated-'))
  const path = join(folder, 'svc.db')
  await migrate({ dialect: 'sqlite', path })
  // Serialized instead of copied, because part of the data may still be in the write-ahead log.
  const database = new Database(path)
  const bytes = database.serialize()
  database.close()
  rmSync(folder, { recursive: true, force: true })
  return bytes
}

export type OwnDatabase = { url: string; drop(): Promise<void> }

/** An empty database on the test server, one per test file, so that files can run in parallel. */
export const createPostgresDatabase = (url: string): Promise<OwnDatabase> => createDatabase(url, '')

/** The same with the current schema, copied from a template that is migrated once per server. */
export async function createMigratedDatabase(url: string): Promise<OwnDatabase> {
  template ??= prepareTemplate(url)
  return createDatabase(url, `TEMPLATE ${await template} STRATEGY FILE_COPY`)
}

let template: Promise<string> | null = null

/** The template is named by the hash of the migrations; the first worker creates it while the others wait. */
async function prepareTemplate(url: string): Promise<string> {
  const files = (await Array.fromAsync(new Bun.Glob('drizzle/postgres/**/*').scan('.'))).sort()
  const texts = await Promise.all(files.map((file) => Bun.file(file).text()))
  const name = `svc_template_${Bun.hash(texts.join()).toString(36)}`
  await asAdmin(url, async (client) => {
    await client`SELECT pg_advisory_lock(${TEMPLATE_LOCK})`
    const found = await client`SELECT 1 FROM pg_database WHERE datname = ${name}`
    if (found.length) return
    const unfinished = await createDatabase(url, '')
    await migrate({ dialect: 'postgres', url: unfinished.url })
    await client.unsafe(`ALTER DATABASE ${new URL(unfinished.url).pathname.slice(1)} RENAME TO ${name}`)
  })
  return name
}

async function createDatabase(url: string, how: string): Promise<OwnDatabase> {
  const name = `svc_test_${process.pid}_${++made}_${Math.floor(performance.now())}`
  const admin = (statement: string) => asAdmin(url, (client) => client.unsafe(statement))
  await admin(`CREATE DATABASE ${name} ${how}`)
  const own = new URL(url)
  own.pathname = `/${name}`
  return { url: own.href, drop: () => admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

async function asAdmin(url: string, work: (client: SQL) => Promise<unknown>): Promise<void> {
  const client = new SQL(url, { max: 1 })
  try {
    await work(client)
  } finally {
    await client.close()
  }
}

async function openOnPostgres(url: string): Promise<Store> {
  const database = await createMigratedDatabase(url)
  const store = openPostgres({ url: database.url, maxConnections: 4 })
  afterAll(async () => {
    await store.close()
    await database.drop()
  })
  return store
}
