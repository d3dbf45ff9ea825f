// Both databases: the store itself.
import { describe, expect, test } from 'bun:test'
import { desc, gt, sql } from 'drizzle-orm'
import { rowsOf } from '../../src/kernel/rows'
import { openScratch, things } from './scratch'

const store = await openScratch()
const rows = rowsOf(things)
const { read } = store
const row = (id: string, amount: number, done: boolean | null) => ({ id, amount, done })
await store.write(async (tx) => {
  for (const one of [row('a', 1, true), row('b', 2, true), row('c', 2, null)]) await rows.insert(tx, one as never)
})
const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id)

describe('the statements of a table', () => {
  test('find by equal columns, by one of several values, and by no value', async () => {
    expect(await rows.first(read, { id: 'b', amount: 2 })).toMatchObject(row('b', 2, true))
    expect(await rows.first(read, { id: 'a', amount: 2 })).toBeUndefined()
    expect(await rows.first(read, { done: null })).toMatchObject({ id: 'c' })
    expect(await rows.first(read, { done: true }, (t) => gt(t.amount, 1))).toMatchObject({ id: 'b' })
    expect(idsOf(await rows.all(read, { id: ['a', 'c', 'z'] }, { order: (t) => [desc(t.id)] }))).toEqual(['c', 'a'])
    expect(await rows.all(read, { amount: 2 }, { limit: 1 })).toHaveLength(1)
    expect(await rows.all(read, { id: [] })).toEqual([])
    expect(await rows.count(read, { amount: 2 })).toBe(2)
  })

  test('change and delete only the rows with these values', async () => {
    await store.write(async (tx) => {
      expect(await rows.add(tx, row('d', 4, false) as never)).toBe(true)
      expect(await rows.add(tx, row('d', 5, false) as never)).toBe(false)
      expect(await rows.lock(tx, { id: 'd' })).toMatchObject(row('d', 4, false))
      expect(await rows.lock(tx, { id: 'z' })).toBeUndefined()
      const more = { amount: sql`${tx.of(things).amount} + 1` }
      expect(await rows.change(tx, { id: 'd' }, more)).toMatchObject({ amount: 5 })
      expect(await rows.update(tx, { id: 'd' }, { amount: 9 }, (t) => gt(t.amount, 6))).toBe(0)
      expect(await rows.update(tx, { id: 'd' }, { amount: 9 })).toBe(1)
      expect(await rows.remove(tx, { id: 'd' }, (t) => gt(t.amount, 9))).toBe(0)
      expect(idsOf(await rows.take(tx, { amount: 9 }))).toEqual(['d'])
      await rows.insert(tx, row('e', 7, null) as never)
      expect(await rows.remove(tx, { amount: 7 })).toBe(1)
    })
    expect(await rows.count(read, { amount: [1, 2] })).toBe(3)
  })

  test('refuse a condition that would reach every row', async () => {
    await expect(rows.first(read, { id: undefined as never })).rejects.toThrow('needs a value for id')
    expect(() => rows.all(read, {})).toThrow('needs a value for a column')
    await expect(store.write((tx) => rows.remove(tx, {}))).rejects.toThrow('needs a value for a column')
  })
})
