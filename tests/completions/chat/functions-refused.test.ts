// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { type Refusal, refusals } from '../../support/refusals'
import type { Reply } from '../../support/world'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world, upstream } = await createUpstreamWorld()
const ada = await world.person()

const user = { role: 'user', content: 'hi' }
const offered = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } })
const look = offered('look', { description: 'Looks.', parameters: { type: 'object', properties: {} } })
const withSchema = (parameters: unknown) => ({ tools: [offered('look', { parameters })] })
const request = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })),
})
const found = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'seen' })
const history = (...messages: object[]) => ({ messages, tools: [look] })
/** An order for an answer in this form, whose engine says `said`. */
const inForm = (properties: object, message: object) => ({
  messages: [{ role: 'user', content: freshPrompt(`[[say:${JSON.stringify(message)}]]`) }],
  response_format: { type: 'json_schema', json_schema: { name: 'form', schema: { type: 'object', properties } } },
})
const allowed = (mode: string, ...names: string[]) => {
  const tools = names.map((name) => offered(name))
  return { tools: [look], tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools } } }
}
const custom = (name: string) => ({ type: 'custom', custom: { name } })
const begun = (call: object) => ({ messages: [{ role: 'assistant', tool_calls: [{ id: 'a', ...call }] }, user] })
const functions = [{ name: 'find' }]
const AT_V1 = { request: 'POST /v1/chat/completions' }
const nested = (depth: number): object => (depth ? { not: nested(depth - 1) } : {})

const TWICE = '"tools" has two functions named "look".'
const PARAMETERS = 'tools[0].function.parameters'
const REFUSED: Refusal[] = [
  ['a result of no call', history(user, found('c1')), '"messages[1].tool_call_id"'],
  [
    'a result without the id of its call',
    history(user, request('c1'), { role: 'tool', content: 'x' }),
    '"messages[2].tool_call_id"',
  ],
  [
    'a result of a call that has one',
    history(user, request('c1'), found('c1'), found('c1')),
    '"messages[3].tool_call_id"',
  ],
  ['a result before its call', history(user, found('c1'), request('c1')), '"messages[1].tool_call_id"'],
  ['a call without a result', history(user, request('c1')), '"messages[1].tool_calls[0]"'],
  ['one of two calls without a result', history(user, request('c1', 'c2'), found('c1')), '"messages[1].tool_calls[1]"'],
  ['a call the user talks over', history(user, request('c1'), user, found('c1')), '"messages[1].tool_calls[0]"'],
  ['two calls of one id', history(user, request('c1', 'c1'), found('c1')), '"messages[1].tool_calls[1].id"'],
  [
    'a call without a name',
    history(user, { role: 'assistant', tool_calls: [{ id: 'c1' }] }),
    '"messages[1].tool_calls[0].function"',
  ],
  ['two functions of one name', { tools: [look, look] }, TWICE, { param: 'tools[1].function.name' }],
  ['a function without a name', { tools: [{ type: 'function', function: {} }] }, '"tools[0].function.name"'],
  ['a function without anything', { tools: [{ type: 'function' }] }, '"tools[0].function"'],
  [
    'two flat functions of one name',
    { tools: [look, { type: 'function', name: 'look' }] },
    TWICE,
    { param: 'tools[1].name' },
  ],
  [
    'a flat choice of one that is not there',
    { tools: [look], tool_choice: { type: 'tool', name: 'jump' } },
    '"tool_choice"',
  ],
  ['a name with a space', { tools: [offered('a b')] }, '"tools[0].function.name"'],
  ['a name of 65 letters', { tools: [offered('a'.repeat(65))] }, '"tools[0].function.name"'],
  ['129 functions', { tools: Array.from({ length: 129 }, (_, at) => offered(`f${at}`)) }, '"tools"'],
  ['tools that are an object', { tools: {} }, '"tools"'],
  ['a tool of another kind', { tools: [{ ...look, type: 'retrieval' }] }, '"tools[0].type"'],
  ['a choice nobody knows', { tools: [look], tool_choice: 'sometimes' }, '"tool_choice"'],
  ['a choice of one that is not there', { tools: [look], tool_choice: offered('jump') }, '"tool_choice"'],
  ['a choice of nothing', { tools: [look], tool_choice: { type: 'function' } }, '"tool_choice.function"'],
  ['parameters that are a list', withSchema([]), `"${PARAMETERS}"`],
  ['parameters of another type', withSchema({ type: 'string' }), `"${PARAMETERS}.type"`],
  ['a type nobody knows', withSchema({ properties: { a: { type: 'text' } } }), `"${PARAMETERS}.properties.a.type"`],
  ['required that is a word', withSchema({ required: 'a' }), `"${PARAMETERS}.required"`],
  [
    'a pattern that is none',
    withSchema({ properties: { a: { pattern: '(' } } }),
    `"${PARAMETERS}.properties.a.pattern"`,
  ],
  [
    'a pattern of 1,001 letters',
    withSchema({ properties: { a: { pattern: 'a'.repeat(1_001) } } }),
    `"${PARAMETERS}.properties.a.pattern"`,
  ],
  [
    'a reference to elsewhere',
    withSchema({ properties: { a: { $ref: 'https://example.com/s.json' } } }),
    `"${PARAMETERS}.properties.a.$ref"`,
  ],
  ['a reference to a file', withSchema({ $ref: 'file:///etc/passwd' }), `"${PARAMETERS}.$ref"`],
  [
    'a reference to nothing',
    withSchema({ properties: { a: { $ref: '#/$defs/b' } } }),
    `"${PARAMETERS}.properties.a.$ref"`,
  ],
  ['a schema 40 deep', withSchema(nested(40)), 'is nested deeper', { param: PARAMETERS + '.not'.repeat(33) }],
  ['a schema of 40 KB', withSchema({ description: 'x'.repeat(40_000) }), `"${PARAMETERS}"`],
  [
    'a format that refers to elsewhere',
    { response_format: { type: 'json_schema', json_schema: { schema: { $ref: 'https://example.com/s' } } } },
    '"response_format.json_schema.schema.$ref"',
  ],
  ['tools that are allowed and not there', allowed('auto', 'look', 'jump'), '"tool_choice"'],
  ['no tools that are allowed', allowed('auto'), '"tool_choice.allowed_tools.tools"'],
  ['a way to allow them that nobody knows', allowed('none', 'look'), '"tool_choice.allowed_tools.mode"'],
  ['calls side by side that are a word', { tools: [look], parallel_tool_calls: 'no' }, '"parallel_tool_calls"'],
  ['a custom tool without a name', { tools: [{ type: 'custom', custom: {} }] }, '"tools[0].custom.name"', AT_V1],
  ['a custom tool without anything', { tools: [{ type: 'custom' }] }, '"tools[0].custom"', AT_V1],
  ['a custom name with blanks', { tools: [custom('a b')] }, '"tools[0].custom.name"', AT_V1],
  [
    'a custom name used twice',
    { tools: [custom('look'), offered('look')] },
    TWICE,
    { ...AT_V1, param: 'tools[1].function.name' },
  ],
  ['a choice of another custom tool', { tools: [custom('look')], tool_choice: custom('x') }, '"tool_choice"', AT_V1],
  ['a custom call without its input', begun({ type: 'custom' }), '"messages[0].tool_calls[0].custom"', AT_V1],
  ['a call without its function', begun({}), '"messages[0].tool_calls[0].function"', AT_V1],
  ['an older function without a name', { functions: [{}] }, '"functions[0].name"', AT_V1],
  ['a choice of no older function', { functions, function_call: { name: 'none' } }, '"tool_choice"', AT_V1],
  ['an older choice nobody knows', { functions, function_call: 'any' }, '"function_call"', AT_V1],
]

const table = {
  ...{ world, as: ada, request: 'POST chat/completions', body: { messages: [user] } },
  also: ({ body }: Reply) => expect(body.error.message.length).toBeLessThan(600),
}
const streamed = { ...table, body: { messages: [user], stream: true } }
refusals('POST /chat/completions refuses', table, REFUSED)
refusals('POST /chat/completions refuses before a stream begins', streamed, REFUSED)
test('none of them reaches an engine', () => expect(upstream.calls).toHaveLength(0))

describe('POST /chat/completions takes', () => {
  const TAKEN: [string, object][] = [
    ['no parameters', { tools: [offered('look'), offered('see', { parameters: null, description: null })] }],
    ['a pattern only the client can run', withSchema({ properties: { a: { pattern: '^(?!\\.)[\\w+-]+@[\\w-]+$' } } })],
    [
      'keywords of older drafts',
      withSchema({
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { b: {} },
        properties: { a: { $ref: '#/definitions/b' } },
      }),
    ],
    ['members nobody knows', { tools: [{ ...look, strict: true, cache: 1 }], parallel_tool_calls: false }],
    ['no tools at all', { tools: [], tool_choice: 'auto' }],
  ]
  test.each(TAKEN)('%s', async (_, input) => {
    const { status } = await ada.send('POST', 'chat/completions', {
      ...input,
      messages: [{ role: 'user', content: freshPrompt() }],
    })
    expect(status).toBe(200)
  })

  test('a format whose patterns look ahead at their beginning, and checks them', async () => {
    const email = { type: 'string', pattern: '^(?!\\.)(?!.*\\.\\.)[\\w+.-]+@[\\w.-]+$' }
    const password = { type: 'string', pattern: '^(?=.*[0-9])[A-Za-z0-9]{8,}$' }
    const answer = async (message: object) =>
      (await ada.send('POST', 'chat/completions', inForm({ email, password }, message))).body.choices[0].message
    expect((await answer({ email: 'ada@example.com', password: 'hunter22' })).content).toContain('ada@example.com')
    expect((await answer({ email: 'ada@example.com', password: 'ab' })).refusal).toContain('password')
    expect((await answer({ email: 'ada@example.com', password: 'abcdefgh' })).refusal).toContain('password')
    expect((await answer({ email: 'a..da@example.com', password: 'hunter22' })).refusal).toContain('email')
  })

  test('no format with a pattern that cannot be checked: it would not be valid against the schema', async () => {
    for (const pattern of ['(a)\\1', 'a(?=b)', '(?!)', '^(?=a)b|c']) {
      const { status, body } = await ada.send('POST', 'chat/completions', inForm({ a: { pattern } }, { a: 'b' }))
      expect({ pattern, status, param: body.error?.param }).toEqual({
        pattern,
        status: 400,
        param: 'response_format.json_schema.schema.properties.a.pattern',
      })
    }
  })

  test('results of tools in a request without tools, and ignores them', async () => {
    upstream.reset()
    const messages = [
      { role: 'user', content: 'one' },
      found('c9'),
      request('c1'),
      { role: 'user', content: freshPrompt() },
      found('c1'),
    ]
    for (const tool_choice of ['required', 'zzz', { type: 'zzz' }, { type: 'function' }])
      expect((await ada.send('POST', 'chat/completions', { messages, tool_choice })).status).toBe(200)
    const sent = upstream.calls[0]!.body
    expect(JSON.stringify(sent)).not.toContain('seen')
    expect(sent).not.toHaveProperty('tools')
    expect(sent).not.toHaveProperty('tool_choice')
  })

  test('results beside tools, and hands them on by the names of their calls', async () => {
    upstream.reset()
    const messages = [{ role: 'user', content: freshPrompt() }, request('c1', 'c2'), found('c2'), found('c1')]
    const { body } = await ada.send('POST', 'chat/completions', { messages, tools: [look] })
    expect(body.choices[0].finish_reason).toBe('stop')
    const sent = upstream.calls[0]!.body.messages as { role: string; tool_call_id?: string }[]
    expect(sent.slice(-2).map(({ role, tool_call_id }) => [role, tool_call_id])).toEqual([
      ['tool', 'c2'],
      ['tool', 'c1'],
    ])
  })
})
