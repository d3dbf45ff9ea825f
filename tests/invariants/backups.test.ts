import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTarget } from '../catalogue/support'
import { keepsItsPromises } from '../catalogue/support/oracle'
import { spawnServer } from '../catalogue/support/server'
import { postgresUrl } from '../support/store'

const BACKUPS = 8
const target = await startTarget()

type Entry = { id: string }

/** The ledger as a backup holds it, in the order of its making. */
const ledgerOf = (file: string): Entry[] => {
  const database = new Database(file, { readonly: true })
  try {
    return database.query<Entry, []>('SELECT ref || kind || account AS id FROM ledger_entries ORDER BY rowid').all()
  } finally {
    database.close()
  }
}

// A Postgres server has pg_dump for this; what the operator plane writes there is tested with the operators.
test.if(!postgresUrl)(
  `I44 ${BACKUPS} backups taken under load restore, verify, and hold a prefix of the ledger`,
  async () => {
    let running = true
    const load = Array.from({ length: 16 }, async (_, worker) => {
      for (let n = 0; running; n++) {
        await target.send('POST', 'completions', { body: { prompt: `load ${worker} ${n}`, mode: 'fast' } })
      }
    })
    const folders = mkdtempSync(join(tmpdir(), 'svc-backups-'))
    const files: string[] = []
    for (let n = 0; n < BACKUPS; n++) {
      const { status, body, text } = await target.ops('POST', '/ops/v1/backups', { out: join(folders, `b${n}`) })
      expect({ status, text: status === 200 ? '' : text }).toEqual({ status: 200, text: '' })
      files.push(join(body.path, 'svc.db'))
      await Bun.sleep(50)
    }
    running = false
    await Promise.all(load)

    const whole = ledgerOf(join(target.folder, 'svc.db')).map(({ id }) => id)
    const lengths = files.map((file) => {
      const kept = ledgerOf(file).map(({ id }) => id)
      expect(kept).toEqual(whole.slice(0, kept.length))
      return kept.length
    })
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b))
    expect(lengths.at(-1)!).toBeGreaterThan(lengths[0]!)

    for (const file of [files[0]!, files.at(-1)!]) {
      const folder = mkdtempSync(join(tmpdir(), 'svc-restored-'))
      cpSync(file, join(folder, 'svc.db'))
      const restored = await spawnServer({ SVC_ENGINE_BASE_URL: target.upstream.url }, folder)
      expect((await restored.ops('POST', '/ops/v1/verify')).body.ok).toBe(true)
      const response = await fetch(`${restored.url}/api/v1/models`, {
        headers: { authorization: `Bearer ${target.people.secrets.k1}` },
      })
      expect(response.status).toBe(200)
      await restored.kill()
    }
    rmSync(folders, { recursive: true })
  },
  60_000,
)

keepsItsPromises(target)
