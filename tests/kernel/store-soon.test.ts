// Both databases: the store itself.
import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { byId, idsIn, insert, openScratch, openScratchFile } from './scratch'

const store = await openScratch()

describe('a write that may be lost in a crash', () => {
  test('is seen by later units of work, and is durable as soon as one of them is', async () => {
    await store.writeSoon((tx) => insert(tx, { id: 'hold', amount: 1 }))
    await store.write(async (tx) => {
      expect(await byId(tx, { id: 'hold' })).toHaveLength(1)
      await insert(tx, { id: 'settled', amount: 1 })
    })
    expect(await idsIn(store)).toEqual(['hold', 'settled'])
  })

  test('leaves nothing when it fails, and others of the batch succeed', async () => {
    const results = await Promise.allSettled([
      store.writeSoon((tx) => insert(tx, { id: 'first', amount: 1 })),
      store.writeSoon(async (tx) => {
        await insert(tx, { id: 'second', amount: 1 })
        await insert(tx, { id: 'second', amount: 1 })
      }),
      store.writeSoon((tx) => insert(tx, { id: 'third', amount: 1 })),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    await store.write(async () => undefined)
    expect((await idsIn(store)).filter((id) => ['first', 'second', 'third'].includes(id))).toEqual(['first', 'third'])
  })
})

describe('such a write on SQLite', () => {
  const countIn = (path: string) => {
    const other = new Database(path, { readonly: true })
    const { n } = other.query('SELECT count(*) AS n FROM things').get() as { n: number }
    other.close()
    return n
  }

  test('is answered before it is durable, and is committed soon when no other write comes', async () => {
    const { store, path } = openScratchFile()
    await store.writeSoon((tx) => insert(tx, { id: 'alone', amount: 1 }))
    expect(countIn(path)).toBe(0)
    while (countIn(path) === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(await idsIn(store)).toEqual(['alone'])
  })

  test('is answered before a durable unit of the same turn, whose commit makes both durable', async () => {
    const { store, path } = openScratchFile()
    const answered: string[] = []
    const soon = store.writeSoon((tx) => insert(tx, { id: 'soon', amount: 1 })).then(() => answered.push('soon'))
    const sure = store
      .write((tx) => insert(tx, { id: 'sure', amount: 1 }))
      .then(() => {
        answered.push('sure')
        return countIn(path)
      })
    expect(await Promise.all([soon, sure])).toEqual([1, 2])
    expect(answered).toEqual(['soon', 'sure'])
  })

  test('is durable once the store is closed', async () => {
    const { store, path } = openScratchFile()
    await store.writeSoon((tx) => insert(tx, { id: 'last', amount: 1 }))
    await store.close()
    expect(countIn(path)).toBe(1)
  })

  test('becomes durable during a flood of such writes, too', async () => {
    const { store, path } = openScratchFile()
    let made = 0
    const flood = async () => {
      while (made < 50_000 && countOf() === 0)
        await store.writeSoon((tx) => insert(tx, { id: `flood-${made++}`, amount: 1 }))
    }
    const other = new Database(path, { readonly: true })
    const countOf = () => (other.query('SELECT count(*) AS n FROM things').get() as { n: number }).n
    await Promise.all([flood(), flood(), flood()])
    expect(countOf()).toBeGreaterThan(0)
    expect(made).toBeLessThan(50_000)
    other.close()
  })
})

test('is durable once that is confirmed, which says nothing of units that failed by themselves', async () => {
  await Promise.allSettled([store.write(() => Promise.reject(new Error('of its own')))])
  expect(store.failing()).toBe(false)
  await store.writeSoon((tx) => insert(tx, { id: 'confirmed', amount: 1 }))
  await store.confirm()
  expect(await idsIn(store)).toContain('confirmed')
  expect(store.failing()).toBe(false)
})
