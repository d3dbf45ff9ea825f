import { describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { sql } from 'drizzle-orm'
import { openPostgres, type Reader, riskySettings } from '../../src/kernel/store'
import { createMigratedDatabase, postgresUrl } from '../support/store'
import { byId, insert, openScratch, take } from './scratch'

if (!postgresUrl) process.stdout.write('NOT RUN: a store on Postgres, because SVC_TEST_POSTGRES_URL is not set.\n')

const failure = (errno: string) => Object.assign(new Error(errno), { code: 'ERR_POSTGRES_SERVER_ERROR', errno })
const attempts = (errors: (Error | null)[]) => {
  let tried = 0
  return {
    tried: () => tried,
    next: async () => {
      const error = errors[tried++]
      if (error) throw error
    },
  }
}

describe.skipIf(!postgresUrl)('a unit of work on Postgres', () => {
  test.each(['40001', '40P01'])('that loses a conflict (%s) is tried four times in all', async (errno) => {
    const store = await openScratch()
    const lost = failure(errno)
    const lucky = attempts([lost, lost, lost, null])
    let notice = 0
    await store.write(async (tx) => {
      tx.afterCommit(() => {
        notice += 1
      })
      await insert(tx, { id: `lucky-${lucky.tried()}`, amount: 1 })
      await lucky.next()
    })
    expect({ tried: lucky.tried(), notice }).toEqual({ tried: 4, notice: 1 })
    const found = await Promise.all([0, 1, 2, 3].map((tried) => byId(store.read, { id: `lucky-${tried}` })))
    expect(found.map((rows) => rows.length)).toEqual([0, 0, 0, 1])
    const unlucky = attempts([lost, lost, lost, lost, null])
    await expect(store.write(unlucky.next)).rejects.toBe(lost)
    expect(unlucky.tried()).toBe(4)
  })

  test('that fails for another reason is not tried again', async () => {
    const store = await openScratch()
    const broken = attempts([failure('23514'), null])
    await expect(store.write(broken.next)).rejects.toThrow('23514')
    expect(broken.tried()).toBe(1)
    expect(store.failing()).toBe(false)
  })

  test('that finds the disk full says so until something is kept, and one that finds it away does not', async () => {
    const store = await openScratch()
    await expect(store.write(attempts([failure('57P01')]).next)).rejects.toMatchObject({ retryAfterS: 2 })
    expect(store.failing()).toBe(false)
    await expect(store.write(attempts([failure('53100')]).next)).rejects.toMatchObject({
      code: 'storage_unavailable',
      retryAfterS: 30,
    })
    expect(store.failing()).toBe(true)
    await store.write((tx) => insert(tx, { id: 'kept', amount: 1 }))
    expect(store.failing()).toBe(false)
  })

  test('is refused where the server takes no writes', async () => {
    expect(await (await openScratch()).confirm()).toBeUndefined()
    const url = new URL(postgresUrl!)
    const admin = new SQL(url.href, { max: 1 })
    await admin.unsafe(`DROP ROLE IF EXISTS svc_reader_${process.pid}`)
    await admin.unsafe(`CREATE ROLE svc_reader_${process.pid} LOGIN SUPERUSER`)
    await admin.unsafe(`ALTER ROLE svc_reader_${process.pid} SET default_transaction_read_only = on`)
    url.username = `svc_reader_${process.pid}`
    const standby = openPostgres({ url: url.href })
    const refused = { code: 'storage_unavailable', retryAfterS: 2 }
    await expect(standby.confirm()).rejects.toMatchObject(refused)
    expect(await standby.ping()).toBeUndefined()
    await standby.close()
    await admin.unsafe(`DROP ROLE svc_reader_${process.pid}`)
    await admin.close()
    const away = openPostgres({ url: 'postgres://nobody@127.0.0.1:1/none' })
    await expect(away.confirm()).rejects.toMatchObject(refused)
    await expect(away.ping()).rejects.toThrow()
    await away.close()
  })

  test('may take its time while the server works on it, and does not wait for a lock for ever', async () => {
    const store = await openScratch()
    const slept = (seconds: number) => sql<string>`pg_sleep(${seconds})::text`
    expect(await store.read.select({ slept: slept(2) }).from(sql`(select 1) as one`)).toEqual([{ slept: '' }])
    await store.write((tx) => insert(tx, { id: 'held', amount: 2 }))
    const release = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const holding = store.write(async (tx) => {
      await take(tx, { id: 'held', by: 0 })
      begun.resolve()
      await release.promise
    })
    await begun.promise
    const waiting = store.write((tx) => take(tx, { id: 'held', by: 0 }))
    await expect(waiting).rejects.toMatchObject({ code: 'storage_unavailable', retryAfterS: 2 })
    release.resolve()
    await holding
    expect(await byId(store.read, { id: 'held' })).toMatchObject([{ amount: 2 }])
  })

  test('is retried where its connection was lost before, if it only reads', async () => {
    const database = await createMigratedDatabase(postgresUrl!)
    const store = openPostgres({ url: database.url, maxConnections: 4 })
    const admin = new SQL(postgresUrl!, { max: 1 })
    const name = new URL(database.url).pathname.slice(1)
    const cut = () => admin`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = ${name} AND application_name LIKE 'svc %' AND application_name NOT LIKE '% watch'`
    const one = (reader: Reader, what = sql<number>`1`) => reader.select({ one: what }).from(sql`(select 1) as one`)
    const all = () => Array.from({ length: 8 }, (_, at) => (at % 2 ? one(store.read) : store.write((tx) => one(tx))))
    for (let round = 0; round < 5; round++) {
      await Promise.all(all())
      const under = one(store.read, sql<number>`pg_sleep(0.2)::text`)
      const ended = cut()
      expect(await Promise.all([...all(), under])).toHaveLength(9)
      await ended
    }
    await store.close()
    await admin.close()
    await database.drop()
  })

  test('may be lost where the server is set so, which is told', async () => {
    const database = await createMigratedDatabase(postgresUrl!)
    const admin = new SQL(postgresUrl!, { max: 1 })
    const set = (value: string) =>
      admin.unsafe(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET synchronous_commit = ${value}`)
    const risks = async () => {
      const store = openPostgres({ url: database.url, maxConnections: 1 })
      const found = await riskySettings(store.read)
      await store.close()
      return found.filter((one) => one.startsWith('synchronous_commit'))
    }
    await set('on')
    expect(await risks()).toEqual([])
    await set('off')
    expect(await risks()).toEqual(['synchronous_commit=off'])
    await admin.close()
    await database.drop()
  })

  test('is backed up and checked by tools of its own', async () => {
    const store = await openScratch()
    expect(await store.integrity()).toEqual([])
    await expect(store.backup('somewhere')).rejects.toThrow('pg_dump')
  })
})

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
