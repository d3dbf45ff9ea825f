import { describe, expect, test } from 'bun:test'
import { createAnswerCache, type StoredAnswer } from '../../src/completions/cache'
import { sha256Hex } from '../../src/kernel/crypto'
import { fakeClock } from '../support/clock'

const KB = 1024
const answerOf = (chars: number) =>
  ({ content: 'x'.repeat(chars), toolsUsed: [], artifacts: [], warnings: [] }) as unknown as StoredAnswer

function setUp(maxBytes: number) {
  const clock = fakeClock()
  const cache = createAnswerCache({ clock, maxBytes })
  const put = (key: string, { scope = 'user:a', chars = 0, ttlS = 60, prompt = key } = {}) =>
    cache.put(key, {
      answer: answerOf(chars),
      scope,
      owner: 'user:a',
      keyId: null,
      costMicro: 1,
      promptHash: sha256Hex(prompt),
      ttlS,
    })
  /** Looks without counting a hit. */
  const has = (key: string) => [...cache.all()].some(([known]) => known === key)
  return { clock, cache, put, has }
}

describe('the memory of answers', () => {
  test('forgets what was used longest ago when it is full', () => {
    const { cache, put, has } = setUp(64 * KB)
    for (let at = 0; at < 64; at++) put(`k${at}`, { scope: `user:${at}` })
    expect(cache.get('k0')).not.toBeNull()
    put('new', { scope: 'user:new' })
    expect({ k0: has('k0'), k1: has('k1'), new: has('new') }).toEqual({ k0: true, k1: false, new: true })
    expect(cache.bytes()).toBeLessThanOrEqual(64 * KB)
  })

  test('gives one scope an eighth: its own oldest go first, and nobody else loses any', () => {
    const { cache, put } = setUp(64 * KB)
    for (let at = 0; at < 8; at++) put(`other${at}`, { scope: 'user:b' })
    for (let at = 0; at < 500; at++) put(`k${at}`)
    expect([...cache.all()].filter(([, { scope }]) => scope === 'user:b')).toHaveLength(8)
    expect(
      [...cache.all()]
        .filter(([, { scope }]) => scope === 'user:a')
        .map(([key]) => key)
        .toSorted(),
    ).toEqual(Array.from({ length: 8 }, (_, at) => `k${492 + at}`))
  })

  test('counts an entry that is renewed once', () => {
    const { put, has } = setUp(64 * KB)
    put('old')
    for (let at = 0; at < 100; at++) put('same')
    expect({ old: has('old'), same: has('same') }).toEqual({ old: true, same: true })
  })

  test('keeps no answer that is larger than its share', () => {
    const { put, has } = setUp(640 * KB)
    put('small', { chars: 4 * KB })
    put('large', { chars: 5 * KB })
    expect({ small: has('small'), large: has('large') }).toEqual({ small: true, large: false })
  })

  test('keeps nothing for no time', () => {
    const { put, has } = setUp(64 * KB)
    put('k', { ttlS: 0 })
    expect(has('k')).toBe(false)
  })

  test('lets an answer go when its time is over, whatever it is asked', () => {
    const { cache, put, clock, has } = setUp(64 * KB)
    put('k', { ttlS: 60 })
    clock.advance(59_999)
    expect(has('k')).toBe(true)
    expect(cache.get('k') !== null).toBe(true)
    expect([...cache.all()][0]?.[1].hits).toBe(1)
    clock.advance(1)
    expect(has('k')).toBe(false)
    expect(cache.get('k')).toBe(null)
    expect([...cache.all()]).toHaveLength(0)
  })

  test('removes what it is told to, and says how many', () => {
    const { cache, put } = setUp(64 * KB)
    for (const scope of ['user:a', 'user:b']) for (const at of [1, 2]) put(`${scope}${at}`, { scope })
    expect(cache.purge(({ scope }) => scope === 'user:a')).toBe(2)
    expect([...cache.all()].map(([key]) => key).toSorted()).toEqual(['user:b1', 'user:b2'])
    for (let at = 0; at < 8; at++) put(`k${at}`)
    expect([...cache.all()].filter(([, { scope }]) => scope === 'user:a')).toHaveLength(8)
  })
})
