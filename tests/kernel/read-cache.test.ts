import { describe, expect, test } from 'bun:test'
import { createReadCache, freshFor } from '../../src/kernel/read-cache'
import { fakeClock } from '../support/clock'

function createWorld(maxAgeMs = Number.POSITIVE_INFINITY, max = 10) {
  const clock = fakeClock()
  const cache = createReadCache<string, { n: number }>({ max, maxAgeMs, clock })
  let loads = 0
  const load = async () => ({ n: ++loads })
  return { clock, cache, load }
}

describe('what was read', () => {
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

  test('is not remembered when something was forgotten meanwhile', async () => {
    const { cache, load } = createWorld()
    const reading = Promise.withResolvers<{ n: number }>()
    const pending = cache.get('a', () => reading.promise)
    cache.forget('a')
    reading.resolve({ n: 0 })
    expect(await pending).toEqual({ n: 0 })
    expect(await cache.get('a', load)).toEqual({ n: 1 })
  })

  test('is not remembered when it was nothing', async () => {
    const { cache, load } = createWorld()
    expect(await cache.get('a', async () => null)).toBeNull()
    expect(await cache.get('a', load)).toEqual({ n: 1 })
  })

  test('is forgotten one by one, all at once, and when there is too much', async () => {
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

test('another node may write to Postgres, so nothing is older than a second there', () => {
  expect([freshFor('sqlite'), freshFor('postgres')]).toEqual([Number.POSITIVE_INFINITY, 1_000])
})
