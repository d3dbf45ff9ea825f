// SQLite only: what reaches the engine, which no database sees.
import { afterAll, describe, expect, test } from 'bun:test'
import { freshPrompt } from '../completions/upstream-world'
import { PIXEL } from '../support/pixel'
import { startUpstream } from '../support/upstream'
import { messagesDialect } from '../support/upstream/vendors'
import { createWorld } from '../support/world'

const upstream = await startUpstream()
const vendor = await startUpstream({ dialect: messagesDialect })
afterAll(() => Promise.all([upstream.stop(), vendor.stop()]))
const compat = { kind: 'compat' as const, baseUrl: upstream.url, vision: true, contextWindow: 2_000 }
const upstreams = { it: compat, vendor: { kind: 'anthropic' as const, baseUrl: vendor.url, apiKey: 'k' } }
const models = { '*': ['it:scripted'], 'svc-1-reason': ['vendor:scripted'] }
const ada = await (await createWorld({ config: { engines: { upstreams, models } } })).person()

type Item = Record<string, unknown>

async function respond(input: unknown, more: object = {}) {
  const { status, body } = await ada.send('POST', '/v1/responses', { model: 'svc-1-vision', input, ...more })
  expect({ status, error: body.error }).toEqual({ status: 200, error: null })
  const warnings: string[] = body.svc_metadata.warnings ?? []
  return { sent: upstream.calls.at(-1)!.body as { messages: Item[] } & Item, warnings }
}
const message = (words: string, more: object = {}) =>
  ada.send('POST', '/v1/messages', {
    ...{ model: 'svc-1-flash', max_tokens: 1_500, messages: [{ role: 'user', content: words }] },
    ...more,
  })

describe('how closely an image is looked at (docs/api.md 33.3)', () => {
  const url = `data:image/png;base64,${PIXEL}`
  const shown = () =>
    (upstream.calls.at(-1)!.body.messages as Item[])
      .flatMap(({ content }) => (Array.isArray(content) ? (content as Item[]) : []))
      .find(({ type }) => type === 'image_url')!.image_url as Item

  test.each([
    ['low', 'low'],
    ['high', 'high'],
    ['auto', undefined],
    [null, undefined],
    ['huge', undefined],
  ])('%s', async (detail, passed) => {
    const content = [
      { type: 'input_text', text: freshPrompt() },
      { type: 'input_image', image_url: url, detail },
    ]
    await respond([{ role: 'user', content }])
    expect(shown().detail as string | undefined).toBe(passed)
    const parts = [
      { type: 'text', text: freshPrompt() },
      { type: 'image_url', image_url: { url, detail } },
    ]
    const chat = { model: 'svc-1-vision', messages: [{ role: 'user', content: parts }] }
    expect((await ada.send('POST', '/v1/chat/completions', chat)).status).toBe(200)
    expect(shown().detail as string | undefined).toBe(passed)
  })
})

describe('what an upstream is to keep for later requests (docs/api.md 29.1)', () => {
  test('is named to one that has the setting, and to the others without a warning', async () => {
    const kept = { prompt_cache_key: 'k', prompt_cache_retention: '24h' }
    expect(await respond('Hello', kept)).toMatchObject({ sent: kept, warnings: [] })
    const chat = { model: 'svc-1-flash', messages: [{ role: 'user', content: freshPrompt() }], ...kept }
    await ada.send('POST', '/v1/chat/completions', chat)
    expect(upstream.calls.at(-1)!.body).toMatchObject(kept)
    const cache_control = { type: 'ephemeral' }
    const { status, body } = await message(freshPrompt(), { system: [{ type: 'text', text: 'Be.', cache_control }] })
    expect({ status, warnings: body.svc_metadata.warnings }).toEqual({ status: 200, warnings: undefined })
    expect(JSON.stringify(upstream.calls.at(-1)!.body)).not.toContain('cache_control')
  })

  test('is marked at the ends of tools, of the system text and of the messages', async () => {
    const cache_control = { type: 'ephemeral' }
    const content = [{ type: 'text', text: freshPrompt(), cache_control: { ...cache_control, ttl: '1h' } }]
    const { status } = await message('', {
      model: 'svc-1-reason',
      system: [
        { type: 'text', text: 'Be.', cache_control },
        { type: 'text', text: 'Brief.' },
      ],
      tools: ['f', 'g'].map((name) => ({ name, input_schema: { type: 'object' }, cache_control })),
      messages: [{ role: 'user', content }],
    })
    expect(status).toBe(200)
    const { system, tools, messages } = vendor.calls.at(-1)!.body as Record<'system' | 'tools' | 'messages', Item[]>
    expect(system.at(-1)!.cache_control).toEqual(cache_control)
    expect(tools.map((tool) => tool.cache_control)).toEqual([undefined, cache_control])
    expect((messages.at(-1)!.content as Item[]).at(-1)!.cache_control).toEqual({ ...cache_control, ttl: '1h' })
  })

  const cache_control = { type: 'ephemeral' }
  const marked = (text: string) => [{ type: 'text', text, cache_control }]
  const marksAt = () =>
    (vendor.calls.at(-1)!.body.messages as Item[]).map(({ content }) =>
      JSON.stringify(content).includes('cache_control'),
    )

  test('a tool without a schema has no parameters', async () => {
    const tools = [{ name: 'f' }, { name: 'g', input_schema: null }]
    expect((await message(freshPrompt(), { tools })).status).toBe(200)
    expect(upstream.calls.at(-1)!.body.tools).toMatchObject([
      { function: { name: 'f', parameters: { type: 'object' } } },
      { function: { name: 'g', parameters: { type: 'object' } } },
    ])
  })

  test('is marked at a message with others after it', async () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' }
    const messages = [
      { role: 'user', content: marked(freshPrompt()) },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ]
    const tools = [{ name: 'f', input_schema: { type: 'object' } }]
    expect((await message('', { model: 'svc-1-reason', tools, messages })).status).toBe(200)
    expect(marksAt()).toEqual([true, false, false])
    expect(
      (
        await message('', {
          model: 'svc-1-reason',
          messages: [...messages.slice(0, 1), { role: 'assistant', content: 'a' }, { role: 'user', content: 'b' }],
        })
      ).status,
    ).toBe(200)
    expect(marksAt()).toEqual([true, false, false])
  })

  test('is marked where a chat does so, beside its parts and tools (docs/api.md 33.3)', async () => {
    const tool = { type: 'function', function: { name: 'f' }, cache_control }
    const messages = [
      { role: 'system', content: marked('Be brief.') },
      { role: 'user', content: marked(freshPrompt()) },
      { role: 'assistant', content: 'One.' },
      { role: 'user', content: freshPrompt() },
    ]
    const chat = { model: 'svc-1-reason', messages, tools: [tool] }
    expect((await ada.send('POST', '/v1/chat/completions', chat)).status).toBe(200)
    const { system, tools } = vendor.calls.at(-1)!.body as Record<'system' | 'tools', Item[]>
    expect(marksAt()).toEqual([true, false, false])
    expect(system.at(-1)).toMatchObject({ cache_control })
    expect(tools.at(-1)).toMatchObject({ cache_control })
    const { body } = await ada.send('POST', '/v1/chat/completions', { ...chat, model: 'svc-1-flash' })
    expect(body.svc_metadata.warnings).toBeUndefined()
    expect(JSON.stringify(upstream.calls.at(-1)!.body)).not.toContain('cache_control')
  })

  test('is marked nowhere where nobody asks', async () => {
    await message(freshPrompt(), { model: 'svc-1-reason' })
    expect(JSON.stringify(vendor.calls.at(-1)!.body)).not.toContain('cache_control')
  })
})

describe('items of tools that other servers ran (docs/api.md 29.4)', () => {
  test.each([
    [{ type: 'file_search_call', queries: ['tides'], results: [{ text: 'Noon.' }] }, 'assistant', ['tides', 'Noon.']],
    [{ type: 'code_interpreter_call', code: '1+1', outputs: [{ type: 'logs', logs: '2' }] }, 'assistant', ['1+1', '2']],
    [{ type: 'local_shell_call', call_id: 'x', action: { command: ['ls', '-a'] } }, 'assistant', ['ls', '-a']],
    [{ type: 'local_shell_call_output', id: 'x', output: 'a.txt' }, 'user', ['a.txt']],
    [{ type: 'shell_call_output', output: [{ stdout: 'b.txt', stderr: '' }] }, 'user', ['b.txt']],
    [{ type: 'web_search_call', action: { type: 'open_page', url: 'https://a.example' } }, 'assistant', ['a.example']],
    [{ type: 'mcp_list_tools', server_label: 'own', tools: [{ name: 'count' }] }, 'assistant', ['own', 'count']],
    [{ type: 'image_generation_call', result: PIXEL, revised_prompt: 'A cat' }, 'assistant', ['A cat']],
  ])('%o is text', async (item, role, words) => {
    const input = [{ role: 'user', content: 'Hi' }, item, { role: 'user', content: freshPrompt() }]
    const { sent, warnings } = await respond(input)
    expect(warnings).toEqual([])
    const turn = sent.messages.find(({ content }) => words.every((word) => String(content).includes(word)))!
    expect(turn.role as string).toBe(role)
    expect(JSON.stringify(sent)).not.toContain(PIXEL)
  })

  test.each([{ type: 'compaction', encrypted_content: 'x' }, { type: 'computer_call', call_id: 'x' }, { type: 'wat' }])(
    '%o holds no text and is left out with a warning',
    async (item) => {
      const { warnings } = await respond([item, { role: 'user', content: freshPrompt() }])
      expect(warnings).toEqual([expect.stringContaining(item.type)])
    },
  )
})

describe('turns as clients of other formats send them', () => {
  test('messages of a chat within a response are calls and their results', async () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{"at":"shelf"}' } })
    const input = [
      { role: 'user', content: 'Where?' },
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'Left.' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'Right.' }] },
      { role: 'user', content: freshPrompt() },
    ]
    const { sent } = await respond(input, { tools: [{ type: 'function', name: 'look', parameters: {} }] })
    const turns = sent.messages.filter(({ role }) => role === 'tool' || role === 'assistant')
    expect(
      turns.map(({ role, tool_call_id, tool_calls }) => tool_call_id ?? [role, (tool_calls as Item[]).length]),
    ).toEqual([['assistant', 2], 'a', 'b'])
    expect(JSON.stringify(turns)).toContain('Right.')
    const { body } = await ada.send('POST', '/v1/responses', { input: [{ role: 'tool', content: 'x' }] })
    expect(body.error.message).toBe('"input[0].call_id" is missing; it must be a text.')
  })

  test.each([{ content: null }, {}])('an assistant with %j in Messages said nothing', async (empty) => {
    const turns = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', ...empty },
      { role: 'user', content: freshPrompt() },
    ]
    expect((await message('', { messages: turns })).status).toBe(200)
    expect((upstream.calls.at(-1)!.body.messages as Item[]).filter(({ role }) => role === 'assistant')).toEqual([])
    const { status, body } = await message('', { messages: [{ role: 'user', ...empty }] })
    expect({ status, param: body.error.details.param }).toEqual({ status: 400, param: 'messages[0].content' })
  })
})

test('a number at a limit that it must exceed is told so', async () => {
  const { body } = await ada.send('POST', '/v1/responses', { input: 'Hi', top_p: 0 })
  expect(body.error.message).toBe('"top_p" is 0; it must be greater than 0.')
})

describe('an answer that is cut (docs/api.md 30.3)', () => {
  test.each([
    ['where the window is full', '[[tokens:1900]] [[finish:length]]', 1_990, 'model_context_window_exceeded'],
    ['at the limit of the order', '[[tokens:900]]', 100, 'max_tokens'],
    ['by the engine, with room left', '[[tokens:100]] [[finish:length]]', 1_500, 'max_tokens'],
  ])('%s', async (_, words, max_tokens, reason) => {
    expect((await message(freshPrompt(words), { max_tokens })).body.stop_reason).toBe(reason)
    const { text } = await message(freshPrompt(words), { max_tokens, stream: true })
    expect(text).toContain(`"stop_reason":"${reason}"`)
  })
})
