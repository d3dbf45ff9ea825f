import { Database } from 'bun:sqlite'
import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { eq, sql } from 'drizzle-orm'
import { command, defineTable, openPostgres, openSqlite, query, type Store } from '../../src/kernel/store'
import { createPostgresDatabase, postgresUrl } from '../support/store'

/** A table that only the store's own tests know, with a column of every kind. */
export const things = defineTable('things', (k) => ({
  seq: k.serial('seq'),
  id: k.text('id').notNull(),
  amount: k.int('amount').notNull(),
  share: k.real('share'),
  done: k.bool('done'),
  at: k.ms('at'),
  data: k.json<{ b: number; a: string[] } | null>('data'),
}))

const SQLITE = `CREATE TABLE things (seq integer PRIMARY KEY, id text NOT NULL UNIQUE, amount integer NOT NULL CHECK (amount >= 0),
  share real, done integer, at integer, data text)`
const POSTGRES = `CREATE TABLE things (seq bigserial PRIMARY KEY, id text NOT NULL UNIQUE, amount bigint NOT NULL CHECK (amount >= 0),
  share double precision, done boolean, at bigint, data jsonb)`

export const insert = command<{ id: string; amount: number }>()((tx, p) =>
  tx.insert(tx.of(things)).values({ id: p.id, amount: p.amount }),
)

export const byId = query<{ id: string }>()((db, p) => {
  const t = db.of(things)
  return db.select().from(t).where(eq(t.id, p.id))
})

export const take = command<{ id: string; by: number }>()((tx, p) => {
  const t = tx.of(things)
  return tx
    .update(t)
    .set({ amount: sql`${t.amount} - ${p.by}` })
    .where(sql`${t.id} = ${p.id} AND ${t.amount} >= ${p.by}`)
    .returning({ amount: t.amount })
})

export const idsIn = async (store: Store): Promise<string[]> => {
  const t = store.read.of(things)
  return (await store.read.select({ id: t.id }).from(t)).map(({ id }) => id).sort()
}

export type SqliteOptions = { strict?: boolean; busyPatienceMs?: number; onBatch?(units: number): void }

/** A SQLite store on a file of its own, and the path for tests that open the file themselves. */
export function openScratchFile(options: SqliteOptions = {}): { store: Store; path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'svc-scratch-'))
  const path = join(folder, 'scratch.db')
  const raw = new Database(path)
  raw.run(SQLITE)
  raw.close()
  const onDiskFailure = (error: unknown) => {
    throw error
  }
  const store = openSqlite({ path, strict: true, onDiskFailure, ...options })
  afterAll(async () => {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { store, path }
}

/** A store with the scratch table, on the kind of database this run tests. */
export async function openScratch(): Promise<Store> {
  if (!postgresUrl) return openScratchFile().store
  const database = await createPostgresDatabase(postgresUrl)
  const client = new SQL(database.url, { max: 1 })
  await client.unsafe(POSTGRES)
  await client.close()
  const store = openPostgres({ url: database.url, maxConnections: 4 })
  afterAll(async () => {
    await store.close()
    await database.drop()
  })
  return store
}
