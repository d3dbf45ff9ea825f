import { describe, expect, test } from 'bun:test'
import { createOutbound } from '../../src/kernel/outbound'
import { listTools, newListBudget, runTool } from '../../src/tools/server-client'
import { createServers } from '../../src/tools/servers'
import { serveLocally } from '../support/listening'

type Message = { id?: number; method: string }
type Odd = { list?: object; call?: object; reply?: (message: Message, usual: object) => Response | undefined }

const outbound = createOutbound({ allow: ['127.0.0.1/32'] })
const FIND = { name: 'find', inputSchema: { type: 'object' } }
const ROW = { type: 'text', text: 'row B' }
const RESULTS: Record<string, object> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'own', version: '1' } },
  'tools/list': { tools: [FIND] },
  'tools/call': { content: [ROW] },
}

/** An MCP server whose answers are as given. */
function serverWith({ list, call, reply }: Odd) {
  const http = serveLocally(async (request) => {
    const message = (await request.json()) as Message
    const own = { 'tools/list': list, 'tools/call': call }[message.method]
    const usual = { jsonrpc: '2.0', id: message.id, result: own ?? RESULTS[message.method] }
    const odd = reply?.(message, usual)
    if (odd) return odd
    return message.id === undefined ? new Response(null, { status: 202 }) : Response.json(usual)
  })
  return { type: 'mcp' as const, server_label: 'own', server_url: `http://127.0.0.1:${http.port}/mcp` } as never
}

const signal = () => AbortSignal.timeout(5_000)
const namesOf = async (odd: Odd) => {
  const found = await listTools({ outbound }, serverWith(odd), newListBudget(), signal())
  return found.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
}
const resultOf = (odd: Odd) => runTool({ outbound }, serverWith(odd), 'find', {}, signal())

describe('MCP servers as they are', () => {
  test.each<[string, object, Record<string, unknown>]>([
    ['no schema', { name: 'find' }, { type: 'object' }],
    ['a schema without a type', { name: 'find', inputSchema: {} }, { type: 'object' }],
    ['null for a schema', { name: 'find', inputSchema: null }, { type: 'object' }],
    [
      'null and an empty list for what is empty (bricks-mcp#45)',
      { name: 'find', inputSchema: { type: 'object', properties: [], required: null } },
      { type: 'object', properties: {} },
    ],
    ['null for its words', { ...FIND, title: null, description: null, annotations: null }, { type: 'object' }],
    ['an output schema without a type', { ...FIND, outputSchema: { $ref: '#/x' } }, { type: 'object' }],
    ['other icons', { ...FIND, icons: 'find.png' }, { type: 'object' }],
  ])('a tool with %s is offered', async (_, tool, inputSchema) => {
    expect(await namesOf({ list: { tools: [tool] } })).toEqual([{ name: 'find', description: '', inputSchema }])
  })

  test.each([
    ['whose end is null', { tools: [FIND], nextCursor: null }, 1],
    ['whose end is an empty cursor', { tools: [FIND], nextCursor: '' }, 1],
    ['with something else among the tools', { tools: [7, { title: 'x' }, FIND] }, 1],
    ['that is null', { tools: null }, 0],
  ])('a list %s is read', async (_, list, count) => expect(await namesOf({ list })).toHaveLength(count))

  test.each<[string, object, unknown]>([
    ['only structured content (vercel/ai#20171)', { structuredContent: { row: 'B' } }, { row: 'B' }],
    ['structured content and an empty list (llama.cpp#26410)', { content: [], structuredContent: [1] }, [1]],
    ['a list as structured content (memos#6022)', { content: [{ ...ROW, text: '[1]' }], structuredContent: [1] }, [1]],
    [
      'facts beside the text (BrowserOS#1560)',
      { content: [ROW], structuredContent: { page: 1 } },
      ['row B', { page: 1 }],
    ],
    ['null for what is absent', { content: [ROW], structuredContent: null, isError: null }, 'row B'],
    ['an older wrapper (mcp-server-cloudflare#12)', { toolResult: { content: [ROW] } }, 'row B'],
    ['plain text', { content: 'row B' }, 'row B'],
    ['one part instead of a list', { content: ROW }, 'row B'],
    ['a number as text', { content: [{ type: 'text', text: 4 }] }, '4'],
    [
      'parts of unknown types',
      { content: [ROW, { type: 'chart' }, { type: 'image' }] },
      ['row B', '(chart)', '(image)'],
    ],
    [
      'an embedded file',
      { content: [{ type: 'resource', resource: { uri: 'file:///a.md', text: 'row B' } }] },
      'row B',
    ],
    ['nothing', { content: null }, []],
  ])('a result with %s is read', async (_, call, wanted) => expect(await resultOf({ call })).toEqual(wanted))

  test.each<[string, ResponseInit]>([
    ['text/plain', { headers: { 'content-type': 'text/plain' } }],
    ['no type', { headers: { 'content-type': '' } }],
    ['status 201', { status: 201 }],
  ])('an answer with %s is an answer', async (_, init) => {
    const reply: Odd['reply'] = ({ id }, usual) => (id === undefined ? undefined : Response.json(usual, init))
    expect(await resultOf({ reply })).toBe('row B')
  })

  test.each([
    ['no version', { serverInfo: { name: 'own' } }],
    ['a number as its version', { serverInfo: { name: 'own', version: 2 } }],
    ['nothing of itself', { serverInfo: undefined }],
    ['null for its abilities', { capabilities: null }],
    ['its abilities as a list', { capabilities: { tools: [] } }],
  ])('a server that states %s is used', async (_, odd) => {
    const reply: Odd['reply'] = ({ id, method }) =>
      method === 'initialize'
        ? Response.json({ jsonrpc: '2.0', id, result: { ...RESULTS[method], ...odd } })
        : undefined
    expect(await resultOf({ reply })).toBe('row B')
  })

  test.each([200, 400, 500])('the engine reads why a call failed, with status %i', async (status) => {
    const error = { code: -32602, message: 'title is required' }
    const reply: Odd['reply'] = ({ id, method }) =>
      method === 'tools/call' ? Response.json({ jsonrpc: '2.0', id, error }, { status }) : undefined
    await expect(resultOf({ reply })).rejects.toMatchObject({ data: expect.stringContaining('title is required') })
  })

  test.each([
    [401, 'refused the request; it needs its key in "headers"'],
    [503, 'could not be reached'],
  ])('a server that answers %i is named in a warning', async (status, words) => {
    const servers = createServers({ outbound })
    const around = { taken: [], allowed: [], guard: null, signal: signal() }
    const brought = await servers.bring([serverWith({ reply: () => Response.json({}, { status }) })], around as never)
    expect(brought.warnings).toEqual([`The MCP server "own" ${words}; its tools were left out.`])
  })
})
