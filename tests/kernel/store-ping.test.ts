import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { openPostgres } from '../../src/kernel/store'
import { createMigratedDatabase, postgresUrl } from '../support/store'

if (!postgresUrl) process.stdout.write('NOT RUN: a busy pool is not away, because SVC_TEST_POSTGRES_URL is not set.\n')

test.if(postgresUrl !== undefined)('a database whose connections are all at work still answers a ping', async () => {
  const database = await createMigratedDatabase(postgresUrl!)
  const store = openPostgres({ url: database.url, maxConnections: 2 })
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const release = Promise.withResolvers<void>()
  const working = begun.map(({ resolve }) =>
    store.write(async (tx) => {
      await tx.select({ one: sql`1` }).from(sql`(select 1) as one`)
      resolve()
      await release.promise
    }),
  )
  await Promise.all(begun.map(({ promise }) => promise))
  expect(await store.ping()).toBeUndefined()
  release.resolve()
  await Promise.all(working)
  await store.close()
  await database.drop()
})
