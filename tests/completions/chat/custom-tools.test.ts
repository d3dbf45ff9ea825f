// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { listen } from '../../support/listening'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world, upstream } = await createUpstreamWorld()
const ada = await world.person()
const openai = new OpenAI({ baseURL: `${listen(world).origin}/v1`, apiKey: ada.key, maxRetries: 0 })
const ask = (body: object) => ada.send('POST', '/v1/chat/completions', body)

const PATCH = '*** Begin Patch\n"quoted" *** End Patch'
const GRAMMAR = { type: 'grammar' as const, grammar: { syntax: 'lark' as const, definition: 'start: WORD' } }
const TOOL = { type: 'custom' as const, custom: { name: 'apply_patch', description: 'Applies a patch.' } }
const FUNCTION = { type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }
const prompt = () => freshPrompt(`[[plan:apply_patch${JSON.stringify({ input: PATCH })}]] [[say:Done.]]`)
const order = () => ({ model: 'svc-1-flash', messages: [{ role: 'user' as const, content: prompt() }] })
/** What the upstream received last. */
const sent = () =>
  upstream.calls.at(-1)!.body as unknown as {
    tools: { type: string; function: { name: string; description: string } }[]
    messages: { role: string; tool_calls: { function: object }[] }[]
  }
const CALL = { type: 'custom', custom: { name: 'apply_patch', input: PATCH } }

describe('custom tools of a chat: one text in place of arguments (docs/api.md 4)', () => {
  test('are offered as functions and called as they are, in one piece and in a stream', async () => {
    const { choices } = await openai.chat.completions.create({ ...order(), tools: [TOOL, FUNCTION] })
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: [CALL] } })
    expect(choices[0]!.message.tool_calls![0]).not.toHaveProperty('function')
    const [offered, other] = sent().tools
    expect(offered).toMatchObject({
      type: 'function',
      function: {
        name: 'apply_patch',
        description: 'Applies a patch.',
        parameters: { type: 'object', required: ['input'], properties: { input: { type: 'string' } } },
      },
    })
    expect(other!.function.name).toBe('look')

    const calls: object[] = []
    const stream = await openai.chat.completions.create({ ...order(), tools: [TOOL], stream: true })
    for await (const { choices } of stream) calls.push(...(choices[0]?.delta.tool_calls ?? []))
    expect(calls).toEqual([{ index: 0, id: expect.any(String), ...CALL }])
  })

  test('have results, and their calls go back as those of functions', async () => {
    const first = order()
    const { choices } = await openai.chat.completions.create({ ...first, tools: [TOOL] })
    const { message } = choices[0]!
    const result = { role: 'tool' as const, tool_call_id: message.tool_calls![0]!.id, content: 'Applied.' }
    const messages = [...first.messages, message, result]
    const second = await openai.chat.completions.create({ model: 'svc-1-flash', messages, tools: [TOOL] })
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Done.' } })
    const [, call] = sent().messages.filter(({ role }) => role !== 'system')
    expect(call!.tool_calls[0]!.function).toEqual({ name: 'apply_patch', arguments: JSON.stringify({ input: PATCH }) })
    expect((await ask({ model: 'svc-1-flash', messages })).status).toBe(200)
  })

  test('are chosen by name, and a grammar is described to the engine', async () => {
    const tools = [{ ...TOOL, custom: { ...TOOL.custom, format: GRAMMAR } }, FUNCTION]
    const named = { type: 'custom' as const, custom: { name: 'apply_patch' } }
    const allowed = { type: 'allowed_tools' as const, allowed_tools: { mode: 'required' as const, tools: [named] } }
    for (const tool_choice of [named, allowed]) {
      const { body } = await ask({ ...order(), tools, tool_choice })
      expect(body.choices[0].message.tool_calls).toMatchObject([CALL])
      expect(body.svc_metadata.warnings[0]).toContain('grammar of "apply_patch"')
      const [offered] = sent().tools
      expect(offered!.function.description).toBe('Applies a patch.\nThe input follows this lark grammar: start: WORD')
    }
  })

  test('may have their members beside the type, as tools of responses have them', async () => {
    const { body } = await ask({ ...order(), tools: [{ type: 'custom', ...TOOL.custom }] })
    expect(body.choices[0].message.tool_calls).toMatchObject([CALL])
  })
})
