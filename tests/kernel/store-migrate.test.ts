import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SQL } from 'bun'
import { getTableName } from 'drizzle-orm'
import { findTables } from '../../drizzle/tables'
import { type DatabaseLocation, inTurn, lackingIn, migrate, schemaOf, wipe } from '../../src/kernel/store'
import { BUN } from '../run/children'
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

async function emptyLocation(): Promise<DatabaseLocation> {
  if (postgresUrl) {
    const { url, drop } = await createPostgresDatabase(postgresUrl)
    afterAll(drop)
    return { dialect: 'postgres', url }
  }
  return { dialect: 'sqlite', path: join(temporaryFolder('svc-shape-'), 'svc.db') }
}

test('a migrated database lacks nothing, and a wiped one everything', async () => {
  const location = await emptyLocation()
  await migrate(location)
  expect(await lackingIn(location)).toEqual([])
  await wipe(location)
  expect((await schemaOf(location)).applied).toBe(0)
  expect(await lackingIn(location)).toContain('The table webhooks is missing.')
  await migrate(location)
  expect(await lackingIn(location)).toEqual([])
})

const tree = temporaryFolder('svc-generate-')
for (const part of ['src', 'drizzle', 'package.json', 'tsconfig.json'])
  cpSync(part, join(tree, part), { recursive: true })
symlinkSync(resolve('node_modules'), join(tree, 'node_modules'))

const before = Object.fromEntries(['sqlite', 'postgres'].map((dialect) => [dialect, scripts(dialect)]))
const next = String(before.sqlite!.length).padStart(4, '0')

function scripts(dialect: string): string[] {
  return readdirSync(join(tree, 'drizzle', dialect))
    .filter((file) => file.endsWith('.sql'))
    .sort()
}

function change(file: string, from: string, to: string): void {
  const path = join(tree, file)
  const text = readFileSync(path, 'utf8')
  expect(text).toContain(from)
  writeFileSync(path, text.replace(from, to))
}

async function generate(...words: string[]): Promise<{ code: number; stderr: string }> {
  const command = [BUN, 'drizzle/generate.ts', ...words]
  const child = Bun.spawn(command, { cwd: tree, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  const stderr = await new Response(child.stderr).text()
  return { code: await child.exited, stderr }
}

test('a change of a table is a new migration on both databases, and the old ones stay', async () => {
  const old = { dialect: 'sqlite', path: join(tree, 'old.db') } as const
  await migrate(old, undefined, join(tree, 'drizzle'))
  const database = new Database(old.path)
  database.run("INSERT INTO ledger_entries (ref, kind, account, amount, at, note) VALUES ('r', 'k', 'a', 1, 2, 'n')")
  expect(await generate('--check')).toEqual({ code: 0, stderr: '' })

  const column = "  note: k.text('note'),"
  change('src/billing/table.ts', column, `${column}\n  trial: k.text('trial').notNull(),`)
  expect(await generate('--check')).toMatchObject({ code: 1, stderr: expect.stringContaining('drizzle/sqlite lacks') })
  expect(await generate('trial')).toMatchObject({ code: 1, stderr: expect.stringContaining('needs a default') })
  expect(scripts('sqlite')).toEqual(before.sqlite!)

  // SQLite makes the table anew for a column that may no longer be null.
  change(
    'src/billing/table.ts',
    `${column}\n  trial: k.text('trial').notNull(),`,
    `${column.replace(',', '.notNull(),')}\n  trial: k.text('trial').notNull().default('x'),`,
  )
  expect(await generate('trial')).toMatchObject({ code: 0 })
  for (const dialect of ['sqlite', 'postgres'])
    expect(scripts(dialect)).toEqual([...before[dialect]!, `${next}_trial.sql`])
  expect(await generate('--check')).toEqual({ code: 0, stderr: '' })

  await migrate(old, undefined, join(tree, 'drizzle'))
  expect(database.query('SELECT ref, note, trial FROM ledger_entries').all()).toEqual([
    { ref: 'r', note: 'n', trial: 'x' },
  ])
  expect(() => database.run('DELETE FROM ledger_entries')).toThrow('append-only')
  expect(() => database.run('UPDATE ledger_entries SET amount = 2')).toThrow('append-only')
  database.close()
}, 180_000)

test('what tables cannot express is written by hand, and a released migration never changes', async () => {
  expect(await generate('by_hand', '--custom')).toMatchObject({ code: 0 })
  for (const dialect of ['sqlite', 'postgres']) expect(scripts(dialect).at(-1)).toEndWith('_by_hand.sql')
  change('drizzle/sqlite/0000_init.sql', 'CREATE TABLE', 'CREATE TABLE IF NOT EXISTS')
  expect(await generate('--check')).toEqual({
    code: 1,
    stderr:
      'drizzle/sqlite/0000_init.sql was released and may not change. Put it back, and add a migration: bun run generate NAME\n',
  })
}, 180_000)

const names = (await findTables()).map(({ table }) => getTableName(table.sqlite)).sort()

test('the list of tables has every table that is defined in src', async () => {
  const files = await Array.fromAsync(new Bun.Glob('src/**/*.ts').scan('.'))
  const defined = (await Promise.all(files.map((file) => Bun.file(file).text()))).flatMap((text) => [
    ...text.matchAll(/= define(?:Clustered)?Table\(\s*'(\w+)'/g),
  ])
  expect(names.length).toBeGreaterThan(40)
  expect(names).toEqual(defined.map(([, name]) => name!).sort())
})

test.each(['sqlite', 'postgres'])('the migrations of %s create each of them', async (dialect) => {
  const files = await Array.fromAsync(new Bun.Glob(`drizzle/${dialect}/*.sql`).scan('.'))
  const text = (await Promise.all(files.map((file) => Bun.file(file).text()))).join('\n')
  const created = new Set([...text.matchAll(/^CREATE TABLE ["`](\w+)["`]/gm)].map(([, name]) => name!))
  expect(names.filter((name) => !created.has(name))).toEqual([])
})
