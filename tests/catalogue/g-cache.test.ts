import { describe, expect, test } from 'bun:test'
import { startTarget } from './support'

const { send } = await startTarget()

describe('G. the cache', () => {
  const timed = async (as: 'k1' | 'k2', prompt: string) => {
    const started = performance.now()
    const { body } = await send('POST', 'completions', { as, body: { prompt, mode: 'fast' } })
    return { ms: performance.now() - started, cached: body._cached === true }
  }

  test("G5 timing does not reveal what another user's cache contains", async () => {
    const [known, fresh]: [number[], number[]] = [[], []]
    for (let round = 0; round < 40; round++) {
      const prompt = `the same words again ${round}`
      await timed('k1', prompt)
      // By turns, so that whatever slows the machine slows both.
      const asks: [number[], string][] = [
        [known, prompt],
        [fresh, `words nobody had ${round}`],
      ]
      for (const [times, words] of round % 2 ? asks : asks.toReversed()) {
        const { ms, cached } = await timed('k2', words)
        expect(cached).toBe(false)
        times.push(ms)
      }
    }
    const median = (times: number[]) => times.toSorted((a, b) => a - b)[times.length / 2]!
    expect(Math.abs(median(known) - median(fresh))).toBeLessThan(0.5 * median(fresh))
  })

  test.each([
    ['a prompt that spells the end of a key', (words: string) => ({ prompt: `x\n${words}` })],
    [
      'a persona that spells a prompt',
      (words: string) => ({ prompt: words, persona: { system_prompt: `\n${words}` } }),
    ],
    [
      'a context that spells another',
      (words: string) => ({ prompt: words, conversation: { messages: [], title: words } }),
    ],
    [
      'metadata that spells a scope',
      (words: string) => ({ prompt: words, metadata: { scope: 'user:0', cached: true } }),
    ],
    ['the very same words', (words: string) => ({ prompt: words })],
  ])('nobody plants an answer for anybody else: %s', async (name, bodyOf) => {
    const words = `what ${name} asked`
    const headers = { 'x-user-id': 'u2@example.com', 'x-cache': 'HIT', 'x-cache-key': '0'.repeat(64) }
    await send('POST', 'completions', { as: 'k1', body: { ...bodyOf(words), mode: 'fast' }, headers })
    const { body } = await send('POST', 'completions', { as: 'k2', body: { prompt: words, mode: 'fast' }, headers })
    expect(body).not.toHaveProperty('_cached')
  })

  test('S11 GET /benchmarks takes one of three windows and nothing else', async () => {
    for (const query of [`window=${'9'.repeat(8_000)}`, 'window=24h%00', 'window=30d;DROP', 'window=-1'])
      expect((await send('GET', `benchmarks?${query}`)).status).toBe(400)
    const { status, body } = await send('GET', 'benchmarks?limit=1000000000&owner=user:1&cursor=x')
    expect({ status, window: body.window }).toEqual({ status: 200, window: '24h' })
  })
})
