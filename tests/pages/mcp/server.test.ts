// SQLite only: the tools are calls of the API, which is tried on both databases.
import { afterAll, describe, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { eventually } from '../../support/eventually'
import { listen } from '../../support/listening'
import { startResearchSite } from '../../support/research-site'
import { createWorld } from '../../support/world'

const site = startResearchSite()
afterAll(() => site.stop())
const world = await createWorld({
  config: { egressAllow: '127.0.0.1/32', searchDriver: 'searxng', searchBaseUrl: site.origin },
})
const { origin } = listen(world)

const overHttp = async (key: string) => {
  const client = new Client({ name: 'test', version: '1' })
  const headers = { authorization: `Bearer ${key}` }
  // The transport's own types leave no member undefined.
  const transport = new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit: { headers } })
  await client.connect(transport as never)
  return client
}

const overStdio = async (key: string) => {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['client/svc.ts', 'mcp'],
    env: { ...(process.env as Record<string, string>), SVC_API_KEY: key, SVC_BASE_URL: origin },
    stderr: 'pipe',
  })
  await client.connect(transport)
  return client
}

const textOf = (result: unknown): string => {
  const { content } = result as { content: { type: string; text: string }[] }
  expect(content.map(({ type }) => type)).toEqual(['text'])
  return content[0]!.text
}

describe.each([
  ['streamable HTTP', overHttp],
  ['stdio', overStdio],
])('the MCP server over %s (docs/api.md 23.3)', (_, connect) => {
  test('has the tools and resources, and each gives one text', async () => {
    const client = await connect((await world.person()).key)
    expect(client.getServerVersion()?.name).toBe('svc')
    const { tools } = await client.listTools()
    expect(tools.map(({ name, inputSchema }) => [name, inputSchema.required ?? []])).toEqual([
      ['svc_complete', ['prompt']],
      ['svc_code', ['prompt']],
      ['svc_research', ['prompt']],
      ['svc_image', ['prompt']],
      ['svc_document', ['prompt']],
      ['svc_skill_list', []],
      ['svc_skill_install', ['skill_id']],
      ['svc_status', []],
    ])
    const call = async (name: string, input: object = {}) =>
      textOf(await client.callTool({ name, arguments: input as Record<string, unknown> }))
    expect(await call('svc_complete', { prompt: 'What is 6 times 7?' })).toContain('42')
    expect(await call('svc_code', { prompt: 'A function that adds two numbers', language: 'typescript' })).toContain(
      'function',
    )
    expect(await call('svc_status')).toContain('"status"')
    expect(JSON.parse(await call('svc_skill_list', { filter: 'installed' }))).toBeArray()
    expect(await call('svc_image', { prompt: 'A lighthouse' })).toContain('/files/')
    expect(await call('svc_document', { prompt: 'Tides', format: 'pdf' })).toContain('/files/')
    // Refusals are texts, not errors of the protocol.
    expect(await call('svc_skill_install', { skill_id: '3f0c9a52-7b1e-4c57-9d7a-2f6f1b1c8e10' })).toContain('not_found')
    expect(await call('svc_complete')).toContain('needs prompt')
    expect(await call('svc_complete', { prompt: 'x', mode: 'stealth_text' })).toContain(
      'one of auto, fast, think, code',
    )
    expect(await call('svc_nothing')).toContain('no tool named')

    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(['svc://models', 'svc://skills/installed', 'svc://health'])
    const read = async (uri: string) => (await client.readResource({ uri })).contents[0] as { text: string }
    expect(JSON.parse((await read('svc://models')).text).models).toBeArray()
    // An address that is no resource is answered with a text, too.
    expect((await read('svc://nothing')).text).toContain('no resource')
    await client.close()
  })

  test('does what the key may, and no more', async () => {
    const client = await connect((await world.person({ scopes: ['skills'] })).key)
    const refused = await client.callTool({ name: 'svc_complete', arguments: { prompt: 'Hello' } })
    expect(refused.isError).toBe(true)
    expect(textOf(refused)).toContain('missing_scope')
    await client.close()
  })
})

test('svc_research waits for its job, and gives the report with its sources', async () => {
  const client = await overStdio((await world.person()).key)
  const prompt = 'When was the lighthouse of Port Ellis built, and how tall is it?'
  let isDone = false
  const request = client
    .callTool({ name: 'svc_research', arguments: { prompt } }, undefined, { timeout: 150_000 })
    .finally(() => {
      isDone = true
    })
  await eventually(async () => {
    await world.app.container.jobs.runDue()
    return isDone
  })
  const report = textOf(await request)
  expect(report).toContain('1871')
  expect(report).toContain('## Sources')
  await client.close()
}, 180_000)

test('without a key /mcp answers 401, and the command ends with 1', async () => {
  expect((await world.send('POST', '/mcp', {})).status).toBe(401)
  expect((await world.send('GET', '/mcp')).status).toBeOneOf([401, 404, 405])
  const env = { ...process.env, HOME: world.folder, SVC_API_KEY: '' }
  const child = Bun.spawn([process.execPath, 'client/svc.ts', 'mcp'], { env, stdin: 'ignore', stderr: 'pipe' })
  expect(await child.exited).toBe(1)
  expect(await new Response(child.stderr).text()).toContain('SVC_API_KEY')
})
