// SQLite only: servers are asked, and no row of theirs is kept.
import { beforeEach, describe, expect, test } from 'bun:test'
import { freePort } from '../../support/free-port'
import { startOwnServer } from '../../support/mcp-servers'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world, upstream } = await createUpstreamWorld({ config: { egressAllow: '127.0.0.1/32' } })
const ada = await world.person()
const own = startOwnServer('High water is at noon.')
const { state } = own
const inputSchema = { type: 'object' as const }
state.offered = ['tides', 'pay'].map((name) => ({ name, description: 'Does it.', inputSchema }))

const OWN = { type: 'mcp', server_label: 'own', server_url: own.url }
const NEVER = { ...OWN, require_approval: 'never' }
const LOOK = { type: 'function', function: { name: 'look', description: 'Looks.' } }
const GONE = { ...OWN, server_label: 'gone', server_url: `http://127.0.0.1:${await freePort()}/mcp` }

/** A chat whose engine calls what the plan says; its turns are separated by `|`. */
async function ask(plan: string, tools: object[], more: object = {}) {
  upstream.reset()
  const messages = [{ role: 'user', content: freshPrompt(plan ? `[[plan:${plan}]]` : 'Hello') }]
  const { status, body } = await ada.send('POST', 'chat/completions', {
    model: 'svc-1-flash',
    messages,
    tools,
    ...more,
  })
  const choice = body.choices?.[0]
  const sent = upstream.calls.map(({ body: request }) => request as { tools?: { function: { name: string } }[] })
  const names = sent.map(({ tools: offered = [] }) => offered.map(({ function: { name } }) => name))
  return { status, body, choice, calls: choice?.message.tool_calls, meta: body.svc_metadata, sent, names }
}

beforeEach(() => {
  state.heard.calls.length = 0
})

describe('MCP servers among the tools of a chat (docs/api.md 28.2)', () => {
  test('"never" runs a call here, and the answer is one without calls', async () => {
    const { choice, calls, meta, sent } = await ask('own__tides{}', [NEVER])
    expect({ finishReason: choice.finish_reason, calls }).toEqual({ finishReason: 'stop', calls: undefined })
    expect(meta.tools_used).toMatchObject([{ name: 'own__tides', status: 'success' }])
    expect(JSON.stringify(sent.at(-1))).toContain('High water is at noon.')
    expect(state.heard.calls).toHaveLength(1)
  })

  test('without a word about approval a call is handed to the client, who runs it or approves it', async () => {
    const waiting = await ask('own__pay{"cents":5}', [OWN])
    expect(waiting.choice.finish_reason).toBe('tool_calls')
    expect(waiting.calls).toMatchObject([{ function: { name: 'own__pay', arguments: '{"cents":5}' } }])
    expect(state.heard.calls).toEqual([])
    const messages = [
      { role: 'user', content: freshPrompt('Pay it') },
      { role: 'assistant', content: null, tool_calls: waiting.calls },
      { role: 'tool', tool_call_id: waiting.calls[0].id, content: 'paid' },
    ]
    expect(await ask('', [OWN], { messages })).toMatchObject({ status: 200, choice: { finish_reason: 'stop' } })
    const approved = await ask('own__pay{}', [OWN], { metadata: { approved_tools: ['own__pay'] } })
    expect(approved.meta.tools_used).toMatchObject([{ name: 'own__pay', status: 'success' }])
    expect(state.heard.calls).toHaveLength(1)
  })

  test('beside functions: a server tool runs here first, then the call of a function ends the turn', async () => {
    const { choice, calls, meta, names } = await ask('own__tides{}|look{}', [LOOK, NEVER])
    expect(names[0]!.toSorted()).toEqual(['look', 'own__pay', 'own__tides'])
    expect(meta.tools_used).toMatchObject([{ name: 'own__tides' }])
    expect(choice.finish_reason).toBe('tool_calls')
    expect(calls[0].function.name).toBe('look')
  })

  test('a stream shows the calls of the client, and runs those of servers', async () => {
    const stream = async (plan: string, tools: object[]) => {
      const messages = [{ role: 'user', content: freshPrompt(`[[plan:${plan}]]`) }]
      return ada.send('POST', 'chat/completions', { messages, tools, stream: true })
    }
    expect((await stream('own__pay{}', [OWN])).text).toContain('"finish_reason":"tool_calls"')
    expect((await stream('own__tides{}', [NEVER])).text).toContain('"finish_reason":"stop"')
    expect(state.heard.calls).toHaveLength(1)
  })

  test('"tool_choice" holds for tools of servers', async () => {
    const required = await ask('own__tides{}', [NEVER], { tool_choice: 'required' })
    expect(required.sent.map((body) => (body as { tool_choice?: string }).tool_choice)).toEqual(['required', 'auto'])
    const named = { type: 'function', function: { name: 'own__tides' } }
    expect((await ask('own__tides{}', [NEVER], { tool_choice: named })).status).toBe(200)
    const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [named] } }
    expect((await ask('', [NEVER], { tool_choice: allowed })).names).toEqual([['own__tides']])
    const none = { type: 'function', function: { name: 'own__nothing' } }
    expect((await ask('', [NEVER], { tool_choice: none })).body.error).toMatchObject({ param: 'tool_choice' })
    expect((await ask('own__tides{}', [NEVER], { tool_choice: 'none' })).meta.tools_used).toEqual([])
  })

  test('a server that cannot be reached brings a warning; with "required" and no other, 400 and nothing is charged', async () => {
    const { status, meta } = await ask('', [GONE, NEVER])
    expect(status).toBe(200)
    expect(meta.warnings).toEqual([expect.stringContaining('could not be reached')])
    const before = (await ada.send('GET', 'usage')).body
    const refused = await ask('', [GONE], { tool_choice: 'required' })
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'validation_error', param: 'tools' } } })
    expect(upstream.calls).toEqual([])
    expect((await ada.send('GET', 'usage')).body.totals).toEqual(before.totals)
    expect((await ask('', [GONE, NEVER], { tool_choice: 'required' })).status).toBe(200)
  })

  test('a request has at most 128 tools, functions among them', async () => {
    const functions = Array.from({ length: 127 }, (_, at) => ({ type: 'function', function: { name: `f${at}` } }))
    const { names, meta } = await ask('', [...functions, OWN])
    expect(names[0]).toHaveLength(128)
    expect(meta.warnings).toEqual([expect.stringContaining('1 of the MCP servers')])
  })

  test.each([
    ['five servers', Array.from({ length: 5 }, (_, at) => ({ ...OWN, server_label: `s${at}` }))],
    ['a private address', [{ ...OWN, server_url: 'http://10.0.0.1/mcp' }]],
    ['a server without an address', [{ type: 'mcp', server_label: 'own' }]],
  ])('%s: 400', async (_, tools) => {
    expect((await ask('', tools)).status).toBe(400)
  })
})
