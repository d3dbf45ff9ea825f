import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld } from './upstream-world'
import { DIFFERENT, SAME } from './wordings'

// An embedder to which everything is alike, so that the guard stands alone.
const { world, upstream } = await createUpstreamWorld({ config: { cacheSimilarity: 1 } })

/** Whether the second prompt is served what the first was answered, each pair by a person of its own. */
async function isServed(first: string, second: string): Promise<boolean> {
  const person = await world.person()
  await person.send('POST', 'completions', { prompt: first, mode: 'fast' })
  const { body } = await person.send('POST', 'completions', { prompt: second, mode: 'fast' })
  return body._cached === true
}

describe('the same request in other words (contract 22.1)', () => {
  test.each(SAME)('%j is also %j', async (one, other) => {
    expect(await isServed(one, other)).toBe(true)
    expect(await isServed(other, one)).toBe(true)
  })

  test.each(DIFFERENT)('%j is not %j', async (one, other) => {
    upstream.reset()
    expect(await isServed(one, other)).toBe(false)
    expect(await isServed(other, one)).toBe(false)
    expect(upstream.embedded).toEqual([])
  })
})
