import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bringUp } from '../../cli/commands/migrate'
import { assertAlone } from '../../src/app/single-server'
import { renewLease } from '../../src/cluster'
import { openPostgres } from '../../src/kernel/store'
import { restoreBackup } from '../../src/operators'
import { createMigratedDatabase, postgresUrl } from '../support/store'

if (!postgresUrl) process.stdout.write('NOT RUN: a database in use, because SVC_TEST_POSTGRES_URL is not set.\n')

describe.if(postgresUrl !== undefined)('a Postgres database in use', async () => {
  if (!postgresUrl) return
  const database = await createMigratedDatabase(postgresUrl)
  const store = openPostgres({ url: database.url, maxConnections: 1 })
  const folder = mkdtempSync(join(tmpdir(), 'svc-alone-'))
  afterAll(async () => {
    await store.close()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  })
  const location = { dialect: 'postgres', url: database.url } as const

  test('is not migrated while a node of another data folder has a lease', async () => {
    await bringUp(location, folder)
    await store.write((tx) => renewLease(tx, 'a', { home: 'elsewhere', roles: 'api', ownFiles: false }))
    await assertAlone(location, 'elsewhere')
    await expect(bringUp(location, folder)).rejects.toThrow('Other nodes are using this database. Stop them first')
  })

  test('takes no backup', async () => {
    const backup = {
      object: 'backup',
      file: 'svc.dump',
      bytes: 1,
      sha256: '',
      created: '2026-11-24T00:00:00Z',
    } as const
    const manifest = { ...backup, files: null, version: '1' } as Parameters<typeof restoreBackup>[1]
    const place = { database: location, filesDir: folder, aside: null }
    await expect(restoreBackup(folder, manifest, place)).rejects.toThrow('The database is not empty')
  })
})
