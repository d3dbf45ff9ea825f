import { Database } from 'bun:sqlite'
import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { migrate, openPostgres, openSqlite, type Store } from '../../src/kernel/store'

/** Which database this run of the tests uses; `tests/run.ts` runs the bound ones on both. */
export const postgresUrl = process.env.SVC_TEST_POSTGRES_URL

let made = 0
const TEMPLATE_LOCK = 7_316_402

/** A migrated, empty store of its own for one test file, on the database of this run. Closed and removed after it. */
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

/** Puts an empty SQLite database with this build's schema there. */
export async function copyMigratedFile(path: string): Promise<void> {
  migrated ??= migrateFile()
  writeFileSync(path, await migrated)
}

/** What such a file holds; made once for all files of a worker. */
let migrated: Promise<Uint8Array> | null = null

async function migrateFile(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-migrated-'))
  const path = join(folder, 'svc.db')
  await migrate({ dialect: 'sqlite', path })
  // Not the file itself: some of it may still be in the log beside it.
  const database = new Database(path)
  const bytes = database.serialize()
  database.close()
  rmSync(folder, { recursive: true, force: true })
  return bytes
}

export type OwnDatabase = { url: string; drop(): Promise<void> }

/** An empty database of its own on the test server, so that files can run beside each other. */
export const createPostgresDatabase = (url: string): Promise<OwnDatabase> => createDatabase(url, '')

/** The same with this build's schema, copied from one that was migrated once for the whole server. */
export async function createMigratedDatabase(url: string): Promise<OwnDatabase> {
  template ??= prepareTemplate(url)
  return createDatabase(url, `TEMPLATE ${await template} STRATEGY FILE_COPY`)
}

let template: Promise<string> | null = null

/** Named by what it is made of; whoever comes first makes it, and the others wait. */
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
