import { afterAll, expect, test } from 'bun:test'
import { startUpstream } from '../support/upstream'
import { createWorld } from '../support/world'
import { freshPrompt, systemOf } from './upstream-world'

const upstream = await startUpstream()
afterAll(() => upstream.stop())

const engines = {
  upstreams: { up: { kind: 'compat' as const, baseUrl: upstream.url, contextWindow: 4_000, maxOutputTokens: 500 } },
  models: { '*': ['up:scripted'] },
}
const world = await createWorld({ config: { engines } })

test('a conversation that outgrows the window goes on: newest turns as they were, the rest in the system prompt', async () => {
  const ada = await world.person({ cents: 100 })
  const messages = Array.from({ length: 20 }, (_, number) => [
    { role: 'user', content: `Question ${number}: where is the lighthouse? ${'and so on '.repeat(40)}` },
    { role: 'assistant', content: `Answer ${number}: north of the harbour. ${'as was said '.repeat(40)}` },
  ]).flat()
  const prompt = freshPrompt('And now?')
  expect((await ada.send('POST', 'completions', { prompt, mode: 'fast', conversation: { messages } })).status).toBe(200)
  const { body } = upstream.calls.at(-1)!
  const sent = body.messages as { role: string; content: string }[]
  expect(sent.length).toBeLessThan(42)
  expect(sent.at(-2)!.content).toBe(messages.at(-1)!.content)
  expect(sent[1]!.role).toBe('user')
  expect(systemOf(body)).toContain('Sentences of its earlier part')
})
