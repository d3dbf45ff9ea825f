import { afterAll } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { eventually } from './eventually'
import { freePort } from './free-port'
import { isListening, serveLocally } from './listening'

const PACKAGES = join(import.meta.dir, '../../node_modules/@modelcontextprotocol')
const entryOf = (name: string) => join(PACKAGES, name, 'dist/index.js')

type OwnTool = { name: string; description: string; inputSchema: { type: 'object' }; outputSchema?: { type: 'object' } }

/** An MCP server on loopback whose tools are as listed, with the headers and calls that it got. */
export function startOwnServer(answer: string) {
  const heard: { headers: Headers; calls: object[] } = { headers: new Headers(), calls: [] }
  const state = { offered: [] as OwnTool[], heard }
  const url = serve((server) => {
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: state.offered }))
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      heard.calls.push(params)
      return { content: [{ type: 'text', text: answer }] }
    })
  }, heard)
  return { url, state }
}

/** The registry's `server-everything`, which speaks HTTP itself; gives its address. */
export async function startEverything(): Promise<string> {
  const port = await freePort()
  const child = Bun.spawn([process.execPath, entryOf('server-everything'), 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  afterAll(() => child.kill())
  await eventually(() => isListening(`http://127.0.0.1:${port}`))
  return `http://127.0.0.1:${port}/mcp`
}

/** A server of the registry that speaks stdio only, behind an address: what it offers and answers is passed on. */
export async function startBridged(name: string, args: readonly string[], env: Record<string, string> = {}) {
  const client = new Client({ name: 'bridge', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [entryOf(name), ...args],
      env: { ...(process.env as Record<string, string>), ...env },
      stderr: 'ignore',
    }),
  )
  afterAll(() => client.close())
  return serve((server) => {
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => client.listTools(params))
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => client.callTool(params))
  })
}

/** A folder for a server that keeps files. */
export function folderFor(root: string, name: string): string {
  const folder = join(root, name)
  mkdirSync(folder, { recursive: true })
  return folder
}

function serve(handle: (server: Server) => void, heard?: { headers: Headers }): string {
  const http = serveLocally(async (request) => {
    if (heard) heard.headers = request.headers
    const server = new Server({ name: 'own', version: '1' }, { capabilities: { tools: {} } })
    handle(server)
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    return transport.handleRequest(request)
  })
  return `http://127.0.0.1:${http.port}/mcp`
}
