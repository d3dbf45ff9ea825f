import { describe, expect, test } from 'bun:test'
import { createFairCache } from '../../src/kernel/compiled'
import { compileLinear, createPatternCaches } from '../../src/text/patterns/linear'

describe('the cache of what was compiled for tenants', () => {
  const filled = (max: number, things: [key: string, owner: string, weight: number][]) => {
    const cache = createFairCache(max)
    for (const [key, owner, weight] of things) cache.put(key, { key }, { owner, weight })
    return { cache, left: () => things.map(([key]) => key).filter((key) => cache.get(key)) }
  }

  test('never weighs more than its limit', () => {
    const { cache } = filled(
      100,
      Array.from({ length: 50 }, (_, place) => [`${place}`, `owner ${place % 7}`, 9]),
    )
    expect(cache.weight()).toBe(99)
  })

  test('frees the weight of what is dropped or replaced', () => {
    const { cache, left } = filled(100, [
      ['a', 'ada', 40],
      ['b', 'bob', 30],
    ])
    cache.put('a', {}, { owner: 'ada', weight: 10 })
    expect(cache.weight()).toBe(40)
    cache.drop('b')
    cache.drop('b')
    expect({ weight: cache.weight(), left: left() }).toEqual({ weight: 10, left: ['a'] })
  })

  test('evicts from the owner with the most weight, the least recently used first', () => {
    const { cache, left } = filled(100, [
      ['small', 'bob', 30],
      ['first', 'ada', 30],
      ['second', 'ada', 30],
    ])
    cache.get('first')
    for (let more = 0; more < 20; more++) cache.put(`more ${more}`, {}, { owner: 'ada', weight: 30 })
    expect(left()).toEqual(['small'])
    cache.put('large', {}, { owner: 'bob', weight: 65 })
    expect(left()).toEqual([])
  })
})

describe('the states patterns cache while they read texts', () => {
  const thing = (weight: number) => {
    const learnt = { forgot: 0, weight: () => weight, forget: () => void learnt.forgot++ }
    return learnt
  }

  test('are dropped when they are too many in all, those of the least recently used pattern first', () => {
    const caches = createPatternCaches(3_500)
    const things = [thing(1_000), thing(1_000), thing(1_000)]
    for (const one of [0, 1, 0, 2]) caches.used(things[one]!, things[one]!)
    expect(things.map(({ forgot }) => forgot)).toEqual([0, 1, 0])
    expect(caches.weight()).toBeLessThan(3_500)
  })

  test('can be dropped without changing what is found', () => {
    const words = (count: number, salt: string) =>
      Array.from({ length: count }, (_, place) => `${salt}${(place * 7_919) % 9_973}`).join(' ')
    const patterns = Array.from({ length: 150 }, (_, place) =>
      compileLinear(`[a-z]\\d{1,5} [a-z]${place}\\b`, { maxChars: 512, maxSize: 1_000, flags: 'i' }),
    )
    const text = words(600, 'q')
    const found = () => patterns.map((pattern) => [...pattern.find(text)])
    const first = found()
    for (const pattern of patterns) pattern.test(words(2_000, 'z'))
    expect(found()).toEqual(first)
  })
})
