import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTarget } from '../catalogue/support'
import { keepsItsPromises } from '../catalogue/support/oracle'
import { spawnServer } from '../catalogue/support/server'
import { createPostgresDatabase, postgresUrl } from '../support/store'
import { temporaryFolder } from '../support/temporary-folder'

const BACKUPS = 6
const CLIENTS = 6
const target = await startTarget()
const folders = temporaryFolder('svc-backups-')

/** What a backup gave back when it was restored: a running server on a folder or a database of its own. */
async function restore(file: string) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-restored-'))
  const env = { SVC_ENGINE_BASE_URL: target.upstream.url }
  cpSync(join(target.folder, 'secrets.json'), join(folder, 'secrets.json'))
  expect(statSync(file).mode & 0o777).toBe(0o600)
  if (!postgresUrl) {
    cpSync(file, join(folder, 'svc.db'))
    return spawnServer(env, folder)
  }
  const { url, drop } = await createPostgresDatabase(postgresUrl)
  afterAll(drop)
  const { exitCode, stderr } = Bun.spawnSync(['pg_restore', '--no-owner', '--dbname', url, file])
  if (exitCode !== 0) throw new Error(stderr.toString())
  return spawnServer({ ...env, SVC_DATABASE_URL: url }, folder)
}

/** The ledger as a SQLite file holds it, in the order of its making. */
function ledgerOf(file: string): string[] {
  const database = new Database(file, { readonly: true })
  try {
    const rows = database.query<{ entry: string }, []>(
      "SELECT ref || ' ' || kind || ' ' || account || ' ' || amount AS entry FROM ledger ORDER BY kind = 'settle', id",
    )
    return rows.all().map(({ entry }) => entry)
  } finally {
    database.close()
  }
}

async function backUpUnderLoad(): Promise<string[]> {
  let running = true
  const load = Array.from({ length: CLIENTS }, async (_, worker) => {
    for (let n = 0; running; n++) {
      await target.send('POST', 'completions', { body: { prompt: `load ${worker} ${n}`, mode: 'fast' } })
    }
  })
  const files: string[] = []
  for (let n = 0; n < BACKUPS; n++) {
    const { status, body, text } = await target.ops('POST', '/ops/v1/backups', { out: join(folders, `b${n}`) })
    if (status !== 200) throw new Error(text)
    files.push(join(body.path, body.file))
    // So that the next one has something more to hold.
    await target.send('POST', 'completions', { body: { prompt: `between ${n}`, mode: 'fast' } })
  }
  running = false
  await Promise.all(load)
  return files
}

test(`I44 ${BACKUPS} backups taken under load restore, verify, and hold a prefix of the ledger`, async () => {
  const files = await backUpUnderLoad()
  if (!postgresUrl) {
    const whole = ledgerOf(join(target.folder, 'svc.db'))
    const stored = files.map(ledgerOf)
    for (const entries of stored) expect(entries).toEqual(whole.slice(0, entries.length))
    expect(stored.at(-1)!.length).toBeGreaterThan(stored[0]!.length)
  }
  for (const file of [files[0]!, files.at(-1)!]) {
    const restored = await restore(file)
    expect((await restored.ops('POST', '/ops/v1/verify')).body.ok).toBe(true)
    const response = await fetch(`${restored.url}/api/v1/models`, {
      headers: { authorization: `Bearer ${target.people.secrets.k1}` },
    })
    expect(response.status).toBe(200)
    await restored.kill()
  }
}, 180_000)

keepsItsPromises(target)
