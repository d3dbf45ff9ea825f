// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { listen } from '../../support/listening'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world, upstream } = await createUpstreamWorld()
const ada = await world.person()
const openai = new OpenAI({ baseURL: `${listen(world).origin}/v1`, apiKey: ada.key, maxRetries: 0 })

const functions = [{ name: 'find', parameters: { type: 'object', properties: { title: { type: 'string' } } } }]
const CALL = { name: 'find', arguments: '{"title":"Tides"}' }
const order = () => ({
  model: 'svc-1-flash',
  messages: [{ role: 'user' as const, content: freshPrompt(`[[plan:find${CALL.arguments}]] [[say:Row B.]]`) }],
  functions,
})
/** What the upstream received last. */
const sent = () =>
  upstream.calls.at(-1)!.body as unknown as { tools: object[]; tool_choice: unknown; messages: object[] }

describe('clients from before there were tools (docs/api.md 4)', () => {
  test('get a call as the function_call of the message, in one piece and in a stream', async () => {
    const { choices } = await openai.chat.completions.create({ ...order(), function_call: { name: 'find' } })
    expect(choices[0]).toMatchObject({
      finish_reason: 'function_call',
      message: { content: null, function_call: CALL },
    })
    expect(choices[0]!.message).not.toHaveProperty('tool_calls')
    expect(sent()).toMatchObject({
      tools: [{ type: 'function', function: functions[0]! }],
      tool_choice: { type: 'function', function: { name: 'find' } },
    })

    const called = { name: '', arguments: '' }
    let finish: string | null = null
    for await (const { choices } of await openai.chat.completions.create({ ...order(), stream: true })) {
      const { function_call: piece } = choices[0]?.delta ?? {}
      called.name += piece?.name ?? ''
      called.arguments += piece?.arguments ?? ''
      finish = choices[0]?.finish_reason ?? finish
    }
    expect({ called, finish }).toEqual({ called: CALL, finish: 'function_call' })
  })

  test('send the result as a message of the function', async () => {
    const first = order()
    const { choices } = await openai.chat.completions.create(first)
    const result = { role: 'function' as const, name: 'find', content: 'It stands in row B.' }
    const messages = [...first.messages, choices[0]!.message, result]
    const second = await openai.chat.completions.create({ ...first, messages })
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Row B.' } })
    expect(sent().messages.slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ function: CALL }] },
      { role: 'tool', content: 'It stands in row B.' },
    ])
  })

  test.each([{ functions: [] }, { functions: null }, { function_call: 'auto' }])('%j is no offer', async (members) => {
    const messages = [{ role: 'user', content: freshPrompt('[[say:Row B.]]') }]
    const { status, body } = await ada.send('POST', '/v1/chat/completions', { messages, ...members })
    expect({ status, content: body.choices?.[0].message.content }).toMatchObject({ status: 200, content: 'Row B.' })
  })
})
