import { afterAll, expect, test } from 'bun:test'
import { loadConfig } from '../../src/app/config'
import { openApp } from '../../src/app/open'
import { renewLease } from '../../src/cluster'
import { nodes } from '../../src/cluster/table'
import { createLog } from '../../src/kernel/log'
import { knownMigrations, migrate, openPostgres, removedAfter, schemaOf } from '../../src/kernel/store'
import { createPostgresDatabase, postgresUrl } from '../support/store'
import { temporaryFolder } from '../support/temporary-folder'

if (!postgresUrl) process.stdout.write('NOT RUN: a release beside the one before, without SVC_TEST_POSTGRES_URL.\n')

/** The migrations before the one that removes the table `response_items`. */
const BEFORE = 20

test('what migrations remove is found, and those that only add remove nothing', () => {
  expect(removedAfter(BEFORE)).toContain('response_items')
  expect(removedAfter(knownMigrations('postgres'))).toEqual([])
})

test.skipIf(!postgresUrl)(
  'a release that removes a table does not start beside nodes that use it',
  async () => {
    const { url, drop } = await createPostgresDatabase(postgresUrl!)
    const location = { dialect: 'postgres', url } as const
    await migrate(location, BEFORE)
    const store = openPostgres({ url })
    afterAll(async () => {
      await store.close()
      await drop()
    })
    const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
    const dataDir = temporaryFolder('svc-upgrade-')
    const open = () => openApp({ config: loadConfig({ dataDir, databaseUrl: url, port: 0, production: false }), log })
    await store.write((tx) => renewLease(tx, 'old', { home: 'other', roles: 'api', ownFiles: false }))
    await expect(open()).rejects.toThrow('This release removes what they use: response_items')
    expect((await schemaOf(location)).applied).toBe(BEFORE)
    // The old node has stopped.
    await store.write((tx) => tx.delete(tx.of(nodes)))
    await (await open()).close()
    expect((await schemaOf(location)).applied).toBe(knownMigrations('postgres'))
  },
  60_000,
)
