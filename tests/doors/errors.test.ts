// SQLite only: a format only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld({ config: { voiceUrl: 'https://voice.example' } })
const ada = await world.person()
const CHAT = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 }

describe('what is wrong is named by its member, plain and streamed', () => {
  const id = crypto.randomUUID()
  const server = { type: 'url', name: 'one', url: 'https://tools.example/mcp' }
  const withServers = (...mcp_servers: object[]) => ({ ...CHAT, mcp_servers })
  const ofTools = { type: 'mcp', server_label: 'a', server_url: 'nope' }

  test.each([
    ['/completions', { prompt: 'Hello', conversation_id: id }, 404, 'conversation_id'],
    ['/chat/completions', { ...CHAT, conversation_id: id }, 404, 'conversation_id'],
    ['/messages', { ...CHAT, conversation_id: id }, 404, 'conversation_id'],
    ['/responses', { input: 'Hello', conversation_id: id }, 404, 'conversation_id'],
    ['/responses', { input: 'Hello', conversation: id }, 404, 'conversation'],
    ['/responses', { input: 'Hello', conversation: { id } }, 404, 'conversation'],
    ['/voice/token', { conversation_id: id }, 404, 'conversation_id'],
    ['/messages', withServers(server, { ...server, name: 'two', url: 'nope' }), 400, 'mcp_servers[1].url'],
    ['/messages', withServers({ ...server, url: 'http://u:p@tools.example' }), 400, 'mcp_servers[0].url'],
    ['/messages', withServers({ ...server, url: undefined }), 400, 'mcp_servers[0].url'],
    ['/messages', withServers({ ...server, authorization_token: 'a\nb' }), 400, 'mcp_servers[0].authorization_token'],
    ['/messages', withServers(server, server), 400, 'mcp_servers[1]'],
    ['/messages', withServers(...Array.from({ length: 5 }, () => server)), 400, 'mcp_servers'],
    ['/responses', { input: 'Hello', tools: [ofTools] }, 400, 'tools[0].server_url'],
    ['/chat/completions', { ...CHAT, tools: [ofTools] }, 400, 'tools[0].server_url'],
  ])('POST %s %j: %d %s', async (path, order, status, param) => {
    for (const stream of path.startsWith('/voice') ? [undefined] : [false, true]) {
      const reply = await ada.send('POST', `/api/v1${path}`, { ...order, stream })
      const { error } = reply.body
      const named = error.param ?? error.details.param
      expect({ stream, status: reply.status, param: named }).toEqual({ stream, status, param })
      if (path === '/messages') expect(error.message).not.toContain('"tools"')
    }
  })
})

test('an id in the path is no member: GET /conversations/{id}', async () => {
  const { status, body } = await ada.send('GET', `conversations/${crypto.randomUUID()}`)
  expect({ status, param: body.error.param }).toEqual({ status: 404, param: undefined })
})
