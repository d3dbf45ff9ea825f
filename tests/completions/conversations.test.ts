import { describe, expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { world, upstream } = await createUpstreamWorld()
const ada = await world.person()

type Message = { role: string; content: string }
const turnsSent = () => (upstream.calls.at(-1)!.body.messages as Message[]).filter(({ role }) => role !== 'system')
const ask = (input: object) => ada.send('POST', 'completions', { prompt: freshPrompt(), ...input })

describe('a conversation', () => {
  test('is made by a first request and holds its turn', async () => {
    const prompt = freshPrompt('  What   is\nthis about,\tand why does it have such a very long first prompt? ')
    const { body } = await ask({ prompt, mode: 'fast' })
    const { conversation } = (await ada.send('GET', `conversations/${body.conversation_id}`)).body
    expect(conversation).toMatchObject({ id: body.conversation_id, messageCount: 2, lastMessage: body.content })
    expect(conversation.title).toBe('  What   is\nthis about,\tand why does it have such a very lon')
    expect(conversation.messages).toEqual([
      { id: expect.stringMatching(/^msg_/), role: 'user', content: prompt, createdAt: expect.any(String) },
      {
        id: expect.stringMatching(/^msg_/),
        role: 'assistant',
        content: body.content,
        createdAt: expect.any(String),
        mode: 'fast',
        resolvedMode: 'fast',
        model: body.model,
        tools: [],
        artifacts: [],
        followUps: body.follow_ups,
        status: 'complete',
        costCents: body.usage.cost_cents,
      },
    ])
  })

  test.each([
    ['short', 'short'],
    [`${'x'.repeat(59)}🙂 and more`, `${'x'.repeat(59)}🙂`],
    ['🙂'.repeat(61), '🙂'.repeat(60)],
  ])('of %p is titled with its first 60 characters as they were sent', async (prompt, title) => {
    const { conversation_id } = (await ask({ prompt })).body
    expect((await ada.send('GET', `conversations/${conversation_id}`)).body.conversation.title).toBe(title)
  })

  test('is continued by its id, and the engine sees what was said', async () => {
    const { conversation_id } = (await ask({ prompt: 'one [[say:first]]' })).body
    expect((await ask({ prompt: 'two [[say:second]]', conversation_id })).body.conversation_id).toBe(conversation_id)
    expect(turnsSent()).toEqual([
      { role: 'user', content: 'one [[say:first]]' },
      { role: 'assistant', content: 'first' },
      { role: 'user', content: 'two [[say:second]]' },
    ])
    const { conversation } = (await ada.send('GET', `conversations/${conversation_id}`)).body
    expect(conversation.messages.map(({ content }: Message) => content)).toEqual([
      'one [[say:first]]',
      'first',
      'two [[say:second]]',
      'second',
    ])
    expect(conversation.title).toStartWith('one')
  })

  test('is continued with its last 20 turns (docs/api.md 22.6)', async () => {
    let { conversation_id } = (await ask({ prompt: 'turn 0' })).body
    for (let turn = 1; turn <= 22; turn++) {
      conversation_id = (await ask({ prompt: `turn ${turn}`, conversation_id })).body.conversation_id
    }
    const sent = turnsSent()
    expect(sent).toHaveLength(41)
    expect(sent[0]).toEqual({ role: 'user', content: 'turn 2' })
  })

  test('is not made when the id is null, nor for inline context, nor in stealth', async () => {
    const bob = await world.person()
    for (const members of [{ conversation_id: null }, { conversation: { messages: [] } }, { mode: 'stealth_text' }]) {
      const { body } = await bob.send('POST', 'completions', { prompt: freshPrompt(), ...members })
      expect(body.conversation_id).toBeNull()
    }
    expect((await bob.send('GET', 'conversations')).body.conversations).toEqual([])
  })

  test('that was deleted is gone for good', async () => {
    const { conversation_id } = (await ask({})).body
    await ada.send('DELETE', `conversations/${conversation_id}`)
    expect((await ask({ conversation_id })).status).toBe(404)
  })

  test('that is deleted while it is answered stays deleted, and the answer is given', async () => {
    const { conversation_id } = (await ask({})).body
    const before = upstream.calls.length
    const answering = ask({ prompt: freshPrompt('[[delay:100]]'), conversation_id })
    await eventually(() => upstream.calls.length > before)
    await ada.send('DELETE', `conversations/${conversation_id}`)
    expect((await answering).status).toBe(200)
    expect((await ada.send('GET', `conversations/${conversation_id}`)).status).toBe(404)
    expect(await world.app.container.conversations.verify(world.app.store.read)).toEqual([])
  })

  test('that is continued many times at once keeps every turn whole', async () => {
    const { conversation_id } = (await ask({})).body
    const prompts = Array.from({ length: 8 }, () => freshPrompt('[[delay:10]]'))
    await Promise.all(prompts.map((prompt) => ask({ prompt, conversation_id })))
    const { messages, messageCount } = (await ada.send('GET', `conversations/${conversation_id}`)).body.conversation
    expect(messageCount).toBe(18)
    expect(messages.map(({ role }: Message) => role)).toEqual(
      Array.from({ length: 18 }, (_, at) => (at % 2 ? 'assistant' : 'user')),
    )
    expect(messages.map(({ content }: Message) => content)).toEqual(expect.arrayContaining(prompts))
  })
})

describe('inline context', () => {
  const conversation = {
    messages: [
      { role: 'user', content: 'My name is Ada.' },
      { role: 'assistant', content: 'Hello Ada.' },
    ],
  }

  test('comes before the prompt', async () => {
    await ask({ prompt: 'Who am I?', conversation })
    expect(turnsSent()).toEqual([...conversation.messages, { role: 'user', content: 'Who am I?' }])
  })

  test('yields to an id, with a warning', async () => {
    const { conversation_id } = (await ask({ prompt: 'kept' })).body
    const { body } = await ask({ prompt: 'and now?', conversation, conversation_id })
    expect(body.warnings).toEqual(['"conversation" was ignored because "conversation_id" was sent.'])
    expect(JSON.stringify(turnsSent())).not.toContain('Ada')
    expect(turnsSent()[0]).toEqual({ role: 'user', content: 'kept' })
  })

  test('with a null id is used', async () => {
    expect((await ask({ prompt: 'x', conversation, conversation_id: null })).body.warnings).toBeUndefined()
    expect(turnsSent()).toHaveLength(3)
  })
})
