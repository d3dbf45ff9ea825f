import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { appendFileSync, cpSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { loadConfig } from '../../src/app/config'
import { openApp } from '../../src/app/open'
import { ledgerEntries, wallets } from '../../src/billing/table'
import { imageSize } from '../../src/files'
import { sha256Hex } from '../../src/kernel/crypto'
import { createLog } from '../../src/kernel/log'
import { cliOver } from '../support/cli'
import { fakeIo } from '../support/io'
import { cleanEnv } from '../support/server-process'
import { createPostgresDatabase, postgresUrl } from '../support/store'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const ada = await world.person({ ofOrg: true })

describe('status', () => {
  test('says what runs, where, how well, and which way it was reached', async () => {
    const { exitCode, stdout } = await run('status')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^health +healthy$/m)
    expect(stdout).toMatch(/^transport +socket$/m)
    expect(stdout).toMatch(/^migrations +(\d+) of \1$/m)
  })

  test('--check -q is silent and exits 0 when healthy', async () => {
    expect(await run('status --check -q')).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  })

  test('-v says the request id of each exchange', async () => {
    expect((await run('status -v -o none')).stderr).toMatch(/^request req_[0-9A-Za-z]{24} {2}\d+ ms$/m)
  })
})

describe('try', () => {
  test('prints the answer on stdout, and on stderr the cost and the same call as curl, without the key', async () => {
    const { exitCode, stdout, stderr } = await run(['try', 'Say hello'], { key: ada.key })
    expect({ exitCode, lines: stdout.trim().length > 0 }).toEqual({ exitCode: 0, lines: true })
    expect(stderr).toMatch(/^model svc-1-flash .* mode auto → fast {2}0\.00¢ {2}\d+ tokens/m)
    expect(stderr).toContain(`    -H "Authorization: Bearer $SVC_API_KEY" \\`)
    expect(stderr).toContain(`    -d '{"prompt":"Say hello"}'`)
    expect(stdout + stderr).not.toContain(ada.key)
  })

  test('points out an answer from the cache', async () => {
    await run(['try', 'Say it twice'], { key: ada.key })
    expect((await run(['try', 'Say it twice'], { key: ada.key })).stderr).toContain('served from cache, free')
  })

  test('prints the completion as the API gave it in JSON', async () => {
    const { stdout } = await run(['try', 'Say hello', '--mode', 'think', '--json'], { key: ada.key })
    expect(JSON.parse(stdout)).toMatchObject({ object: 'completion', mode: 'think' })
  })

  test('prints a stream as it comes, whole in the end', async () => {
    const plain = await run(['try', 'Count to five'], { key: ada.key })
    const streamed = await run(['try', 'Count to five', '--stream'], { key: ada.key })
    expect(streamed).toMatchObject({ exitCode: 0, stdout: plain.stdout })
    const lines = (await run(['try', 'Count to five', '--stream', '-o', 'jsonl'], { key: ada.key })).stdout.trim()
    const events = lines.split('\n').map((line) => JSON.parse(line).event)
    expect({ first: events[0], last: events.at(-1) }).toEqual({ first: 'meta', last: 'done' })
  })

  test.each([
    ['no prompt', ['try'], 2],
    ['a prompt and a file', ['try', 'a', '-f', 'b'], 2],
    ['a mode that is none', ['try', 'a', '--mode', 'turbo'], 2],
  ])('is refused with %s', async (_why, line, exitCode) => {
    expect(await run(line, { key: ada.key })).toMatchObject({ exitCode, stdout: '' })
  })

  test('reads the prompt from stdin with -f -', async () => {
    expect((await run('try -f -', { key: ada.key, io: fakeIo({ stdin: 'Say hello' }) })).exitCode).toBe(0)
  })

  test('exits 6 with the cure when there is no credit', async () => {
    const { exitCode, stderr } = await run('try hello', { key: (await world.person({ cents: 0 })).key })
    expect(exitCode).toBe(6)
    expect(stderr).toContain('fix:   svc-admin credits grant')
  })
})

describe('backup create', () => {
  test('writes a copy with its hash, for its owner only, and never over another', async () => {
    const out = join(world.folder, 'monday')
    const { exitCode, stdout } = await run(`backup create --out ${out} --json`)
    expect(exitCode).toBe(0)
    const made = JSON.parse(stdout)
    const copy = readFileSync(join(out, made.file))
    expect(made).toMatchObject({ path: out, bytes: copy.length, sha256: sha256Hex(copy) })
    expect(statSync(out).mode & 0o777).toBe(0o700)
    expect(JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'))).toMatchObject({ sha256: made.sha256 })
    expect(await run(`backup create --out ${out}`)).toMatchObject({ exitCode: 5, stdout: '' })
    expect(existsSync(`${out}.partial`)).toBe(false)
  })

  test('is a database that is sound by itself', async () => {
    const out = join(world.folder, 'tuesday')
    await run(`backup create --out ${out}`)
    expect(postgresUrl ? dumpHeader(join(out, 'svc.dump')) : integrityOf(join(out, 'svc.db'))).toBe(
      postgresUrl ? 'PGDMP' : 'ok',
    )
  })
})

describe('backup verify and restore', () => {
  const linesOf = (text: string) => JSON.parse(text)
  /** As a process of its own, which reads the configuration of its environment. */
  const hostRun = (env: Record<string, string>, ...line: string[]) => {
    const child = Bun.spawnSync([process.execPath, join(import.meta.dir, '../../cli/main.ts'), ...line], {
      cwd: world.folder,
      env: cleanEnv(env),
    })
    return { exitCode: child.exitCode, stdout: child.stdout.toString(), stderr: child.stderr.toString() }
  }

  test('bring back a file that opens, into an empty place and nowhere else', async () => {
    const ada = await world.person()
    const { body: picture } = await ada.send('POST', 'images', { prompt: 'a kite', aspect_ratio: '1:1' })
    const out = join(world.folder, 'wednesday')
    expect(linesOf((await run(`backup create --out ${out} --json`)).stdout).files.count).toBeGreaterThan(0)
    const found = await run(`backup verify ${out} --json`)
    expect(found.exitCode).toBe(0)
    expect(linesOf(found.stdout)).toEqual(expect.objectContaining({ ok: true, problems: [] }))

    const database = postgresUrl ? await createPostgresDatabase(postgresUrl) : null
    const place = join(world.folder, 'restored')
    const env = { SVC_DATA_DIR: place, ...(database ? { SVC_DATABASE_URL: database.url } : {}) }
    expect(hostRun(env, 'backup', 'restore', out, '--json')).toMatchObject({ exitCode: 0 })
    const again = hostRun(env, 'backup', 'restore', out)
    expect(again.exitCode).toBe(5)
    expect(again.stderr).toContain('nothing is overwritten')

    cpSync(join(world.folder, 'secrets.json'), join(place, 'secrets.json'))
    const config = loadConfig({ dataDir: place, ...(database ? { databaseUrl: database.url } : {}) })
    const app = await openApp({ config, log: createLog({ level: 'error', pretty: false, write: () => undefined }) })
    try {
      const get = (path: string) =>
        app.api.handle(new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${ada.key}` } }))
      const artifact = (await (await get(`/api/v1/artifacts/${picture.images[0].artifact_id}`)).json()) as {
        url: string
      }
      const { pathname, search } = new URL(artifact.url)
      expect(imageSize(new Uint8Array(await (await get(pathname + search)).arrayBuffer()))?.format).toBe('PNG')
    } finally {
      await app.close()
      await database?.drop()
    }
  }, 60_000)

  test('say what is wrong with one that is not whole, and restore nothing of it', async () => {
    await (await world.person()).send('POST', 'images', { prompt: 'a boat' })
    const out = join(world.folder, 'thursday')
    await run(`backup create --out ${out}`)
    const [line = ''] = readFileSync(join(out, 'files.sha256'), 'utf8').split('\n')
    appendFileSync(join(out, line.slice(66)), 'x')
    const found = await run(`backup verify ${out} --json`)
    expect(found.exitCode).toBe(9)
    expect(linesOf(found.stdout).problems).toEqual([`${line.slice(66)} was changed after it was written.`])
    const place = join(world.folder, 'nothing')
    expect(hostRun({ SVC_DATA_DIR: place }, 'backup', 'restore', out).exitCode).toBe(9)
    expect(existsSync(join(place, 'svc.db'))).toBe(false)
    expect((await run(`backup verify ${world.folder}`)).exitCode).toBe(9)
  })
})

const dumpHeader = (path: string): string => readFileSync(path).subarray(0, 5).toString()

function integrityOf(path: string): string {
  const copy = new Database(path, { readonly: true })
  const { integrity_check } = copy.query('PRAGMA integrity_check').get() as { integrity_check: string }
  copy.close()
  return integrity_check
}

describe('verify', () => {
  test('exits 0 and lists what holds', async () => {
    const { exitCode, stdout } = await run('verify')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^audit chain +yes +- /m)
  })

  test('exits 9 and names what is broken when money appears from nowhere', async () => {
    const table = world.app.store.read.of(wallets)
    await world.app.store.write(async (tx) => {
      await tx.update(tx.of(wallets)).set({ balance: sql`${table.balance} + 1` })
    })
    const { exitCode, stdout, stderr } = await run('verify --json')
    expect(exitCode).toBe(9)
    const ledger = JSON.parse(stdout).find(({ check }: { check: string }) => check === 'ledger and holds')
    expect(ledger.violations.length).toBeGreaterThan(0)
    expect(stderr).toContain('broken: ledger and holds: ')
  })

  test('cannot be talked into it: the ledger takes no change', async () => {
    const change = world.app.store.write(async (tx) => {
      await tx.update(tx.of(ledgerEntries)).set({ amount: 0 })
    })
    expect(change).rejects.toThrow()
  })
})
