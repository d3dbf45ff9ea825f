import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { type DatabaseLocation, inTurn, migrate, schemaOf } from '../../src/kernel/store'
import { createPostgresDatabase, postgresUrl } from '../support/store'
import { temporaryFolder } from '../support/temporary-folder'

const folder = temporaryFolder('svc-migrate-')
let made = 0

if (!postgresUrl)
  process.stdout.write('NOT RUN: nodes that migrate together, because SVC_TEST_POSTGRES_URL is not set.\n')

/** An empty database of this run's kind, and a way to run a statement in it. */
async function empty(): Promise<{ location: DatabaseLocation; run(text: string): Promise<unknown> }> {
  if (!postgresUrl) {
    const path = join(folder, `${++made}.db`)
    const run = async (text: string) => {
      const database = new Database(path, { create: true })
      database.run(text)
      database.close()
    }
    await run('VACUUM')
    return { location: { dialect: 'sqlite', path }, run }
  }
  const { url, drop } = await createPostgresDatabase(postgresUrl)
  const client = new SQL(url, { max: 1 })
  afterAll(async () => {
    await client.close()
    await drop()
  })
  return { location: { dialect: 'postgres', url }, run: (text) => client.unsafe(text) }
}
const TABLE = postgresUrl ? 'drizzle.__drizzle_migrations' : '__drizzle_migrations'

describe('the migrations of a database', () => {
  test('are all missing in an empty one, and none after they were applied, once', async () => {
    const { location } = await empty()
    const { known, ...before } = await schemaOf(location)
    expect(known).toBeGreaterThan(0)
    expect(before).toEqual({ applied: 0, strange: false, unfinished: false })
    await migrate(location)
    expect(await schemaOf(location)).toEqual({ applied: known, known, strange: false, unfinished: false })
    await migrate(location)
    expect(await schemaOf(location)).toEqual({ applied: known, known, strange: false, unfinished: false })
  })

  test('that this build does not know of are counted, and others of the same number are strange', async () => {
    const { location, run } = await empty()
    await migrate(location)
    const { known } = await schemaOf(location)
    await run(`INSERT INTO ${TABLE} (hash, created_at) VALUES ('of a later build', 9999999999999)`)
    expect(await schemaOf(location)).toEqual({ applied: known + 1, known, strange: false, unfinished: false })
    await run(`UPDATE ${TABLE} SET hash = 'of another' WHERE hash <> 'of a later build'`)
    expect(await schemaOf(location)).toMatchObject({ strange: true })
  })

  test('are applied as a whole, or not at all', async () => {
    const { location, run } = await empty()
    const folders = mkdtempSync(join(folder, 'broken-'))
    const write = (texts: string[]) => {
      const entries = texts.map((text, idx) => {
        mkdirSync(join(folders, location.dialect, 'meta'), { recursive: true })
        writeFileSync(join(folders, location.dialect, `000${idx}_step.sql`), text)
        return { idx, version: '7', when: 1_000 + idx, tag: `000${idx}_step`, breakpoints: true }
      })
      const journal = { version: '7', dialect: location.dialect, entries }
      writeFileSync(join(folders, location.dialect, 'meta/_journal.json'), JSON.stringify(journal))
    }
    write(['CREATE TABLE a (id int)'])
    await migrate(location, undefined, folders)
    await run('INSERT INTO a (id) VALUES (1)')
    const breaks = 'CREATE TABLE b (id int);--> statement-breakpoint\nDROP TABLE a;--> statement-breakpoint\n'
    write(['CREATE TABLE a (id int)', `${breaks}DROP TABLE nowhere`])
    await expect(migrate(location, undefined, folders)).rejects.toThrow()
    expect(await schemaOf(location)).toMatchObject({ applied: 1 })
    await expect(run('SELECT * FROM b')).rejects.toThrow()
    await run('INSERT INTO a (id) VALUES (2)')
    write(['CREATE TABLE a (id int)', `${breaks}SELECT 1`])
    await migrate(location, undefined, folders)
    expect(await schemaOf(location)).toMatchObject({ applied: 2 })
    await expect(run('SELECT * FROM a')).rejects.toThrow()
  })

  test('fail as the database fails', async () => {
    const { location, run } = await empty()
    await run(
      postgresUrl
        ? `CREATE SCHEMA drizzle; CREATE TABLE ${TABLE} (id int)`
        : `CREATE TABLE ${TABLE} (id INTEGER PRIMARY KEY)`,
    )
    await expect(schemaOf(location)).rejects.toThrow()
  })
})

describe('what only one node may do at a time', () => {
  test('is done, and its answer or its error handed on', async () => {
    const { location } = await empty()
    expect(await inTurn(location, async () => 'done')).toBe('done')
    await expect(inTurn(location, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await inTurn(location, () => migrate(location))).toBeUndefined()
  })

  test('is done by one node after the other', async () => {
    // The lock of the data folder sees to that on SQLite, where turns are at once.
    const { location } = await empty()
    let [inside, max] = [0, 0]
    const work = async () => {
      inside += 1
      max = Math.max(max, inside)
      await new Promise((resolve) => setTimeout(resolve, 50))
      inside -= 1
    }
    await Promise.all([inTurn(location, work), inTurn(location, work), inTurn(location, work)])
    expect(max).toBe(postgresUrl ? 1 : 3)
  })

  test.if(postgresUrl !== undefined)('is to migrate as well, where nodes start together', async () => {
    const { location } = await empty()
    await Promise.all([migrate(location), migrate(location), migrate(location)])
    const { applied, known } = await schemaOf(location)
    expect(applied).toBe(known)
  })
})
