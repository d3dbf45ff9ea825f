// SQLite only: what calls of MCP servers show and how they are allowed, which no database sees.
import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { startOwnServer } from '../support/mcp-servers'
import { responses } from './formats'

const own = startOwnServer('Seven.')
own.state.offered = ['count', 'drop'].map((name) => ({ name, description: 'Counts.', inputSchema: { type: 'object' } }))
const { world, upstream } = await createUpstreamWorld({ config: { egressAllow: '127.0.0.1/32' } })
const ada = await world.person()

const server = { type: 'mcp', server_label: 'own', server_url: own.url }
const CALL = '[[plan:own__count{"n":1}]] [[say:Seven.]]'
type Item = Record<string, unknown>

async function respond(words: string, more: object, before: Item[] = []) {
  const input = [...before, { role: 'user', content: freshPrompt(words) }]
  const { status, body, text } = await ada.send('POST', '/v1/responses', { model: 'svc-1-flash', input, ...more })
  expect({ status, error: body?.error }).toMatchObject({ status: 200 })
  return { body, text }
}
const types = (output: Item[]) => output.map(({ type }) => type)
const sentTools = () =>
  (upstream.calls.at(-1)!.body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)

describe('a call of an MCP server that asks (docs/api.md 29.6)', () => {
  test('is an item of its own, which is not run; the same in a stream, and when it is read again', async () => {
    const calls = own.state.heard.calls.length
    const { body } = await respond(CALL, { tools: [server] })
    const asking = {
      ...{ id: expect.stringMatching(/^mcpr_\w{24}$/), type: 'mcp_approval_request' },
      ...{ server_label: 'own', name: 'count', arguments: '{"n":1}' },
    }
    expect(body.output).toEqual([asking])
    expect(own.state.heard.calls.length).toBe(calls)
    const { text } = await respond(CALL, { tools: [server], stream: true })
    responses.readStream(text)
    expect(text).not.toContain('function_call')
    const whole = JSON.parse(/event: response\.completed\ndata: (.+)/.exec(text)![1]!).response
    expect(whole.output).toEqual([asking])
    const again = await ada.send('GET', `responses/${whole.id}?stream=true`)
    expect(JSON.parse(/event: response\.completed\ndata: (.+)/.exec(again.text)![1]!).response.output).toEqual(
      whole.output,
    )
  })

  test('runs once it is allowed, after a stored response or with the items themselves', async () => {
    const first = await respond(CALL, { tools: [server] })
    const [request] = first.body.output
    const yes = { type: 'mcp_approval_response', approval_request_id: request.id, approve: true }
    for (const [more, before] of [
      [{ previous_response_id: first.body.id }, [yes]],
      [{ store: false }, [{ role: 'user', content: 'Count.' }, request, yes]],
    ] as const) {
      const { body } = await respond(CALL, { tools: [server], ...more }, [...before])
      expect(types(body.output)).toEqual(['mcp_call', 'message'])
      expect(body.output[0]).toMatchObject({ status: 'completed', output: expect.stringContaining('Seven.') })
    }
  })

  test('does not run with other arguments than those allowed, nor when it was refused', async () => {
    const { body: first } = await respond(CALL, { tools: [server] })
    const answer = { type: 'mcp_approval_response', approval_request_id: first.output[0].id }
    const ask = { tools: [server], previous_response_id: first.id }
    const calls = own.state.heard.calls.length
    const other = await respond('[[plan:own__count{"n":2}]] [[say:No.]]', ask, [{ ...answer, approve: true }])
    expect(other.body.output[0]).toMatchObject({ type: 'mcp_call', status: 'failed' })
    expect(other.body.output[0].error).toContain('with other arguments')
    const refused = await respond(CALL, ask, [{ ...answer, approve: false, reason: 'Too dear.' }])
    expect(types(refused.body.output)).toEqual(['mcp_approval_request'])
    expect(JSON.stringify(upstream.calls.at(-1)!.body.messages)).toContain('Too dear.')
    expect(own.state.heard.calls.length).toBe(calls)
  })

  test('an answer to an unknown call is refused with its path', async () => {
    const input = [{ type: 'mcp_approval_response', approval_request_id: 'mcpr_x', approve: true }]
    const { status, body } = await ada.send('POST', '/v1/responses', { input, tools: [server] })
    expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'input[0].approval_request_id' })
  })
})

describe('a server as clients name it (docs/api.md 29.5)', () => {
  test.each([
    [
      'some tools run without asking',
      { require_approval: { never: { tool_names: ['count'] } } },
      ['mcp_call', 'message'],
    ],
    ['none does', { require_approval: { always: { tool_names: ['count'] } } }, ['mcp_approval_request']],
    ['all do', { require_approval: 'never' }, ['mcp_call', 'message']],
  ])('%s', async (_, more, kinds) => {
    const { body } = await respond(CALL, { tools: [{ ...server, server_description: 'Ours.', ...more }] })
    expect(types(body.output)).toEqual(kinds)
  })

  test('its filter, and the token of its user, which nobody is shown', async () => {
    const tool = { ...server, allowed_tools: { tool_names: ['count'] }, authorization: 'tok-1' }
    const { body } = await respond('Hello', { tools: [tool] })
    expect(sentTools()).toEqual(['own__count'])
    expect(own.state.heard.headers.get('authorization')).toBe('Bearer tok-1')
    expect(JSON.stringify(body)).not.toContain('tok-1')
  })

  test('may be demanded', async () => {
    await respond('Hello', { tools: [server], tool_choice: { type: 'mcp', server_label: 'own', name: 'drop' } })
    expect(upstream.calls.at(-1)!.body.tool_choice).toEqual({ type: 'function', function: { name: 'own__drop' } })
    await respond('Hello', { tools: [server], tool_choice: { type: 'mcp', server_label: 'own' } })
    expect(upstream.calls.at(-1)!.body.tool_choice).toBe('required')
  })
})
