import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld } from './upstream-world'
import { SAME } from './wordings'
import { APART } from './wordings-apart'

// An embedder to which everything is alike, so that the guard stands alone. What it says of all pairs, gist.test.ts tells.
const { world, upstream } = await createUpstreamWorld({ config: { cacheSimilarity: 0.9 } })

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
  })

  test.each(Object.entries(APART))('is not one that differs in %s', async (_, pairs) => {
    upstream.reset()
    for (const [one, other] of pairs.slice(0, 3)) {
      expect([one, other, await isServed(one, other)]).toEqual([one, other, false])
    }
    expect(upstream.embedded).toEqual([])
  })
})
