import { Database } from 'bun:sqlite'
import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { drizzle as drizzlePostgres } from 'drizzle-orm/bun-sql'
import { drizzle as drizzleSqlite } from 'drizzle-orm/bun-sqlite'
import type { Reader } from '../../src/kernel/store'
import { copyMigratedFile, createMigratedDatabase, postgresUrl } from './store'

type Request = { text: string; values: unknown[] }
type Explain = (request: Request) => Promise<string[]>
type Selecting = Pick<Reader, 'select' | '$count'>

/** Returns the database's query plan for what a reader asks, one line per step, on empty tables. */
export type Planner = { planOf(ask: (db: Reader) => PromiseLike<unknown>): Promise<string> }

/** Uses a database of its own, removed when the test file ends. */
export async function openPlanner(): Promise<Planner> {
  const requests: Request[] = []
  const logger = {
    prepared: (text: string) => void requests.push({ text, values: [] }),
    logQuery(text: string, values: unknown[]) {
      if (requests.at(-1)?.text === text) requests.pop()
      requests.push({ text, values })
    },
  }
  const { db, explain } = await (postgresUrl ? onPostgres(postgresUrl, logger) : onSqlite(logger))
  return {
    planOf: async (ask) => {
      requests.length = 0
      await ask(db)
      return (await Promise.all(requests.splice(0).map(explain))).flat().join('\n')
    },
  }
}

type Logger = { prepared(text: string): void; logQuery(text: string, values: unknown[]): void }

async function onSqlite(logger: Logger): Promise<{ db: Reader; explain: Explain }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-planner-'))
  await copyMigratedFile(join(folder, 'svc.db'))
  const database = new Database(join(folder, 'svc.db'))
  // Queries that are declared once run as statements of the database itself, without drizzle's log.
  const prepare = database.prepare.bind(database) as (text: string) => never
  database.prepare = (text: string) => {
    logger.prepared(text)
    return prepare(text)
  }
  afterAll(() => {
    database.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const explain: Explain = async ({ text, values }) => {
    const steps = database.query(`EXPLAIN QUERY PLAN ${text}`).all(...(values as never[]))
    return (steps as { detail: string }[]).map(({ detail }) => detail)
  }
  return { db: asReader('sqlite', drizzleSqlite(database, { logger })), explain }
}

async function onPostgres(url: string, logger: Logger): Promise<{ db: Reader; explain: Explain }> {
  const own = await createMigratedDatabase(url)
  const client = new SQL(own.url, { max: 1 })
  afterAll(async () => {
    await client.close()
    await own.drop()
  })
  // On empty tables the planner prefers scans and sorts; switched off, they appear only where no index can be used.
  for (const way of ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin']) {
    await client.unsafe(`SET enable_${way} = off`)
  }
  const explain: Explain = async ({ text, values }) => {
    const lines: { 'QUERY PLAN': string }[] = await client.unsafe(`EXPLAIN ${text}`, values)
    return lines.map((line) => line['QUERY PLAN'])
  }
  return { db: asReader('postgres', drizzlePostgres({ client, logger })), explain }
}

/** Keeps no query, so that each is built anew and reaches the logger. */
const STORED_NOWHERE = { get: () => undefined, set: () => undefined }

/** A reader of one database alone. */
function asReader(dialect: 'sqlite' | 'postgres', db: unknown): Reader {
  const { select, $count } = db as Selecting
  const of = (table: Record<typeof dialect, unknown>) => table[dialect]
  return {
    dialect,
    prepared: STORED_NOWHERE,
    of,
    select: select.bind(db),
    $count: $count.bind(db),
  } as unknown as Reader
}
