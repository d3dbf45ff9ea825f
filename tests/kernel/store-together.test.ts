// Both databases: the store itself.
import { describe, expect, test } from 'bun:test'
import type { Tx } from '../../src/kernel/store'
import { byId, idsIn, insert, openScratch } from './scratch'

const store = await openScratch()

/** Inserts each id, and notes how many came together. */
const createWriter = () => {
  const sizes: number[] = []
  const effects: string[][] = []
  const write = async (tx: Tx, ids: readonly string[]) => {
    sizes.push(ids.length)
    tx.afterCommit(() => effects.push([...ids]))
    for (const id of ids) await insert(tx, { id, amount: ids.length })
    return ids.map((id) => `kept ${id}`)
  }
  return { sizes, effects, write }
}

describe('items that are written together', () => {
  test('are written by one call of their function, and each gets its own result', async () => {
    const { sizes, effects, write } = createWriter()
    const other = createWriter()
    const ids = ['a', 'b', 'c']
    const [kept, others] = await Promise.all([
      Promise.all(ids.map((id) => store.writeTogether(write, id))),
      Promise.all(['x', 'y'].map((id) => store.writeTogether(other.write, id))),
    ])
    expect(kept).toEqual(['kept a', 'kept b', 'kept c'])
    expect(others).toEqual(['kept x', 'kept y'])
    expect({ sizes, effects, others: other.sizes }).toEqual({ sizes: [3], effects: [ids], others: [2] })
    expect(await idsIn(store)).toEqual(['a', 'b', 'c', 'x', 'y'])
  })

  test('are written alone if they fail together, and only the one that fails then is refused', async () => {
    const { sizes, effects, write } = createWriter()
    const ends = await Promise.allSettled(['d', 'a', 'e'].map((id) => store.writeTogether(write, id)))
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(sizes).toEqual([3, 1, 1, 1])
    expect(effects.flat().sort()).toEqual(['d', 'e'])
    const amounts = await store.write(async (tx) => [
      ...(await byId(tx, { id: 'd' })),
      ...(await byId(tx, { id: 'e' })),
    ])
    expect(amounts.map(({ amount }) => amount)).toEqual([1, 1])
  })

  test('and soon are seen by the next unit of work', async () => {
    const write = async (tx: Tx, ids: readonly string[]) => {
      for (const id of ids) await insert(tx, { id, amount: 1 })
      return ids
    }
    expect(await Promise.all(['f', 'g'].map((id) => store.writeTogether(write, id, true)))).toEqual(['f', 'g'])
    expect(await store.write((tx) => byId(tx, { id: 'g' }))).toHaveLength(1)
  })
})
