import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { openConnection } from '../../cli/open'
import { lockDataDir } from '../../src/app/lock'
import { systemClock } from '../../src/kernel/clock'
import { copyDatabase, type DatabaseLocation, schemaOf, wipe } from '../../src/kernel/store'
import { run } from '../releases/make'
import { cli, fakeIo } from '../support/io'
import { devKeyOf, startServerProcess } from '../support/server-process'
import { createPostgresDatabase, postgresUrl } from '../support/store'
import { temporaryFolder } from '../support/temporary-folder'

const root = temporaryFolder('svc-copy-')
const data = join(root, 'data')
const fixtures = join(import.meta.dir, '../releases/fixtures')
const [newest] = readdirSync(fixtures)
  .filter((name) => name.endsWith('.sqlite.tgz'))
  .sort()
  .reverse()
run(root, ['tar', '-xzf', join(fixtures, newest!)])

/** Runs a command; settings that are no flags are read from the environment of the process. */
async function admin(line: string[], dataDir = data, env: Record<string, string> = {}, stdin = '') {
  Object.assign(process.env, env)
  try {
    const io = fakeIo({ stdin })
    return await cli([...line, '--data-dir', dataDir], { clock: systemClock, open: openConnection, io })
  } finally {
    for (const name of Object.keys(env)) delete process.env[name]
  }
}
await admin(['migrate', 'up'])
let made = 0

type Target = { to: string; location: DatabaseLocation; dataDir: string; env: Record<string, string> }

/** An empty target of this run's kind, with a data folder that has the secrets of the source. */
async function emptyTarget(): Promise<Target> {
  const dataDir = join(root, `target-${++made}`)
  mkdirSync(dataDir, { mode: 0o700 })
  for (const one of ['secrets.json', 'audit', 'files', 'dev-key'])
    cpSync(join(data, one), join(dataDir, one), { recursive: true })
  if (!postgresUrl)
    return { to: dataDir, location: { dialect: 'sqlite', path: join(dataDir, 'svc.db') }, dataDir, env: {} }
  const { url, drop } = await createPostgresDatabase(postgresUrl)
  afterAll(drop)
  return { to: url, location: { dialect: 'postgres', url }, dataDir, env: { SVC_DATABASE_URL: url } }
}

async function statement({ location }: Target, text: string): Promise<void> {
  if (location.dialect === 'sqlite') {
    const database = new Database(location.path)
    database.run(text)
    database.close()
    return
  }
  const client = new SQL(location.url, { max: 1 })
  await client.unsafe(text)
  await client.close()
}

test('all rows go there and come back, the copy verifies, and a server goes on with it', async () => {
  const target = await emptyTarget()
  const there = await admin(['migrate', 'copy', '--to', '-', '--json'], data, {}, `${target.to}\n`)
  expect(there).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('are the same on both, and the audit chain is valid'),
  })
  const tables: { table: string; rows: number }[] = JSON.parse(there.stdout)
  expect(tables.length).toBeGreaterThan(40)
  const back = await admin(['migrate', 'copy', '--to', join(root, 'back'), '--json'], target.dataDir, target.env)
  expect(back.exitCode).toBe(0)
  expect(JSON.parse(back.stdout)).toEqual(tables)
  expect(statSync(join(root, 'back', 'svc.db')).mode & 0o777).toBe(0o600)
  const server = await startServerProcess({ dataDir: target.dataDir, env: target.env })
  const response = await fetch(`${server.url}/api/v1/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${devKeyOf(data)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'What is 6 times 7?', mode: 'fast' }),
  })
  expect(response.status).toBe(200)
  expect(await server.stop()).toBe(0)
  expect((await admin(['verify'], target.dataDir, target.env)).exitCode).toBe(0)
}, 180_000)

test('what Postgres cannot store is left out, and said', async () => {
  const odd = join(root, 'odd')
  cpSync(data, odd, { recursive: true })
  const database = new Database(join(odd, 'svc.db'))
  database.run("UPDATE memories SET content = 'a' || char(0) || 'b'")
  database.run(`UPDATE workflows SET trigger_config = '{"half":"\\ud800","of":1}'`)
  database.close()
  const { exitCode, stdout } = await admin(['migrate', 'copy', '--to', (await emptyTarget()).to, '--json'], odd)
  expect(exitCode).toBe(0)
  const changed = (JSON.parse(stdout) as { table: string; changed: number }[])
    .filter((one) => one.changed)
    .toSorted((a, b) => a.table.localeCompare(b.table))
  const one = (table: string) => expect.objectContaining({ table, changed: 1 })
  expect(changed).toEqual(postgresUrl ? [one('memories'), one('workflows')] : [])
}, 180_000)

test('nothing is done without a place, to a database with rows, beside a server, or from another release', async () => {
  const target = await emptyTarget()
  expect((await admin(['migrate', 'copy'])).exitCode).toBe(2)
  expect((await admin(['migrate', 'copy', '--to', 'mysql://here'])).exitCode).toBe(2)
  expect((await admin(['migrate', 'copy', '--to', target.to], join(root, 'nowhere'))).exitCode).toBe(3)
  const dry = await admin(['migrate', 'copy', '--to', target.to, '--dry-run', '--exit-code'])
  expect(dry.exitCode).toBe(10)
  expect(dry.stderr).toContain('would copy')
  expect(dry.stderr).not.toContain('postgres@')

  const lock = lockDataDir(data)
  const beside = await admin(['migrate', 'copy', '--to', target.to])
  expect(beside).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Another server') })
  lock.release()

  await statement(target, 'CREATE TABLE of_others (id text)')
  const taken = await admin(['migrate', 'copy', '--to', target.to])
  expect(taken).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('The target is not empty') })

  const older = join(root, 'older')
  cpSync(data, older, { recursive: true })
  const database = new Database(join(older, 'svc.db'))
  database.run('DELETE FROM __drizzle_migrations WHERE created_at = (SELECT max(created_at) FROM __drizzle_migrations)')
  database.close()
  const behind = await admin(['migrate', 'copy', '--to', (await emptyTarget()).to], older)
  expect(behind).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('The source is not at this release') })
}, 180_000)

test('an interrupted copy leaves a database that cannot start, and can be repeated', async () => {
  const target = await emptyTarget()
  const { location, dataDir, env } = target
  const source = { dialect: 'sqlite', path: join(data, 'svc.db') } as const
  const crash = copyDatabase(source, location, {
    verify: async () => [],
    onProgress: (table) => {
      if (table === 'conversations') throw new Error('cut off')
    },
  })
  await expect(crash).rejects.toThrow('cut off')
  expect(await schemaOf(location)).toMatchObject({ unfinished: true })
  for (const words of [['verify'], ['migrate', 'up'], ['migrate', 'status']]) {
    const { exitCode, stderr } = await admin(words, dataDir, env)
    expect(exitCode).toBe(1)
    expect(stderr).toContain('did not finish, so the data is incomplete')
  }
  const verified = await admin(['migrate', 'verify'], dataDir, env)
  expect(verified).toMatchObject({ exitCode: 9, stdout: expect.stringContaining('did not finish') })

  const over = copyDatabase(source, location, { verify: async () => [], onProgress: () => undefined })
  await expect(over).rejects.toThrow()
  await wipe(location)
  const tampered = copyDatabase(source, location, {
    verify: async () => ['audit: no'],
    onProgress: (table, _, step) => {
      // The table that is compared last is still to come.
      if (table === 'audit_events' && step === 'compared' && location.dialect === 'sqlite')
        void statement(target, "UPDATE workflows SET name = 'Another'")
    },
  })
  await expect(tampered).rejects.toThrow(
    postgresUrl ? 'audit: no' : 'The rows of workflows differ from the source. audit: no',
  )
  expect(await schemaOf(location)).toMatchObject({ unfinished: true })

  expect((await admin(['migrate', 'copy', '--to', target.to])).exitCode).toBe(0)
  expect(await schemaOf(location)).toMatchObject({ unfinished: false, strange: false })
  expect((await admin(['verify'], dataDir, env)).exitCode).toBe(0)
}, 180_000)

test('a backup is a source, too, while its server runs', async () => {
  const backup = join(root, 'backup')
  expect((await admin(['backup', 'create', '--out', backup])).exitCode).toBe(0)
  const lock = lockDataDir(data)
  const target = await emptyTarget()
  const { exitCode, stderr } = await admin(['migrate', 'copy', '--from', backup, '--to', target.to])
  lock.release()
  expect(exitCode).toBe(0)
  expect(stderr).toContain('backup restore FOLDER --only files')
  expect((await admin(['verify'], target.dataDir, target.env)).exitCode).toBe(0)
  expect((await admin(['migrate', 'copy', '--from', root, '--to', target.to])).exitCode).toBe(9)
  expect(existsSync(join(backup, 'svc.db-wal'))).toBe(false)
}, 180_000)
