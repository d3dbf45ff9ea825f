// SQLite only but for verify, which tests/kernel tries on both: copies are of SQLite files.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { copyBefore, putBack } from '../../cli/commands/migrate'
import { openConnection } from '../../cli/open'
import { systemClock } from '../../src/kernel/clock'
import { migrate } from '../../src/kernel/store'
import { cli } from '../support/io'
import { temporaryFolder } from '../support/temporary-folder'

const root = temporaryFolder('svc-migrate-')
const data = join(root, 'data')
const run = (...line: string[]) => cli([...line, '--data-dir', data], { clock: systemClock, open: openConnection })

test('looking makes nothing, so that a backup can still be restored there', async () => {
  const lines = [['status'], ['plan'], ['verify'], ['up', '--dry-run']]
  for (const line of lines) expect((await run('migrate', ...line)).exitCode).toBe(line[0] === 'verify' ? 9 : 0)
  expect(existsSync(data)).toBe(false)
})

test('verify names what a database lacks', async () => {
  expect((await run('migrate', 'verify')).exitCode).toBe(9)
  expect((await run('migrate', 'up')).exitCode).toBe(0)
  expect((await run('migrate', 'verify')).exitCode).toBe(0)
  const database = new Database(join(data, 'svc.db'))
  database.run('DROP TABLE webhooks')
  database.run('ALTER TABLE hooks RENAME COLUMN name TO title')
  database.close()
  const { exitCode, stdout } = await run('migrate', 'verify')
  expect(exitCode).toBe(9)
  expect(stdout).toContain('The table webhooks is missing.')
  expect(stdout).toContain('The column hooks.name is missing.')
})

test('down puts back the copy that was made before, and keeps what is there', async () => {
  expect((await run('migrate', 'down', '--confirm', 'data')).exitCode).toBe(3)
  const folder = join(data, 'backups', 'before-migrate-20261123T000000Z')
  mkdirSync(folder, { recursive: true })
  const copy = new Database(join(folder, 'svc.db'))
  copy.run('CREATE TABLE older (id TEXT)')
  copy.close()
  expect((await run('migrate', 'down', '--dry-run')).exitCode).toBe(0)
  expect((await run('migrate', 'down')).exitCode).toBe(2)
  const { exitCode, stdout } = await run('migrate', 'down', '--confirm', 'data', '--json')
  expect(exitCode).toBe(0)
  expect(existsSync(JSON.parse(stdout).kept)).toBe(true)
  const now = new Database(join(data, 'svc.db'), { readonly: true })
  expect(now.query("SELECT name FROM sqlite_schema WHERE name = 'older'").all()).toHaveLength(1)
  now.close()
})

test('down sets aside the checkpoints that were signed since, and puts back those of the copy', async () => {
  const folder = join(root, 'signed')
  const path = join(folder, 'svc.db')
  const book = join(folder, 'audit', 'checkpoints.jsonl')
  mkdirSync(dirname(book), { recursive: true })
  await migrate({ dialect: 'sqlite', path })
  writeFileSync(book, 'before\n')
  const copy = await copyBefore({ dialect: 'sqlite', path }, folder, 1_000)
  writeFileSync(book, 'before\nsince\n')
  await putBack(path, copy!, folder, 2_000)
  expect(readFileSync(book, 'utf8')).toBe('before\n')
  expect(readFileSync(join(folder, 'audit.was-2000', 'checkpoints.jsonl'), 'utf8')).toBe('before\nsince\n')
})

test.each([
  [
    'another development version',
    "UPDATE __drizzle_migrations SET hash = 'another'",
    'was made by another development version',
  ],
  [
    'a newer release',
    "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', 9e12)",
    'Start the newer release',
  ],
])('status, plan, up and verify say of a database of %s what a start says', async (ownerFilter, change, text) => {
  const fresh = mkdtempSync(join(root, 'strange-'))
  const path = join(fresh, 'svc.db')
  const on = (...line: string[]) => cli([...line, '--data-dir', fresh], { clock: systemClock, open: openConnection })
  await migrate({ dialect: 'sqlite', path })
  const database = new Database(path)
  database.run(change)
  database.close()
  for (const word of ['status', 'plan', 'up']) {
    const { exitCode, stderr } = await on('migrate', word)
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(text) })
  }
  expect((await on('migrate', 'status', '--check', '-q')).exitCode).toBe(9)
  const verified = await on('migrate', 'verify')
  expect(verified.exitCode).toBe(9)
  expect(verified.stdout.toLowerCase()).toContain(`${ownerFilter} created`)
})

test('up --to applies the first ones and no more than there are, and takes none back', async () => {
  const fresh = join(root, 'steps')
  const on = (...line: string[]) => cli([...line, '--data-dir', fresh], { clock: systemClock, open: openConnection })
  const tooMany = await on('migrate', 'up', '--to', '9999')
  expect(tooMany).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--to is 9999; this release has') })
  expect((await on('migrate', 'up', '--to', '1')).exitCode).toBe(0)
  expect((await on('migrate', 'up', '--to', '1')).stderr).toContain('already has these migrations')
})

test('a database that stopped at one migration resumes there', async () => {
  const folders = join(root, 'migrations')
  mkdirSync(join(folders, 'sqlite', 'meta'), { recursive: true })
  const entries = ['a', 'b', 'c'].map((name, idx) => {
    const tag = `000${idx}_${name}`
    writeFileSync(join(folders, 'sqlite', `${tag}.sql`), `CREATE TABLE ${name} (id TEXT);`)
    return { idx, version: '6', when: 1_000 + idx, tag, breakpoints: true }
  })
  const journal = { version: '7', dialect: 'sqlite', entries }
  writeFileSync(join(folders, 'sqlite', 'meta', '_journal.json'), JSON.stringify(journal))
  const location = { dialect: 'sqlite', path: join(root, 'steps.db') } as const
  const tables = () => {
    const database = new Database(location.path, { readonly: true })
    const rows = database.query("SELECT name FROM sqlite_schema WHERE name IN ('a', 'b', 'c') ORDER BY name").all()
    database.close()
    return (rows as { name: string }[]).map(({ name }) => name).join('')
  }
  await migrate(location, 2, folders)
  expect(tables()).toBe('ab')
  await migrate(location, undefined, folders)
  expect(tables()).toBe('abc')
})
