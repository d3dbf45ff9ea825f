import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { migrate } from '../../src/kernel/store'
import { BUN } from '../run/children'
import { temporaryFolder } from '../support/temporary-folder'

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
