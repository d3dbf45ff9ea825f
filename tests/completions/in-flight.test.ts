import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { world, upstream } = await createUpstreamWorld()
const ada = await world.person()

const together = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make))

describe('identical requests at the same time', () => {
  test('run once: one pays, the others are hits, each in a conversation of its own', async () => {
    upstream.reset()
    const order = { prompt: freshPrompt('[[delay:60]]') }
    const replies = await together(20, () => ada.send('POST', 'completions', order))
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
    const order = { prompt: freshPrompt('[[delay:40]]') }
    await Promise.all([ada, bob, ada, bob].map((person) => person.send('POST', 'completions', order)))
    expect(upstream.calls).toHaveLength(2)
  })

  test('that asked for a fresh answer are not joined to an old one', async () => {
    upstream.reset()
    const order = { prompt: freshPrompt('[[delay:40]]') }
    await together(3, () => ada.send('POST', 'completions', order, { 'cache-control': 'no-cache' }))
    expect(upstream.calls).toHaveLength(3)
  })

  test('do not share a failure: each tries for itself', async () => {
    upstream.reset()
    const order = { prompt: freshPrompt('[[delay:30]][[401]]') }
    const replies = await together(3, () => ada.send('POST', 'completions', order))
    expect(replies.map(({ status }) => status)).toEqual([500, 500, 500])
    expect(upstream.calls).toHaveLength(3)
  })

  test('of chat never share: chat is not cached (contract 4)', async () => {
    upstream.reset()
    const order = { messages: [{ role: 'user', content: freshPrompt('[[delay:30]]') }] }
    await together(3, () => ada.send('POST', 'chat/completions', order))
    expect(upstream.calls).toHaveLength(3)
  })
})
