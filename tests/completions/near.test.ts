import { beforeEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import type { Person } from '../support/world'
import { createUpstreamWorld } from './upstream-world'

const clock = fakeClock()
/** What the embeddings engine says of a text; all texts are alike unless a test says otherwise. */
let embed: (text: string) => readonly number[] | number | Promise<never> = () => [1, 0]
const { world, upstream } = await createUpstreamWorld({
  clock,
  config: { cacheSimilarity: 0.9, embeddingsApiKey: 'embeddings-key' },
  upstream: { embed: (text) => embed(text) },
})

let subject = 0
/** One question in two wordings, about something nobody asked about before. */
const wordings = () => {
  subject++
  return {
    one: `What is the price of ticket ${subject}?`,
    other: `Could you tell me what is the price of ticket ${subject}`,
  }
}
const ask = async (person: Person, prompt: string, members: object = {}, headers: Record<string, string> = {}) =>
  (await person.send('POST', 'completions', { prompt, mode: 'fast', ...members }, headers)).body

beforeEach(() => {
  embed = () => [1, 0]
  upstream.reset()
})

describe('a request in other words', () => {
  test('is served the answer at no cost, told that it was made for other words, in a conversation of its own', async () => {
    const [ada, { one, other }] = [await world.person(), wordings()]
    const first = await ask(ada, one)
    const second = await ask(ada, other)
    expect(second).toMatchObject({ id: first.id, content: first.content, _cached: true })
    expect(second.usage).toEqual({ ...first.usage, cost_cents: 0, cached: true })
    expect(second.warnings).toEqual([expect.stringContaining('request with the same meaning (similarity 1.000)')])
    const { messages } = (await ada.send('GET', `conversations/${second.conversation_id}`)).body.conversation
    expect(messages[0].content).toBe(other)
    expect(upstream.calls).toHaveLength(1)
  })

  test('is from then on an identical one, for no longer than the first', async () => {
    const [ada, { one, other }] = [await world.person(), wordings()]
    await ask(ada, one)
    clock.advance(200_000)
    await ask(ada, other)
    await ask(ada, other)
    expect(upstream.embedded).toEqual([[other, one]])
    clock.advance(100_001)
    expect((await ask(ada, other))._cached).toBeUndefined()
  })

  test('streams like any other hit', async () => {
    const [ada, { one, other }] = [await world.person(), wordings()]
    const first = await ask(ada, one)
    const { text } = await ada.send('POST', 'completions', { prompt: other, mode: 'fast', stream: true })
    expect(text).toContain('"_cached":true')
    expect(text).toContain(first.id)
    expect(upstream.calls).toHaveLength(1)
  })

  test('of someone else is not served, and not even compared', async () => {
    const [ada, bob, { one, other }] = [await world.person(), await world.person(), wordings()]
    await ask(ada, one)
    expect((await ask(bob, other))._cached).toBeUndefined()
    expect(upstream.embedded).toEqual([])
  })

  test('is not served to another key of the same org', async () => {
    const [carol, { one, other }] = [await world.person({ ofOrg: true }), wordings()]
    const { key } = (await carol.send('POST', 'keys', { name: 'colleague', scope: 'org' })).body
    await ask(carol, one)
    expect((await ask(carol, other, {}, { authorization: `Bearer ${key}` }))._cached).toBeUndefined()
    expect((await ask(carol, other))._cached).toBe(true)
  })

  test.each([
    ['temperature', { temperature: 0.1 }],
    ['mode', { mode: 'think' }],
    ['persona', { persona: 'none' }],
    ['tools', { tools: [{ name: 'a', description: 'b' }] }],
    ['picture', { attachments: [{ type: 'image_base64', data: 'AAAA', mime_type: 'image/png' }], mode: 'vision' }],
  ])('and with another %s is another request', async (_, members) => {
    const [ada, { one, other }] = [await world.person(), wordings()]
    await ask(ada, one)
    expect((await ask(ada, other, members))._cached).toBeUndefined()
  })

  test.each([
    ['persona', { persona: { system_prompt: 'Translate all that is said to you into French.' } }],
    ['style', { response_style: { intent: 'Count the characters of what you are sent' } }],
    ['conversation', { conversation: { messages: [{ role: 'user', content: 'Correct what I write from now on.' }] } }],
    ['mode', { mode: 'roast' }],
    ['tool', { tools: [{ name: 'count', description: 'Counts the letters of a message' }] }],
  ])('is only itself where a %s may make a text to work on of it', async (_, members) => {
    const [ada, { one, other }] = [await world.person(), wordings()]
    await ask(ada, one, members)
    expect((await ask(ada, other, members))._cached).toBeUndefined()
    expect((await ask(ada, one, members))._cached).toBe(true)
    expect(upstream.embedded).toEqual([])
  })

  test('is only itself where something remembered is about it', async () => {
    const [ada, { one, other }] = [await world.person(), wordings()]
    await ada.send('POST', 'memory', { content: 'What I write of the price of a ticket is to be put into French' })
    await ask(ada, one)
    expect((await ask(ada, other))._cached).toBeUndefined()
    expect(upstream.embedded).toEqual([])
  })

  test('is asked anew with Cache-Control: no-cache', async () => {
    const [ada, { one, other }] = [await world.person(), wordings()]
    await ask(ada, one)
    expect((await ask(ada, other, {}, { 'cache-control': 'no-cache' }))._cached).toBeUndefined()
  })

  test('joins a run of its own that is under way', async () => {
    const [ada, { one, other }] = [await world.person(), wordings()]
    await ask(ada, one)
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(ada, other)))
    expect(answers.every(({ _cached }) => _cached)).toBe(true)
    expect(upstream.embedded).toHaveLength(1)
  })
})

describe('the embeddings engine', () => {
  test('is sent both texts, its key and its model, and later the new text alone', async () => {
    const [ada, { one, other }] = [await world.person(), wordings()]
    await ask(ada, one)
    expect(upstream.embedded).toEqual([])
    await ask(ada, other)
    await ask(ada, `Please tell me what is the price of ticket ${subject}?`)
    expect(upstream.embedded).toEqual([[other, one], [`Please tell me what is the price of ticket ${subject}?`]])
  })

  test.each([
    ['below the threshold', [0.89, Math.sqrt(1 - 0.89 ** 2)], undefined],
    ['at the threshold', [0.91, Math.sqrt(1 - 0.91 ** 2)], true],
    ['the other way', [-1, 0], undefined],
    ['of another length', [1, 0, 0], undefined],
    ['of no length', [], undefined],
    ['of zeros', [0, 0], undefined],
  ])('decides: a vector %s', async (_, vector, cached) => {
    const [ada, { one, other }] = [await world.person(), wordings()]
    embed = (text) => (text === one ? [1, 0] : vector)
    await ask(ada, one)
    expect((await ask(ada, other))._cached).toBe(cached as never)
  })

  test('that fails or says nothing costs a second at most, then nothing', async () => {
    const ada = await world.person()
    /** A second passes, and nothing is said. */
    const silent = () => {
      clock.advance(1_000)
      return Promise.withResolvers<never>().promise
    }
    for (const answer of [() => 500, () => 500, () => 401, silent, () => 500]) {
      embed = answer
      const { one, other } = wordings()
      await ask(ada, one)
      expect((await ask(ada, other))._cached).toBeUndefined()
    }
    upstream.reset()
    embed = () => [1, 0]
    const { one, other } = wordings()
    await ask(ada, one)
    expect((await ask(ada, other))._cached).toBeUndefined()
    expect(upstream.embedded).toEqual([])
    clock.advance(30_000)
    expect((await ask(ada, `Tell me what is the price of ticket ${subject}`))._cached).toBe(true)
  })
})

describe('without a threshold', () => {
  test('no prompt is compared with another', async () => {
    const plain = await createUpstreamWorld()
    const [ada, { one, other }] = [await plain.world.person(), wordings()]
    await ask(ada, one)
    expect((await ask(ada, other))._cached).toBeUndefined()
    expect(plain.upstream.embedded).toEqual([])
  })
})
