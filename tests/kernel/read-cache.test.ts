import { describe, expect, test } from 'bun:test'
import { createReadCache } from '../../src/kernel/read-cache'
import { agedChanges } from '../support/changes'
import { fakeClock } from '../support/clock'

function createWorld(maxAgeMs = Number.POSITIVE_INFINITY, max = 10) {
  const clock = fakeClock()
  const cache = createReadCache<string, { n: number }>({
    max,
    changes: agedChanges(clock, maxAgeMs),
    tables: ['users'],
  })
  let loads = 0
  const load = async () => ({ n: ++loads })
  return { clock, cache, load }
}

describe('a cached value', () => {
  test('is loaded once and then given at once', async () => {
    const { cache, load } = createWorld()
    expect(await cache.get('a', load)).toEqual({ n: 1 })
    expect(cache.get('a', load)).toEqual({ n: 1 })
  })

  test('is loaded again when it is too old', async () => {
    const { cache, load, clock } = createWorld(1_000)
    await cache.get('a', load)
    clock.advance(999)
    expect(cache.get('a', load)).toEqual({ n: 1 })
    clock.advance(1)
    expect(await cache.get('a', load)).toEqual({ n: 2 })
  })

  test('is as old as the moment its read began', async () => {
    const { cache, load, clock } = createWorld(1_000)
    const reading = Promise.withResolvers<{ n: number }>()
    const pending = cache.get('a', () => reading.promise)
    clock.advance(1_000)
    reading.resolve({ n: 0 })
    await pending
    expect(await cache.get('a', load)).toEqual({ n: 1 })
  })

  test('is not kept when it was forgotten while it was read', async () => {
    const { cache, load } = createWorld()
    const reading = Promise.withResolvers<{ n: number }>()
    const pending = cache.get('a', () => reading.promise)
    cache.forget('a')
    reading.resolve({ n: 0 })
    expect(await pending).toEqual({ n: 0 })
    expect(await cache.get('a', load)).toEqual({ n: 1 })
  })

  test('is kept when something else was forgotten while it was read', async () => {
    const { cache, load } = createWorld()
    const pending = cache.get('a', load)
    cache.forget('b')
    await pending
    expect(cache.get('a', load)).toEqual({ n: 1 })
  })

  test('is read once for all who ask meanwhile, and again for those who ask after a change', async () => {
    const { cache, load, clock } = createWorld(1_000)
    const reading = Promise.withResolvers<{ n: number }>()
    const all = [cache.get('a', () => reading.promise), cache.get('a', load), cache.get('a', load)]
    cache.forget('a')
    expect(await cache.get('a', load)).toEqual({ n: 1 })
    reading.resolve({ n: 0 })
    expect(await Promise.all(all)).toEqual([{ n: 0 }, { n: 0 }, { n: 0 }])
    expect(cache.get('a', load)).toEqual({ n: 1 })
    const old = Promise.withResolvers<{ n: number }>()
    const first = cache.get('b', () => old.promise)
    clock.advance(1_000)
    expect(await cache.get('b', load)).toEqual({ n: 2 })
    old.resolve({ n: 0 })
    await first
    expect(cache.get('b', load)).toEqual({ n: 2 })
  })

  test('is read by each caller itself when reads are not joined', async () => {
    const { load, clock } = createWorld()
    const cache = createReadCache<string, { n: number }>({
      max: 10,
      changes: agedChanges(clock),
      tables: [],
      joins: false,
    })
    const stuck = Promise.withResolvers<{ n: number }>()
    const first = cache.get('a', () => stuck.promise)
    expect(await cache.get('a', load)).toEqual({ n: 1 })
    stuck.resolve({ n: 0 })
    expect(await first).toEqual({ n: 0 })
    expect(cache.get('a', load)).toEqual({ n: 1 })
  })

  test('a failed read rejects for all who waited, and the next caller tries again', async () => {
    const { cache, load } = createWorld()
    const fails = cache.get('a', async () => {
      throw new Error('no database')
    })
    await expect(Promise.all([fails, cache.get('a', load)])).rejects.toThrow('no database')
    expect(await cache.get('a', load)).toEqual({ n: 1 })
  })

  test('is not kept when it is null', async () => {
    const { cache, load } = createWorld()
    expect(await cache.get('a', async () => null)).toBeNull()
    expect(await cache.get('a', load)).toEqual({ n: 1 })
  })

  test('is forgotten by key, with all others, and when there are too many', async () => {
    const { cache, load } = createWorld(Number.POSITIVE_INFINITY, 2)
    await cache.get('a', load)
    cache.forget('a')
    expect(await cache.get('a', load)).toEqual({ n: 2 })
    cache.clear()
    expect(await cache.get('a', load)).toEqual({ n: 3 })
    await cache.get('b', load)
    await cache.get('c', load)
    expect(await cache.get('a', load)).toEqual({ n: 6 })
  })
})

test('a change of its tables by another process drops everything, also what is being read', async () => {
  const changes = agedChanges(fakeClock(), Number.POSITIVE_INFINITY)
  const cache = createReadCache<string, { n: number }>({ max: 10, changes, tables: ['users', 'orgs'] })
  await cache.get('a', async () => ({ n: 1 }))
  const reading = Promise.withResolvers<{ n: number }>()
  const pending = cache.get('b', () => reading.promise)
  changes.tell('members')
  expect(cache.get('a', async () => ({ n: 2 }))).toEqual({ n: 1 })
  changes.tell('orgs')
  expect(await cache.get('a', async () => ({ n: 2 }))).toEqual({ n: 2 })
  reading.resolve({ n: 1 })
  expect(await pending).toEqual({ n: 1 })
  expect(await cache.get('b', async () => ({ n: 2 }))).toEqual({ n: 2 })
})
