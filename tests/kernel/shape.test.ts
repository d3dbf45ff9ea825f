import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DatabaseLocation, lackingIn, migrate, schemaOf, wipe } from '../../src/kernel/store'
import { createPostgresDatabase, postgresUrl } from '../support/store'

async function emptyLocation(): Promise<DatabaseLocation> {
  if (postgresUrl) {
    const { url, drop } = await createPostgresDatabase(postgresUrl)
    afterAll(drop)
    return { dialect: 'postgres', url }
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-shape-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return { dialect: 'sqlite', path: join(folder, 'svc.db') }
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
