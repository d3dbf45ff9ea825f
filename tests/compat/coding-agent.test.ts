// SQLite only: the wire shape of a coding agent, which no database sees.
import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { responses } from './formats'

const { world, upstream } = await createUpstreamWorld()
const ada = await world.person()

type Item = Record<string, unknown>

/** What an agent sends with every turn: many tools of many kinds, nothing stored, thoughts sealed. */
const TURN = {
  model: 'gpt-5-codex',
  instructions: 'You are a coding agent.',
  tools: [
    { type: 'function', name: 'shell', description: 'Runs a command.', strict: false, parameters: COMMAND() },
    { type: 'function', name: 'update_plan', description: 'Plans.', strict: false, parameters: COMMAND() },
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Edits.',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: x' },
    },
    {
      type: 'namespace',
      name: 'mcp__docs',
      description: 'Docs.',
      tools: [{ type: 'function', name: 'search_docs', parameters: COMMAND() }],
    },
    { type: 'local_shell' },
    { type: 'web_search', external_web_access: false },
    { type: 'tool_search', execution: 'client' },
    ...Array.from({ length: 60 }, (_, at) => ({
      type: 'function',
      name: `mcp__many__tool_${at}`,
      parameters: COMMAND(),
    })),
  ],
  ...{ tool_choice: 'auto', parallel_tool_calls: true, store: false, stream: true },
  reasoning: { effort: 'medium', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  ...{ prompt_cache_key: 'thread-1', text: { verbosity: 'low' }, service_tier: 'priority' },
  client_metadata: { 'x-codex-installation-id': 'i' },
}
const HEADERS = {
  originator: 'codex_cli_rs',
  version: '0.99.0',
  session_id: 's-1',
  'openai-beta': 'responses=experimental',
}

function COMMAND() {
  const properties = { command: { type: 'array', items: { type: 'string' } }, workdir: { type: 'string' } }
  return { type: 'object', properties, required: ['command'], additionalProperties: false }
}

async function turn(input: Item[]) {
  const { status, text } = await ada.send('POST', '/v1/responses', { ...TURN, input }, HEADERS)
  expect(status).toBe(200)
  responses.readStream(text)
  const items = [...text.matchAll(/event: response\.output_item\.done\ndata: (.+)/g)].map(
    ([, data]) => JSON.parse(data!).item,
  )
  const { response } = JSON.parse(/event: response\.completed\ndata: (.+)/.exec(text)![1]!)
  return { items, response, text }
}

const message = (role: string, text: string): Item => ({
  type: 'message',
  role,
  content: [{ type: 'input_text', text }],
})
const BEFORE = [
  message('developer', '<permissions>'),
  message('user', '<environment_context>'),
  message('user', 'Fix the test.'),
]

describe('a coding agent that speaks Responses', () => {
  test('gets concurrent calls of its tools, with thoughts to return (docs/api.md 33.6.6, 33.6.9)', async () => {
    const ask = message(
      'user',
      freshPrompt('[[think:Let me look.]] [[plan:shell{"workdir":"a"};shell{"workdir":"b"}]]'),
    )
    const { items, response } = await turn([...BEFORE, ask])
    expect(items.map(({ type }) => type)).toEqual(['reasoning', 'function_call', 'function_call'])
    expect(items[0]).toMatchObject({ summary: [{ text: 'Let me look.' }], encrypted_content: expect.any(String) })
    expect(new Set(items.map(({ call_id }) => call_id)).size).toBe(3)
    expect(response.usage).toMatchObject({
      input_tokens_details: { cached_tokens: 0 },
      total_tokens: expect.any(Number),
    })
    const { tools, parallel_tool_calls, messages, ...sent } = upstream.calls.at(-1)!.body as Record<string, Item[]> &
      Item
    expect({ tools: tools!.length, parallel: parallel_tool_calls ?? true }).toEqual({ tools: 64, parallel: true })
    expect(sent).toMatchObject({ reasoning_effort: 'medium', verbosity: 'low', prompt_cache_key: 'thread-1' })
    expect(JSON.stringify(messages)).toContain('<permissions>')
    // It sends all of it back, with the results in another order, and with nothing stored.
    const [thoughts, first, second] = items.map(({ id: _, status: __, ...item }) => ({ ...item, content: null }))
    const results = [
      { type: 'function_call_output', call_id: second!.call_id, output: '/tmp' },
      { type: 'function_call_output', call_id: first!.call_id, output: [{ type: 'input_text', text: 'a.ts' }] },
    ]
    await turn([...BEFORE, message('user', freshPrompt('[[say:Done.]]')), thoughts!, first!, second!, ...results])
    const history = JSON.stringify(upstream.calls.at(-1)!.body.messages)
    for (const words of ['Let me look.', 'a.ts', '/tmp']) expect(history).toContain(words)
  })

  test('edits with a tool of its own grammar, and calls one of a namespace', async () => {
    const patch = '*** Begin Patch\n*** End Patch\n'
    const words = `[[plan:apply_patch${JSON.stringify({ input: 'PATCH' })};search_docs{"workdir":"a"}]]`
    const { items } = await turn([...BEFORE, message('user', freshPrompt(words))])
    expect(items).toMatchObject([
      { type: 'custom_tool_call', name: 'apply_patch', input: 'PATCH' },
      { type: 'function_call', name: 'search_docs', namespace: 'mcp__docs' },
    ])
    const [custom, call] = items
    const { response } = await turn([
      ...BEFORE,
      message('user', freshPrompt('[[say:Edited.]]')),
      ...[{ ...custom, input: patch }, call],
      { type: 'custom_tool_call_output', call_id: custom.call_id, name: 'apply_patch', output: 'Success.' },
      { type: 'function_call_output', call_id: call.call_id, output: 'Found.' },
    ])
    expect(response.output.at(-1).content[0].text).toBe('Edited.')
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages)).toContain('*** Begin Patch')
  })

  test('its tools may come in items, as newer agents send them, and later ones replace them', async () => {
    const exec = { type: 'custom', name: 'exec', description: 'Runs code.' }
    const adding = (...tools: Item[]) => ({ type: 'additional_tools', role: 'developer', id: 'at_1', tools })
    const functions = { type: 'namespace', name: 'functions', tools: [exec, { type: 'function', name: 'wait' }] }
    const found = {
      ...{ type: 'tool_search_output', call_id: 'call_s', status: 'completed', execution: 'client' },
      tools: [{ type: 'function', name: 'click', description: 'Old.' }],
    }
    const ask = message('user', freshPrompt('[[plan:exec{"input":"ls"};click{}]]'))
    const later = adding({ type: 'function', name: 'click', description: 'New.' })
    const { status, text } = await ada.send('POST', '/v1/responses', {
      ...{ ...TURN, tools: undefined },
      input: [adding(functions), ...BEFORE, found, later, ask],
    })
    expect(status).toBe(200)
    const { response } = JSON.parse(/event: response\.completed\ndata: (.+)/.exec(text)![1]!)
    expect(response.output).toMatchObject([
      { type: 'custom_tool_call', name: 'exec', namespace: 'functions', input: 'ls' },
      { type: 'function_call', name: 'click' },
    ])
    const offered = upstream.calls.at(-1)!.body.tools as { function: { name: string; description?: string } }[]
    expect(offered.map((tool) => tool.function.name)).toEqual(['exec', 'wait', 'click'])
    expect(offered[2]!.function.description).toBe('New.')
    const wrong = await ada.send('POST', '/v1/responses', { input: [adding('x' as never), ask] })
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'input[0].tools[0]' } } })
  })

  test('functions of two namespaces may have one name', async () => {
    const space = (name: string) => ({ type: 'namespace', name, tools: [{ type: 'function', name: 'search' }] })
    const input = [message('user', freshPrompt('[[plan:search{"q":1};two__search{"q":2}]]'))]
    const { status, body } = await ada.send('POST', '/v1/responses', { input, tools: [space('one'), space('two')] })
    expect(status).toBe(200)
    expect(body.output).toMatchObject([
      { type: 'function_call', name: 'search', namespace: 'one', arguments: '{"q":1}' },
      { type: 'function_call', name: 'search', namespace: 'two', arguments: '{"q":2}' },
    ])
  })

  test('searches of another server are told with all their questions', async () => {
    const search = {
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', queries: ['tides', 'moon'] },
    }
    const ask = message('user', freshPrompt('[[say:Hi.]]'))
    const { status } = await ada.send('POST', '/v1/responses', { input: [...BEFORE, search, ask] })
    expect(status).toBe(200)
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages)).toContain('Searched the web for: tides\\nmoon')
  })

  test('tools that this server does not have are named once and stop nothing (docs/api.md 33.6.5)', async () => {
    const { response, items } = await turn([...BEFORE, message('user', freshPrompt('[[say:Hi.]]'))])
    expect(items).toHaveLength(1)
    const warnings = response.svc_metadata.warnings.join('\n')
    for (const name of ['local_shell', 'tool_search', 'web_search', '"gpt-5-codex"']) expect(warnings).toContain(name)
  })

  test('a prompt that is too long has the code that makes it compact', async () => {
    const { status, body } = await ada.send('POST', '/v1/responses', {
      ...TURN,
      input: [message('user', '漢'.repeat(400_000))],
    })
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'context_length_exceeded' })
  })
})
