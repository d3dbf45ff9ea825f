// Both databases: the store itself.
import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { AppError, defineError } from '../../src/kernel/errors'
import { command, isUniqueViolation } from '../../src/kernel/store'
import { byId, idsIn, insert, openScratch, take, things } from './scratch'

/** What both databases must do alike (docs/promises.md I41); `tests/run.ts` runs this file on each. */
const store = await openScratch()
const refused = defineError('conflict', () => 'no')
let made = 0
const newId = () => `thing-${++made}`

describe('a unit of work', () => {
  test('answers its value and stores its rows', async () => {
    const id = newId()
    const answer = await store.write(async (tx) => {
      await insert(tx, { id, amount: 3 })
      return 'done'
    })
    expect(answer).toBe('done')
    expect(await byId(store.read, { id })).toMatchObject([{ id, amount: 3, share: null, done: null, data: null }])
  })

  test('keeps nothing where nothing was given, whatever the kind of column', async () => {
    const id = newId()
    const whole = command<{ id: string; done: boolean | null; at: number | null; data: null }>()((tx, p) =>
      tx.insert(tx.of(things)).values({ id: p.id, amount: 1, done: p.done, at: p.at, data: p.data }),
    )
    await store.write((tx) => whole(tx, { id, done: null, at: null, data: null }))
    expect(await byId(store.read, { id })).toMatchObject([{ done: null, at: null, data: null }])
  })

  test('keeps JSON with what no database can store, without it', async () => {
    const id = newId()
    const data = { 'a\0': ['b\0c', { deep: '\ud800' }], fine: 'é', n: 1 }
    const whole = command<{ id: string; data: unknown }>()((tx, p) =>
      tx.insert(tx.of(things)).values({ id: p.id, amount: 1, data: p.data as never }),
    )
    await store.write((tx) => whole(tx, { id, data }))
    const stored = (await byId(store.read, { id }))[0]?.data
    const expected = { a: ['bc', { deep: '\ufffd' }], fine: 'é', n: 1 }
    expect(stored as unknown).toEqual(store.dialect === 'postgres' ? expected : data)
  })

  test('sees its own writes before anyone else does', async () => {
    const id = newId()
    await store.write(async (tx) => {
      await insert(tx, { id, amount: 1 })
      expect(await byId(tx, { id })).toHaveLength(1)
      expect(await byId(store.read, { id })).toHaveLength(0)
    })
  })

  test('that fails leaves nothing, and its error arrives as it was thrown', async () => {
    const id = newId()
    const error = refused()
    const failed = store.write(async (tx) => {
      await insert(tx, { id, amount: 1 })
      throw error
    })
    expect(await failed.catch((thrown) => thrown)).toBe(error)
    expect(await byId(store.read, { id })).toHaveLength(0)
  })

  test('that fails beside others does not undo them', async () => {
    const ids = Array.from({ length: 40 }, newId)
    const results = await Promise.allSettled(
      ids.map((id, place) =>
        store.write(async (tx) => {
          await insert(tx, { id, amount: 1 })
          if (place % 4 === 1) throw refused()
          if (place % 4 === 3) await insert(tx, { id, amount: 1 })
        }),
      ),
    )
    const remaining = ids.filter((_, place) => results[place]!.status === 'fulfilled')
    expect(remaining).toHaveLength(20)
    expect((await idsIn(store)).filter((id) => ids.includes(id))).toEqual(remaining.toSorted())
  })

  test('cannot spend what another spent in the same turn', async () => {
    const id = newId()
    await store.write((tx) => insert(tx, { id, amount: 10 }))
    const taken = await Promise.all(Array.from({ length: 40 }, () => store.write((tx) => take(tx, { id, by: 1 }))))
    expect(taken.filter((rows) => rows.length === 1)).toHaveLength(10)
    expect((await byId(store.read, { id }))[0]?.amount).toBe(0)
  })

  test('may be started when another is answered', async () => {
    const ids = [newId(), newId()]
    await store
      .write((tx) => insert(tx, { id: ids[0]!, amount: 1 }))
      .then(() => store.write((tx) => insert(tx, { id: ids[1]!, amount: 1 })))
    expect((await idsIn(store)).filter((id) => ids.includes(id))).toHaveLength(2)
  })
})

describe('after the commit', () => {
  test('effects run in order, once the rows are there for everyone', async () => {
    const id = newId()
    const seen: unknown[] = []
    await store.write(async (tx) => {
      tx.afterCommit(() => seen.push('first'))
      await insert(tx, { id, amount: 1 })
      tx.afterCommit(() => seen.push('second'))
      expect(seen).toEqual([])
    })
    expect(seen).toEqual(['first', 'second'])
  })

  test('effects of a failed unit never run', async () => {
    let ran = false
    const failed = store.write(async (tx) => {
      tx.afterCommit(() => {
        ran = true
      })
      await insert(tx, { id: newId(), amount: 1 })
      throw refused()
    })
    await expect(failed).rejects.toThrow('no')
    expect(ran).toBe(false)
  })

  test('a failing effect rejects only its own unit, and the commit stays', async () => {
    const ids = [newId(), newId(), newId()]
    const results = await Promise.allSettled(
      ids.map((id, place) =>
        store.write(async (tx) => {
          await insert(tx, { id, amount: 1 })
          if (place === 1) {
            tx.afterCommit(() => {
              throw refused()
            })
          }
        }),
      ),
    )
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((await idsIn(store)).filter((id) => ids.includes(id))).toHaveLength(3)
  })
})

describe('values', () => {
  test('of every kind are read back as they were written', async () => {
    const id = newId()
    const row = {
      id,
      amount: Number.MAX_SAFE_INTEGER,
      share: 0.1,
      done: true,
      at: 1_767_225_600_123,
      data: { b: 1, a: ['x', 'ü', '"'] },
    }
    await store.write(async (tx) => void (await tx.insert(tx.of(things)).values(row)))
    const t = store.read.of(things)
    expect(await store.read.select().from(t).where(eq(t.id, id))).toEqual([{ seq: expect.any(Number), ...row }])
  })

  test('numbered by the database keep the order of writing', async () => {
    const ids = Array.from({ length: 5 }, newId)
    for (const id of ids) await store.write((tx) => insert(tx, { id, amount: 1 }))
    const order = (await Promise.all(ids.map((id) => byId(store.read, { id })))).map(([row]) => row!.seq)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  })

  test.each(["Robert'); DROP TABLE things;--", '\u2028', '💥', ''])('%j is only a value', async (text) => {
    const id = `${newId()}${text}`
    await store.write((tx) => insert(tx, { id, amount: 1 }))
    expect(await byId(store.read, { id })).toHaveLength(1)
  })
})

test('errors: a duplicate of a unique value is distinguished from every other error', async () => {
  const id = newId()
  await store.write((tx) => insert(tx, { id, amount: 1 }))
  const twice = await store.write((tx) => insert(tx, { id, amount: 1 })).catch((error) => error)
  expect(isUniqueViolation(twice)).toBe(true)
  const negative = await store.write((tx) => insert(tx, { id: newId(), amount: -1 })).catch((error) => error)
  expect(negative).toBeInstanceOf(Error)
  expect(negative).not.toBeInstanceOf(AppError)
  expect(isUniqueViolation(negative)).toBe(false)
})
