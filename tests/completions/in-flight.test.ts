import { describe, expect, test } from 'bun:test'
import { readFrames } from '../support/frames'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { world, upstream } = await createUpstreamWorld()
const ada = await world.person()

const together = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make))

describe('identical requests at the same time', () => {
  test('run once: one pays, the others are hits, each in a conversation of its own', async () => {
    upstream.reset()
    const input = { prompt: freshPrompt('[[delay:60]]') }
    const replies = await together(20, () => ada.send('POST', 'completions', input))
    expect(upstream.calls).toHaveLength(1)
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const paid = replies.filter(({ body }) => !body._cached)
    expect(paid).toHaveLength(1)
    expect(paid[0]!.body.usage.cost_cents).toBeGreaterThan(0)
    const hits = replies.filter(({ body }) => body._cached)
    expect(hits.every(({ body }) => body.usage.cost_cents === 0 && body.id === paid[0]!.body.id)).toBe(true)
    expect(new Set(replies.map(({ body }) => body.conversation_id)).size).toBe(20)
    expect(new Set(replies.map(({ body }) => body.request_id)).size).toBe(20)
  })

  test('of two users run once each', async () => {
    upstream.reset()
    const bob = await world.person()
    const input = { prompt: freshPrompt('[[delay:40]]') }
    await Promise.all([ada, bob, ada, bob].map((person) => person.send('POST', 'completions', input)))
    expect(upstream.calls).toHaveLength(2)
  })

  test('of two keys of one user run once each, and share what is kept', async () => {
    upstream.reset()
    const { body: other } = await ada.send('POST', 'keys', { name: 'Other' })
    const byOther = { authorization: `Bearer ${other.key}` }
    const input = { prompt: freshPrompt('[[delay:40]]') }
    const ask = (headers = {}) => ada.send('POST', 'completions', input, headers)
    await Promise.all([ask(), ask(byOther), ask(), ask(byOther)])
    expect(upstream.calls).toHaveLength(2)
    expect((await ask(byOther)).body._cached).toBe(true)
  })

  test('of which some are streams: those begin at once, and are paid for', async () => {
    upstream.reset()
    const input = { prompt: freshPrompt('[[delay:60]]') }
    const [plain, stream, joined] = await Promise.all(
      [input, { ...input, stream: true }, input].map((one) => ada.send('POST', 'completions', one)),
    )
    expect(upstream.calls).toHaveLength(2)
    expect([plain, joined].map((reply) => reply!.body._cached ?? false).sort()).toEqual([false, true])
    const { usage } = readFrames(stream!.text).at(-1)!.data
    expect(usage.cost_cents).toBeGreaterThan(0)
    expect(usage.cached).toBeUndefined()
  })

  test('that asked for a fresh answer are not joined to an old one', async () => {
    upstream.reset()
    const input = { prompt: freshPrompt('[[delay:40]]') }
    await together(3, () => ada.send('POST', 'completions', input, { 'cache-control': 'no-cache' }))
    expect(upstream.calls).toHaveLength(3)
  })

  test('do not share a failure: each tries for itself', async () => {
    upstream.reset()
    const input = { prompt: freshPrompt('[[delay:30]][[401]]') }
    const replies = await together(3, () => ada.send('POST', 'completions', input))
    expect(replies.map(({ status }) => status)).toEqual([503, 503, 503])
    expect(upstream.calls).toHaveLength(3)
  })

  test('of chat never share: chat is not cached (contract 4)', async () => {
    upstream.reset()
    const input = { messages: [{ role: 'user', content: freshPrompt('[[delay:30]]') }] }
    await together(3, () => ada.send('POST', 'chat/completions', input))
    expect(upstream.calls).toHaveLength(3)
  })
})
