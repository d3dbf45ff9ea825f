// SQLite only: what tools of this server show in each format, which no database sees.
import { afterAll, describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { startOwnServer } from '../support/mcp-servers'
import { createWorld } from '../support/world'
import { messages, responses } from './formats'

const PAGES = [
  { title: 'Oslo', url: 'https://weather.example/oslo', content: 'Snow in Oslo.' },
  { title: 'Rome', url: 'https://news.example/rome', content: 'Sun in Rome.' },
]
const searxng = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ results: PAGES }) })
afterAll(() => searxng.stop(true))
const own = startOwnServer('Seven.')
own.state.offered = [{ name: 'count', description: 'Counts.', inputSchema: { type: 'object' } }]
const config = { egressAllow: '127.0.0.1/32', searchDriver: 'searxng' as const, searchBaseUrl: searxng.url.origin }
const { world, upstream } = await createUpstreamWorld({ config })
const ada = await world.person()

const SEARCH = '[[plan:web_search{"query":"snow"}]] [[say:See https://weather.example/oslo for more.]]'
const model = 'svc-1-flash'

const respond = (words: string, more: object) =>
  ada.send('POST', '/v1/responses', { model, input: freshPrompt(words), ...more })
const message = (words: string, more: object) =>
  ada.send('POST', '/v1/messages', {
    model,
    max_tokens: 500,
    messages: [{ role: 'user', content: freshPrompt(words) }],
    ...more,
  })
const lastTools = () =>
  (upstream.calls.at(-1)!.body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)

describe('web_search of a response (docs/api.md 29.5)', () => {
  test('runs here beside functions of the client, and is an item with sources and citations', async () => {
    const tools = [
      { type: 'web_search' },
      { type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } },
    ]
    const { status, body } = await respond(SEARCH, { tools, include: ['web_search_call.action.sources'] })
    expect({ status, error: body.error }).toEqual({ status: 200, error: null })
    expect(lastTools()).toEqual(['web_search', 'get_weather'])
    const [search, answer] = body.output
    expect(search).toMatchObject({
      id: expect.stringMatching(/^ws_\w{24}$/),
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: 'snow', sources: PAGES.map(({ url }) => ({ type: 'url', url })) },
    })
    const [part] = answer.content
    const [{ start_index, end_index, ...citation }] = part.annotations
    expect(citation).toEqual({ type: 'url_citation', url: PAGES[0]!.url, title: 'Oslo' })
    expect(part.text.slice(start_index, end_index)).toBe(PAGES[0]!.url)
  })

  test('streams the same item, and is stored and shown again', async () => {
    const { text } = await respond(SEARCH, { tools: [{ type: 'web_search_preview' }], stream: true })
    expect(responses.readStream(text).text).toContain('weather.example')
    const steps = [...text.matchAll(/event: (response\.(?:web_search_call|output_text\.annotation)\.\w+)/g)]
    expect(steps.map(([, name]) => name)).toEqual([
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
      'response.output_text.annotation.added',
    ])
    const { id, output } = JSON.parse(/event: response\.completed\ndata: (.+)/.exec(text)![1]!).response
    const again = await ada.send('GET', `responses/${id}?stream=true`)
    expect(JSON.parse(/event: response\.completed\ndata: (.+)/.exec(again.text)![1]!).response.output).toEqual(output)
    expect([...again.text.matchAll(/annotation\.added/g)].length).toBeGreaterThan(0)
    expect((await respond('And now?', { previous_response_id: id })).status).toBe(200)
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages)).toContain('Searched the web for: snow')
  })

  test('keeps to the domains of the request', async () => {
    await respond(SEARCH, { tools: [{ type: 'web_search', filters: { allowed_domains: ['news.example'] } }] })
    const sent = JSON.stringify(upstream.calls.at(-1)!.body.messages)
    expect(sent).toContain('Sun in Rome.')
    expect(sent).not.toContain('Snow in Oslo.')
  })

  test('is called first where the choice names it, and not at all for "none"', async () => {
    await respond('hi', { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } })
    expect(upstream.calls.at(-1)!.body.tool_choice).toEqual({ type: 'function', function: { name: 'web_search' } })
    await respond('hi', { tools: [{ type: 'web_search' }], tool_choice: 'none' })
    expect(upstream.calls.at(-1)!.body.tools).toBeUndefined()
  })

  test('"max_tool_calls" bounds it', async () => {
    const words = '[[plan:web_search{"query":"a"}|web_search{"query":"b"}]] [[say:Done.]]'
    const { body } = await respond(words, { tools: [{ type: 'web_search' }], max_tool_calls: 1 })
    expect(body.output.filter(({ type }: { type: string }) => type === 'web_search_call')).toHaveLength(1)
    expect(body.max_tool_calls).toBe(1)
  })

  test('without a search it is left out with a warning, and refused where the choice demands it', async () => {
    const eve = await (await createWorld()).person()
    const ask = { model, input: 'Hello', tools: [{ type: 'web_search' }] }
    const { status, body } = await eve.send('POST', '/v1/responses', ask)
    expect({ status, warning: body.svc_metadata.warnings.join() }).toEqual({
      status: 200,
      warning: expect.stringContaining('web_search was left out'),
    })
    const named = await eve.send('POST', '/v1/responses', { ...ask, tool_choice: { type: 'web_search' } })
    expect({ status: named.status, param: named.body.error.param }).toEqual({ status: 400, param: 'tool_choice' })
  })
})

describe('text before and after a call (docs/api.md 29.6, 30.3, 33.6.14)', () => {
  const words = `[[while:Let me look.]] [[think:Hm.]] ${SEARCH}`

  test('is an item each, in order, plain and streamed alike', async () => {
    const more = { tools: [{ type: 'web_search' }], reasoning: { summary: 'auto' } }
    const shown = (output: { type: string; content?: { text: string }[]; summary?: { text: string }[] }[]) =>
      output.map(({ type, content, summary }) => [type, (content ?? summary)?.map(({ text }) => text).join()])
    const plain = await respond(words, more)
    expect(shown(plain.body.output)).toEqual([
      ['reasoning', 'Hm.'],
      ['message', 'Let me look.'],
      ['web_search_call', undefined],
      ['reasoning', 'Hm.'],
      ['message', 'See https://weather.example/oslo for more.'],
    ])
    const { text } = await respond(words, { ...more, stream: true })
    const whole = JSON.parse(/event: response\.completed\ndata: (.+)/.exec(text)![1]!).response
    expect(shown(whole.output)).toEqual(shown(plain.body.output))
  })

  test('is a block each', async () => {
    const more = { tools: [{ type: 'web_search_20250305', name: 'web_search' }], thinking: { type: 'adaptive' } }
    const { body } = await message(words, more)
    const kinds = ['thinking', 'text', 'server_tool_use', 'web_search_tool_result', 'thinking', 'text']
    expect(body.content.map(({ type }: { type: string }) => type)).toEqual(kinds)
    expect({ before: body.content[1].text, after: body.content[5].text }).toEqual({
      before: 'Let me look.',
      after: 'See https://weather.example/oslo for more.',
    })
    const { text } = await message(words, { ...more, stream: true })
    messages.readStream(text)
    const begun = [...text.matchAll(/content_block_start\ndata: (.+)/g)].map(([, data]) => JSON.parse(data!))
    expect(begun.map(({ content_block }) => content_block.type)).toEqual(kinds)
    expect(text).not.toContain('"text":"\\n\\n"')
  })
})

test('a call of an MCP server is an item (docs/api.md 29.6)', async () => {
  const tools = [{ type: 'mcp', server_label: 'own', server_url: own.url, require_approval: 'never' }]
  const { body } = await respond('[[plan:own__count{"n":1}]] [[say:Seven.]]', { tools })
  expect(body.output[0]).toMatchObject({
    type: 'mcp_call',
    server_label: 'own',
    name: 'count',
    arguments: '{"n":1}',
    output: expect.stringContaining('Seven.'),
    error: null,
  })
})

describe('web_search and web_fetch of a message (docs/api.md 30.2)', () => {
  const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 1 }]
  const result = PAGES.map(({ title, url, content }) => ({
    type: 'web_search_result',
    ...{ title, url, encrypted_content: content, page_age: null },
  }))

  test('are blocks of the server, plain and streamed', async () => {
    const { status, body } = await message(SEARCH, { tools })
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
    const [use, found, answer] = body.content
    expect(use).toEqual({
      type: 'server_tool_use',
      id: expect.any(String),
      name: 'web_search',
      input: { query: 'snow' },
    })
    expect(found).toEqual({ type: 'web_search_tool_result', tool_use_id: use.id, content: result })
    expect(answer.text).toContain('weather.example')
    expect(body.usage.server_tool_use).toEqual({ web_search_requests: 1, web_fetch_requests: 0 })
    const { text } = await message(SEARCH, { tools, stream: true })
    expect(messages.readStream(text).text).toContain('weather.example')
    expect(text).toContain('"web_search_tool_result"')
    // The client gives them back.
    await message('Next', {
      tools,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: body.content },
        { role: 'user', content: freshPrompt('Next') },
      ],
    })
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages)).toContain('Snow in Oslo.')
  })

  test('beyond "max_uses" the engine gets an error', async () => {
    const words = '[[plan:web_search{"query":"a"}|web_search{"query":"b"}]] [[say:Done.]]'
    const { body } = await message(words, { tools })
    const [, , , second] = body.content
    expect(second.content).toEqual({ type: 'web_search_tool_result_error', error_code: 'unavailable' })
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages)).toContain('at most 1 times')
  })

  test('a page outside the domains is not fetched', async () => {
    const fetching = [{ type: 'web_fetch_20250910', name: 'web_fetch', allowed_domains: ['weather.example'] }]
    await message('[[plan:web_fetch{"url":"https://news.example/rome"}]] [[say:No.]]', { tools: fetching })
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages)).toContain('does not allow pages')
    const wrong = await message('hi', { tools: [{ ...tools[0], max_uses: 0 }] })
    expect({ status: wrong.status, param: wrong.body.error.details.param }).toEqual({
      status: 400,
      param: 'tools[0].max_uses',
    })
  })
})
