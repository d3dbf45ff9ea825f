// Both databases: the store itself.
import { describe, expect, test } from 'bun:test'
import { eq, gt, inArray, lt } from 'drizzle-orm'
import { inParts, pagesAmong, pagesBy, sliceBy } from '../../src/kernel/keyset'
import { encodeCursor, type Page, toPage } from '../../src/kernel/page'
import { insert, openScratch, things } from './scratch'

const store = await openScratch()
const table = store.read.of(things)
const largestFirst = pagesBy(things, 'amount')
const largestOfSome = pagesAmong(things, 'amount')

/** Seven rows with three amounts, in the order of the list, so that pages end between rows of equal amounts. */
const AMOUNTS = { g: 30, c: 30, f: 20, d: 20, b: 20, e: 10, a: 10 }
const ORDERED = Object.keys(AMOUNTS)
await store.write(async (tx) => {
  for (const id of ORDERED.toSorted()) await insert(tx, { id, amount: AMOUNTS[id as keyof typeof AMOUNTS] })
})

type Read = (cursor: string | undefined) => Promise<Page<{ id: string }>>
async function walk(read: Read): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await read(cursor)
    pages.push(page.items.map(({ id }) => id))
    cursor = page.next
  }
  return pages
}

describe('a list in pages', () => {
  test.each([1, 2, 3, 6, 7, 8])('of %i rows shows every row once, the latest first', async (limit) => {
    const pages = await walk((cursor) => largestFirst(store.read, { limit, cursor }))
    expect(pages.flat()).toEqual(ORDERED)
    expect(pages.map((page) => page.length).slice(0, -1)).toEqual(Array(Math.ceil(7 / limit) - 1).fill(limit))
  })

  test('keeps to its conditions and ignores those that are undefined', async () => {
    const between = (cursor: string | undefined) =>
      largestFirst(store.read, { limit: 2, cursor }, gt(table.amount, 10), undefined, lt(table.amount, 30))
    expect(await walk(between)).toEqual([['f', 'd'], ['b']])
  })

  test('goes on after a last row that was deleted', async () => {
    const cursor = encodeCursor('things.amount', { at: 20, id: 'ee' })
    expect((await largestFirst(store.read, { limit: 2, cursor })).items).toMatchObject([{ id: 'd' }, { id: 'b' }])
  })

  test('can be made of any query', async () => {
    const pages = await walk(async (cursor) => {
      const { list, after, order, limit } = sliceBy(table.amount, table.id, { limit: 3, cursor })
      const found = store.read.select({ id: table.id, at: table.amount }).from(table).where(after)
      return toPage(list, await found.orderBy(...order).limit(limit), 3, ({ at, id }) => ({ at, id }))
    })
    expect(pages).toEqual([['g', 'c', 'f'], ['d', 'b', 'e'], ['a']])
  })

  test('refuses an invalid cursor before it reads', async () => {
    const read = largestFirst(store.read, { limit: 1, cursor: 'nobody’s' })
    expect(await read.catch((error) => error.message)).toStartWith('"cursor" was not returned by this list')
  })
})

describe('a list of several conditions', () => {
  const isOneOf = (...ids: string[]) => inArray(table.id, ids)
  const vowels = [isOneOf('a'), isOneOf('e')]

  test.each<[string, ReturnType<typeof isOneOf>[], string]>([
    ['of all rows, some of each', [isOneOf('g', 'd', 'a'), isOneOf('c', 'f'), isOneOf('b', 'e')], 'gcfdbea'],
    ['of some rows', [isOneOf('a', 'f', 'g'), isOneOf('e')], 'gfea'],
    ['that share rows', [isOneOf('g', 'd', 'b'), isOneOf('d', 'b', 'a')], 'gdba'],
    ['of which one is true of none', [isOneOf('g', 'a'), isOneOf('z')], 'ga'],
    ['that is one', [isOneOf('c', 'd')], 'cd'],
    ['that is none', [], ''],
    ['more than a statement has parts', Array.from({ length: 650 }, (_, at) => eq(table.id, 'abc'[at] ?? 'z')), 'cba'],
  ])('%s shows every row once, the latest first', async (_name, either, ordered) => {
    for (const limit of [1, 2, 3, 7]) {
      const pages = await walk((cursor) => largestOfSome(store.read, { limit, cursor }, either))
      expect(pages.flat().join('')).toBe(ordered)
    }
  })

  test('keeps to further conditions', async () => {
    const read = (cursor: string | undefined) =>
      largestOfSome(store.read, { limit: 1, cursor }, [isOneOf('g', 'b'), ...vowels], gt(table.amount, 10))
    expect(await walk(read)).toEqual([['g'], ['b']])
  })

  test.each([0, 1, 2, 99, 100, 101, 250, 1_000])('of %i conditions is split into at most 100 parts', (count) => {
    const all = Array.from({ length: count }, (_, at) => at)
    const parts = inParts(all)
    expect(parts.flat()).toEqual(all)
    expect(parts.length).toBeLessThanOrEqual(100)
    expect(parts.every((part) => part.length > 0)).toBe(true)
  })
})
