import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { migrate, openPostgres, openSqlite, type Store } from '../../src/kernel/store'

/** Which database this run of the tests uses; `tests/run.ts` runs the bound ones on both. */
export const postgresUrl = process.env.SVC_TEST_POSTGRES_URL

let made = 0

/** A migrated, empty store of its own for one test file, on the database of this run. Closed and removed after it. */
export async function openTestStore(): Promise<Store> {
  return postgresUrl ? openOnPostgres(postgresUrl) : openOnSqlite()
}

async function openOnSqlite(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-store-'))
  const path = join(folder, 'svc.db')
  await migrate({ dialect: 'sqlite', path })
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

/** A database of its own on the test server, so that files can run beside each other. */
export async function createPostgresDatabase(url: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `svc_test_${process.pid}_${++made}_${Math.floor(performance.now())}`
  const admin = async (statement: string) => {
    const client = new SQL(url, { max: 1 })
    await client.unsafe(statement)
    await client.close()
  }
  await admin(`CREATE DATABASE ${name}`)
  const own = new URL(url)
  own.pathname = `/${name}`
  return { url: own.href, drop: () => admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

async function openOnPostgres(url: string): Promise<Store> {
  const database = await createPostgresDatabase(url)
  await migrate({ dialect: 'postgres', url: database.url })
  const store = openPostgres({ url: database.url, maxConnections: 4 })
  afterAll(async () => {
    await store.close()
    await database.drop()
  })
  return store
}
