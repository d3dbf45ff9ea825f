import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { migrate, openSqlite, type Tx } from '../../src/kernel/store'
import { createCommitter, createStorageHealth } from '../../src/kernel/store/sqlite'
import { ownTime } from '../support/effort'
import { byId, idsIn, insert, openScratchFile } from './scratch'

const many = (count: number, name: string) => Array.from({ length: count }, (_, place) => `${name}-${place}`)

describe('group commit', () => {
  test('units of one turn are durable together before the first of them is answered', async () => {
    const { store, path } = openScratchFile()
    const other = new Database(path, { readonly: true })
    const seen = () => (other.query('SELECT count(*) AS n FROM things').get() as { n: number }).n
    const counts: number[] = []
    await Promise.all(
      many(100, 'a').map((id) => store.write((tx) => insert(tx, { id, amount: 1 })).then(() => counts.push(seen()))),
    )
    expect(counts).toEqual(Array(100).fill(100))
    other.close()
  })

  test('keeps a write-ahead log, so that readers never wait, and so does a file that was just migrated', async () => {
    const { path } = openScratchFile()
    const fresh = `${path}-migrated`
    await migrate({ dialect: 'sqlite', path: fresh })
    for (const each of [path, fresh]) {
      const raw = new Database(each)
      expect(raw.query('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
      raw.close()
    }
  })

  test('waits for the disk before it answers: the writer is synchronous (I4)', async () => {
    const { store } = openScratchFile()
    const FULL = 2
    const [found] = await store.write((tx) =>
      tx.select({ synchronous: sql<number>`synchronous` }).from(sql`pragma_synchronous`),
    )
    expect(found).toEqual({ synchronous: FULL })
  })

  test('never waits inside SQLite, to read or to write: that would block the event loop (I28)', async () => {
    const { store } = openScratchFile()
    const waits = (of: Pick<Tx, 'select'>) => of.select({ ms: sql<number>`timeout` }).from(sql`pragma_busy_timeout`)
    expect(await waits(store.read)).toEqual([{ ms: 0 }])
    expect(await store.write((tx) => waits(tx))).toEqual([{ ms: 0 }])
  })

  test('tells how many units each commit had', async () => {
    const batches: number[] = []
    const { store } = openScratchFile({ onBatch: (units) => batches.push(units) })
    await Promise.all(many(7, 'a').map((id) => store.write((tx) => insert(tx, { id, amount: 1 }))))
    await store.write((tx) => insert(tx, { id: 'alone', amount: 1 }))
    expect(batches).toEqual([7, 1])
  })

  test('lets the event loop run other work between two batches', async () => {
    const { store } = openScratchFile()
    let turns = 0
    let going = true
    const count = () => {
      turns++
      if (going) setImmediate(count)
    }
    setImmediate(count)
    const chain = async (name: string) => {
      for (const id of many(50, name)) await store.write((tx) => insert(tx, { id, amount: 1 }))
    }
    await Promise.all([chain('a'), chain('b')])
    going = false
    expect(turns).toBeGreaterThanOrEqual(49)
  })
})

describe('a unit that awaits anything but the store', () => {
  test.each([
    ['a timer', () => new Promise((resolve) => setTimeout(resolve, 1))],
    ['the network or a file', () => Bun.file(import.meta.path).text()],
    ['the next turn of the event loop', () => new Promise((resolve) => setImmediate(resolve))],
  ])('such as %s is detected and rolled back', async (_what, foreign) => {
    const { store } = openScratchFile()
    const slow = store.write(async (tx) => {
      await insert(tx, { id: 'slow', amount: 1 })
      await foreign()
    })
    const fast = store.write((tx) => insert(tx, { id: 'fast', amount: 1 }))
    await expect(slow).rejects.toThrow('awaited something other than the store')
    await fast
    expect(await idsIn(store)).toEqual(['fast'])
  })

  test('is not confused with one that awaits the store many times', async () => {
    const { store } = openScratchFile()
    await store.write(async (tx) => {
      for (const id of many(500, 'a')) await insert(tx, { id, amount: 1 })
    })
    expect(await idsIn(store)).toHaveLength(500)
  })
})

test('statements are prepared once per connection, however many units of work use them', async () => {
  const { store } = openScratchFile()
  const caches = new Set<unknown>()
  for (const id of many(20, 'a')) {
    await store.write(async (tx) => {
      await insert(tx, { id, amount: 1 })
      caches.add(tx.prepared)
      expect((tx.prepared as Map<object, unknown>).size).toBe(1)
    })
    await byId(store.read, { id })
    expect((store.read.prepared as Map<object, unknown>).size).toBe(1)
  }
  expect(caches.size).toBe(1)
})

describe('a file that another program holds', () => {
  test('is waited for on opening: a program that closes it locks it for a moment', async () => {
    const { path } = openScratchFile()
    const fresh = `${path}-fresh`
    const holder = new Worker(new URL('./holder.worker.ts', import.meta.url).href)
    await new Promise((resolve) => {
      holder.onmessage = resolve
      holder.postMessage({ path: fresh, ms: 300 })
    })
    const store = openSqlite({ path: fresh, onDiskFailure: () => undefined })
    await store.ping()
    await store.close()
    holder.terminate()
  })

  test('is waited for, and the event loop goes on meanwhile', async () => {
    const { store, path } = openScratchFile()
    const other = new Database(path)
    other.run('BEGIN IMMEDIATE')
    const writing = store.write((tx) => insert(tx, { id: 'late', amount: 1 }))
    const ticks: number[] = []
    for (let tick = 0; tick < 5; tick++) await new Promise((resolve) => setTimeout(() => resolve(ticks.push(tick)), 10))
    expect(ticks).toHaveLength(5)
    other.run('COMMIT')
    await writing
    expect(await idsIn(store)).toEqual(['late'])
    other.close()
  })

  test('for too long is 503 storage_unavailable for everyone who waited, and the store recovers', async () => {
    const { store, path } = openScratchFile({ busyPatienceMs: 60 })
    const other = new Database(path)
    other.run('BEGIN IMMEDIATE')
    const writes = many(3, 'a').map((id) => store.write((tx) => insert(tx, { id, amount: 1 })))
    for (const result of await Promise.allSettled(writes)) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { kind: 'unavailable', code: 'storage_unavailable', retryAfterS: 1 },
      })
    }
    expect(store.failing()).toBe(true)
    await expect(store.confirm()).rejects.toMatchObject({ code: 'storage_unavailable' })
    other.run('ROLLBACK')
    await store.write((tx) => insert(tx, { id: 'after', amount: 1 }))
    expect(store.failing()).toBe(false)
    expect(await idsIn(store)).toEqual(['after'])
    other.close()
  })

  test('makes nobody wait for longer than their own patience, however many come meanwhile', async () => {
    const { store, path } = openScratchFile({ busyPatienceMs: 300 })
    const other = new Database(path)
    other.run('BEGIN IMMEDIATE')
    const waits: Promise<number>[] = []
    for (const id of many(10, 'a')) {
      const startedAt = ownTime()
      waits.push(
        store
          .write((tx) => insert(tx, { id, amount: 1 }))
          .then(
            () => 0,
            () => ownTime() - startedAt,
          ),
      )
      await Bun.sleep(60)
    }
    expect(Math.max(...(await Promise.all(waits)))).toBeLessThan(450)
    other.run('ROLLBACK')
    other.close()
  })
})

test('a transaction that cannot begin for another reason is refused at once, not tried again', async () => {
  const { path } = openScratchFile()
  writeFileSync(`${path}-broken`, 'x'.repeat(4_096))
  const writer = new Database(`${path}-broken`)
  let begun = 0
  const prepare = (text: string) => {
    const statement = writer.prepare(text)
    if (!text.startsWith('BEGIN')) return statement
    const run = () => {
      begun += 1
      return statement.run()
    }
    return { run }
  }
  const counting = { prepare, inTransaction: false } as unknown as Database
  const nobody = () => undefined
  const keeping = createStorageHealth()
  const unused = { base: {} as Tx, strict: true, keeping, busyPatienceMs: 60, onDiskFailure: nobody, onBatch: nobody }
  const { enqueue } = createCommitter({ writer: counting, ...unused })
  const queuedAt = performance.now()
  const unit = { run: async () => undefined, soon: false, queuedAt }
  const ended = new Promise((resolve, reject) => enqueue({ ...unit, resolve, reject }))
  await expect(ended).rejects.toThrow('file is not a database')
  expect(begun).toBe(1)
  writer.close()
})

test('closing finishes running requests and refuses later ones', async () => {
  const { store, path } = openScratchFile()
  const before = store.write((tx) => insert(tx, { id: 'before', amount: 1 }))
  const closing = store.close()
  const after = store.write((tx) => insert(tx, { id: 'after', amount: 1 }))
  await expect(after).rejects.toMatchObject({ code: 'storage_unavailable' })
  await before
  await closing
  const raw = new Database(path)
  expect(raw.query('SELECT id FROM things').all()).toEqual([{ id: 'before' }])
  raw.close()
})

test('upkeep: a backup taken while writing is whole', async () => {
  const { store, path } = openScratchFile()
  const writes = many(200, 'a').map((id) => store.write((tx) => insert(tx, { id, amount: 1 })))
  const target = join(path, '../copy.db')
  await store.backup(target)
  await Promise.all(writes)
  const copy = openSqlite({ path: target, onDiskFailure: () => undefined })
  expect(await copy.integrity()).toEqual([])
  await copy.close()
  expect(await store.integrity()).toEqual([])
  await store.ping()
})
