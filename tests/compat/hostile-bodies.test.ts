// SQLite only: what is refused before anything is stored.
import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld } from '../completions/upstream-world'
import { PIXEL } from '../support/pixel'

const { world } = await createUpstreamWorld({ isAlone: true })

const image = `data:image/png;base64,${PIXEL}`
const ITEMS = [
  { role: 'developer', content: 'Be brief.' },
  {
    ...{ type: 'message', role: 'user' },
    content: [
      { type: 'input_text', text: 'Hi' },
      { type: 'input_image', image_url: image, detail: 'low' },
      { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,aGVsbG8=' },
    ],
  },
  { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'x' },
  {
    role: 'assistant',
    content: [
      { type: 'output_text', text: 'Well' },
      { type: 'refusal', refusal: 'No.' },
    ],
  },
  { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'a' }] },
  { type: 'custom_tool_call', call_id: 'c2', name: 'c', input: 'x' },
  { type: 'custom_tool_call_output', call_id: 'c2', output: 'y' },
  { type: 'web_search_call', id: 'ws_1', action: { type: 'search', query: 'q' } },
  { type: 'mcp_call', id: 'mcp_1', server_label: 'own', name: 'n', arguments: '{}', output: 'o' },
  { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 'own', name: 'n', arguments: '{}' },
  { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
  { type: 'file_search_call', id: 'fs_1', queries: ['q'], results: [{ text: 't' }] },
  { type: 'code_interpreter_call', code: '1', outputs: [{ type: 'logs', logs: '1' }] },
  { type: 'local_shell_call', call_id: 'x', action: { command: ['ls'] } },
  { type: 'local_shell_call_output', id: 'x', output: 'a.txt' },
  { role: 'user', content: 'Go on.' },
]
const RESPONSE = {
  ...{ model: 'svc-1-flash', instructions: 'Be', max_output_tokens: 50, include: ['reasoning.encrypted_content'] },
  ...{ metadata: { a: 'b' }, stream_options: {}, context_management: [], prompt_cache_options: {} },
  ...{ reasoning: { effort: 'low', summary: 'auto' }, text: { format: { type: 'text' }, verbosity: 'low' } },
  tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
  tools: [
    { type: 'function', name: 'f', parameters: { type: 'object' }, strict: false },
    { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
    { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'g' }] },
    { type: 'web_search', filters: { allowed_domains: ['a.example'] }, search_context_size: 'low' },
    { type: 'file_search' },
  ],
  input: ITEMS,
}
const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }
const MESSAGE = {
  ...{ model: 'svc-1-flash', max_tokens: 4_000, temperature: 1, top_k: 1, stop_sequences: ['zzz'] },
  ...{ metadata: { user_id: 'u' }, system: [{ type: 'text', text: 'Be.', cache_control: { type: 'ephemeral' } }] },
  ...{ thinking: { type: 'enabled', budget_tokens: 1_024 }, output_config: { effort: 'low' } },
  tools: [
    { name: 'f', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 2, allowed_domains: ['a.example'] },
    { type: 'bash_20250124', name: 'bash' },
  ],
  tool_choice: { type: 'auto', disable_parallel_tool_use: false },
  messages: [
    {
      role: 'user',
      content: [
        ...[{ type: 'text', text: 'Hi' }, picture],
        { type: 'document', title: 't', source: { type: 'text', data: 'x' }, citations: { enabled: true } },
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x' }] } },
        { type: 'search_result', title: 't', source: 's', content: [{ type: 'text', text: 'x' }] },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 't', signature: 's' },
        { type: 'tool_use', id: 't1', name: 'f', input: { a: 'b' } },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [{ type: 'web_search_result', title: 't' }] },
        { type: 'mcp_tool_use', id: 'm', name: 'n', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'x' }, picture], is_error: true },
        { type: 'text', text: 'Go on.' },
      ],
    },
  ],
}

const APIS: [string, object][] = [
  ['/v1/responses', RESPONSE],
  ['/v1/responses/input_tokens', RESPONSE],
  ['/v1/messages', MESSAGE],
  ['/v1/messages/count_tokens', MESSAGE],
  ['/v1/conversations', { items: ITEMS, metadata: { a: 'b' } }],
]

type Path = readonly (string | number)[]

const isHolder = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function pathsOf(value: unknown, at: Path = []): Path[] {
  if (!isHolder(value)) return [at]
  const inside = Object.entries(value).flatMap(([name, member]) =>
    pathsOf(member, [...at, Array.isArray(value) ? Number(name) : name]),
  )
  return at.length ? [at, ...inside] : inside
}

function changed(value: unknown, [name, ...rest]: Path, to: unknown): unknown {
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>
  copy[name!] = rest.length ? changed(copy[name!], rest, to) : to
  return copy
}

const shown = (path: Path): string =>
  path
    .map((name) => (typeof name === 'number' ? `[${name}]` : `.${name}`))
    .join('')
    .slice(1)

/** What no member expects: an object without a text form, a list of nothing, too much of everything. */
const WRONG = [null, -1, '', 'y'.repeat(5_000), [null], [[1]], { type: { toString: 5 } }]

describe('a member of a wrong type is refused by its name, and nothing breaks', () => {
  test.each(APIS)(
    '%s',
    async (api, body) => {
      const eve = await world.person()
      expect((await eve.send('POST', api, body)).status).toBe(200)
      const faults: string[] = []
      for (const path of pathsOf(body))
        for (const value of WRONG) {
          const { status, body: answer } = await eve.send('POST', api, changed(body, path, value))
          if (status === 200) continue
          const { error } = answer
          const param = api.startsWith('/v1/messages') ? error.details.param : error.param
          const why = `${shown(path)} = ${JSON.stringify(value).slice(0, 40)}: ${status} ${param} ${error.message}`
          if (![400, 404].includes(status) || typeof param !== 'string' || !error.message) faults.push(why)
        }
      expect(faults).toEqual([])
    },
    240_000,
  )

  test.each([
    ['NUL', 'a\u0000b', 'NUL'],
    ['half of a surrogate pair', '\ud800', 'surrogate'],
  ])('%s is named by its place', async (_, text, words) => {
    const eve = await world.person()
    const content = [{ type: 'input_text', text }]
    const response = await eve.send('POST', '/v1/responses', { input: [{ role: 'user', content }] })
    expect({ status: response.status, ...response.body.error }).toMatchObject({
      ...{ status: 400, param: 'input[0].content[0].text', message: expect.stringContaining(words) },
    })
    const message = { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'text', text }] }] }
    expect((await eve.send('POST', '/v1/messages', message)).body).toMatchObject({
      ...{ type: 'error', request_id: expect.any(String) },
      error: { type: 'invalid_request_error', details: { param: 'messages[0].content[0].text' } },
    })
  })

  test('what is nested too deep or too large is named by its member', async () => {
    const eve = await world.person()
    let deep: unknown = 'x'
    for (let level = 0; level < 100; level++) deep = { type: 'namespace', name: 'n', tools: [deep] }
    const nested = await eve.send('POST', '/v1/responses', { input: 'Hi', tools: [deep] })
    expect({ status: nested.status, param: nested.body.error.param }).toEqual({ status: 400, param: 'tools' })
    const large = await eve.send('POST', '/v1/messages', { max_tokens: 9, messages: Array(200_000).fill(0) })
    expect({ status: large.status, param: large.body.error.details.param }).toEqual({ status: 400, param: 'messages' })
  })

  test.each([
    [
      'a tool that is none in a namespace',
      { tools: [{ type: 'namespace', name: 'n', tools: [null] }] },
      'tools[0].tools[0]',
    ],
    [
      'more tools than 128, those of namespaces among them',
      {
        tools: [
          {
            type: 'namespace',
            name: 'n',
            tools: Array.from({ length: 129 }, (_, at) => ({ type: 'function', name: `f${at}` })),
          },
        ],
      },
      'tools',
    ],
    [
      'a call without its result',
      { input: [{ role: 'user', content: 'Hi' }, { role: 'assistant', content: 'Yes' }, ITEMS[4]] },
      'input[2]',
    ],
    [
      'a picture in a result',
      {
        input: [
          { role: 'user', content: 'Hi' },
          ITEMS[4],
          { ...ITEMS[5], output: [{ type: 'input_image', image_url: 'x' }] },
        ],
      },
      'input[2].output[0].image_url',
    ],
    [
      'an address of a file that may not be called',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'http://127.0.0.1:1/x' }] }] },
      'input[0].content[0]',
    ],
    [
      'a label of a server',
      { tools: [{ type: 'mcp', server_label: 'A B', server_url: 'https://mcp.example' }] },
      'tools[0].server_label',
    ],
    ['an address of a server', { tools: [{ type: 'mcp', server_label: 'a', server_url: 'x' }] }, 'tools[0].server_url'],
    ['no question', { input: [{ role: 'assistant', content: 'Yes' }] }, 'input'],
  ])('%s', async (_, more, param) => {
    const eve = await world.person()
    const tools = [{ type: 'function', name: 'f' }]
    const { status, body } = await eve.send('POST', '/v1/responses', { input: 'Hi', tools, ...more })
    expect({ status, param: body.error?.param }).toEqual({ status: 400, param })
  })

  test.each([
    ['input', { input: [{ type: 'item_reference', id: 'msg_x' }] }],
    ['previous_response_id', { previous_response_id: 'resp_x' }],
    ['input[0].content[0]', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-x' }] }] }],
  ])('404 names what is unknown: %s', async (param, more) => {
    const { status, body } = await (await world.person()).send('POST', '/v1/responses', { input: 'Hi', ...more })
    expect({ status, param: body.error.param }).toEqual({ status: 404, param })
  })
})

describe('metadata: at most 16 members, whose names have 64 characters and texts 512', () => {
  const batch = { input_file_id: 'file-x', endpoint: '/v1/responses', completion_window: '24h' }
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`name-${at}`, 'x']))

  test.each([
    ['responses', { input: 'Hi', store: false }, 200],
    ['conversations', {}, 200],
    // Its file is unknown.
    ['batches', batch, 404],
  ])('%s', async (path, order, taken) => {
    const eve = await world.person()
    const send = async (metadata: object) => (await eve.send('POST', `/v1/${path}`, { ...order, metadata })).status
    const statuses = [
      await send({ ['n'.repeat(64)]: 'v'.repeat(512), 'two\nlines': '' }),
      await send({ ['n'.repeat(65)]: 'v' }),
      await send({ n: 'v'.repeat(513) }),
      await send({ n: 1 }),
      await send(many),
    ]
    expect(statuses).toEqual([taken, 400, 400, 400, 400])
  })
})
