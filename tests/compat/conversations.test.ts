import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { WEATHER } from '../suites/compat'
import { listen } from '../support/listening'

const { world, upstream } = await createUpstreamWorld()
const baseURL = `${listen(world).origin}/v1`
const ada = await world.person()
const eve = await world.person()
const openai = new OpenAI({ baseURL, apiKey: ada.key, maxRetries: 0 })
const model = 'svc-1-flash'
const sent = () => JSON.stringify(upstream.calls.at(-1)!.body.messages)
const messagesOf = async (id: string) => (await ada.send('GET', `conversations/${id}`)).body.conversation.messages
type Message = { role: string; content: string }
const linesOf = async (id: string) => (await messagesOf(id)).map(({ role, content }: Message) => `${role}: ${content}`)
const listed = async () =>
  (await ada.send('GET', 'conversations')).body.conversations as { id: string; title: string }[]

describe('/conversations (docs/api.md 29.8)', () => {
  test('is begun, noted, read and deleted with the package', async () => {
    const made = await openai.conversations.create({
      metadata: { topic: 'snow' },
      items: [
        { type: 'message', role: 'user', content: 'It snows in Oslo.' },
        { type: 'message', role: 'developer', content: 'Be brief.' },
      ],
    })
    expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'snow' }, created_at: expect.any(Number) })
    expect(await openai.conversations.update(made.id, { metadata: { topic: 'ice' } })).toMatchObject({ id: made.id })
    const { body } = await ada.send('GET', `conversations/${made.id}`)
    expect(body).toMatchObject({
      ...{ id: made.id, object: 'conversation', metadata: { topic: 'ice' } },
      conversation: { title: 'It snows in Oslo.', messageCount: 2 },
    })
    expect(await linesOf(made.id)).toEqual(['user: It snows in Oslo.', 'system: Be brief.'])
    const audit = await ada.send('GET', 'audit?action=conversation.created')
    expect(audit.body).toMatchObject([{ entityType: 'conversation', entityId: made.id }])
    await openai.conversations.delete(made.id)
    expect((await ada.send('GET', `conversations/${made.id}`)).status).toBe(404)
  })

  test('lists its items page by page, adds some and deletes one', async () => {
    const { id } = await openai.conversations.create()
    const items = ['one', 'two', 'three'].map((content) => ({
      type: 'message' as const,
      role: 'user' as const,
      content,
    }))
    expect(await openai.conversations.items.create(id, { items })).toMatchObject({ object: 'list', has_more: false })
    const all = await Array.fromAsync(openai.conversations.items.list(id, { limit: 2, order: 'asc' }))
    const texts = () => all.map((item) => (item as { content: { text: string }[] }).content[0]!.text)
    expect(texts()).toEqual(['one', 'two', 'three'])
    const second = all[1]!.id!
    expect(await openai.conversations.items.retrieve(second, { conversation_id: id })).toMatchObject({
      ...{ id: second, type: 'message', role: 'user', status: 'completed' },
      content: [{ type: 'input_text', text: 'two' }],
    })
    expect(await openai.conversations.items.delete(second, { conversation_id: id })).toMatchObject({ id })
    const recorded = await ada.send('GET', 'audit?action=conversation.updated&limit=1')
    expect(recorded.body).toMatchObject([{ entityId: id, inputSummary: { method: 'DELETE' } }])
    await openai.conversations.items.create(id, { items: [{ type: 'message', role: 'user', content: 'four' }] })
    expect(await linesOf(id)).toEqual(['user: one', 'user: three', 'user: four'])
    expect(await world.app.container.conversations.verify(world.app.container.store.read)).toEqual([])
    expect((await ada.send('GET', `conversations/${id}/items/${second}`)).status).toBe(404)
    expect((await ada.send('GET', `conversations/${id}/items?after=msg_unknown`)).status).toBe(400)
  })

  test('refuses items that are none, more than 20, and other owners', async () => {
    const { id } = await openai.conversations.create()
    const wrong = await ada.send('POST', `conversations/${id}/items`, { items: [{ content: 'Hi' }] })
    expect({ status: wrong.status, param: wrong.body.error.param }).toEqual({ status: 400, param: 'items[0]' })
    const many = Array.from({ length: 21 }, () => ({ role: 'user', content: 'Hi' }))
    expect((await ada.send('POST', 'conversations', { items: many })).status).toBe(400)
    const asks: [string, string, object?][] = [
      ['GET', `conversations/${id}/items`],
      ['POST', `conversations/${id}/items`, { items: [{ role: 'user', content: 'Hi' }] }],
      ['POST', `conversations/${id}`, { metadata: {} }],
      ['GET', `conversations/${id}/items/msg_1`],
      ['DELETE', `conversations/${id}/items/msg_1`],
      ['POST', '/v1/responses', { model, input: 'Hi', conversation: id }],
    ]
    for (const [method, path, body] of asks)
      expect({ method, path, status: (await eve.send(method, path, body)).status }).toEqual({
        method,
        path,
        status: 404,
      })
  })
})

describe('a response in a conversation (docs/api.md 29.8)', () => {
  test('keeps all its items, and goes on from them', async () => {
    const { id } = await openai.conversations.create()
    const tools = [{ type: 'function' as const, name: 'get_weather', parameters: WEATHER, strict: false }]
    const input = freshPrompt('[[plan:get_weather{"location":"Oslo"}]] [[say:Snow it is.]]')
    const first = await openai.responses.create({ model, input, tools, conversation: id })
    expect(first.conversation).toEqual({ id })
    const [call] = first.output
    if (call?.type !== 'function_call') throw new Error('no call')
    const second = await openai.responses.create({
      ...{ model, tools, conversation: id },
      input: [{ type: 'function_call_output', call_id: call.call_id, output: 'Snow.' }],
    })
    expect(second.output_text).toBe('Snow it is.')
    const third = await openai.responses.create({ model, conversation: { id }, input: freshPrompt('Sure?') })
    for (const words of ['get_weather', 'Snow.', 'Snow it is.', 'Sure?']) expect(sent()).toContain(words)
    const items = await Array.fromAsync(openai.conversations.items.list(id, { order: 'asc' }))
    expect(items.map(({ type }) => type as string)).toEqual([
      ...['message', 'function_call', 'function_call_output', 'message', 'message', 'message'],
    ])
    expect(await openai.conversations.items.retrieve(call.id!, { conversation_id: id })).toMatchObject({
      ...{ type: 'function_call', call_id: call.call_id, arguments: '{"location":"Oslo"}' },
    })
    expect(await messagesOf(id)).toMatchObject([
      {},
      {},
      {},
      { costCents: expect.any(Number) },
      {},
      { status: 'complete' },
    ])
    await ada.send('DELETE', `conversations/${id}`)
    for (const response of [first, second, third])
      expect((await ada.send('GET', `responses/${response.id}`)).status).toBe(404)
  })

  test('is kept in it when it streams, is not stored, or runs in the background', async () => {
    const { id } = await openai.conversations.create()
    const base = { model, conversation: id }
    const stream = openai.responses.stream({ ...base, input: freshPrompt('[[say:One.]]') })
    expect((await stream.finalResponse()).conversation).toEqual({ id })
    await openai.responses.create({ ...base, input: freshPrompt('[[say:Two.]]'), store: false })
    await openai.responses.create({ ...base, input: freshPrompt('[[say:Three.]]'), background: true })
    await world.app.container.jobs.runDue('responses.background')
    expect((await linesOf(id)).filter((line: string) => line.startsWith('assistant'))).toEqual([
      ...['assistant: One.', 'assistant: Two.', 'assistant: Three.'],
    ])
  })

  test('that failed before its answer adds nothing', async () => {
    const { id } = await openai.conversations.create()
    const input = freshPrompt('[[400]]')
    expect((await ada.send('POST', '/v1/responses', { model, input, conversation: id })).status).toBe(400)
    expect(await linesOf(id)).toEqual([])
  })
})

describe('a chain of responses (docs/api.md 29.7)', () => {
  test('becomes one conversation with its second response; one from an earlier response begins another', async () => {
    const before = (await listed()).length
    const prompt = freshPrompt('[[say:Blue.]] What is its colour?')
    const first = await openai.responses.create({ model, input: prompt })
    expect(await listed()).toHaveLength(before)
    const after = (previous_response_id: string, say: string) =>
      openai.responses.create({ model, input: freshPrompt(`[[say:${say}]]`), previous_response_id })
    const second = await after(first.id, 'Two.')
    const third = await after(second.id, 'Three.')
    const [conversation, ...others] = (await listed()).slice(0, -before || undefined)
    expect({ others, title: conversation!.title }).toEqual({ others: [], title: prompt.slice(0, 60) })
    const answersIn = async (id: string) =>
      (await linesOf(id)).filter((line: string) => line.startsWith('assistant')).map((line: string) => line.slice(11))
    expect(await answersIn(conversation!.id)).toEqual(['Blue.', 'Two.', 'Three.'])
    const fork = await after(first.id, 'Other.')
    const [other] = await listed()
    expect(await answersIn(other!.id)).toEqual(['Blue.', 'Other.'])
    expect(await answersIn(conversation!.id)).toEqual(['Blue.', 'Two.', 'Three.'])

    // Deleting a response leaves the conversation; deleting the conversation deletes its responses.
    await ada.send('DELETE', `responses/${third.id}`)
    expect(await answersIn(conversation!.id)).toEqual(['Blue.', 'Two.', 'Three.'])
    await ada.send('DELETE', `conversations/${conversation!.id}`)
    const found = async ({ id }: { id: string }) => (await ada.send('GET', `responses/${id}`)).status
    expect({ first: await found(first), second: await found(second), fork: await found(fork) }).toEqual({
      ...{ first: 404, second: 404, fork: 200 },
    })
  })
})
