import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { JsonSchema } from '../engines'
import { AppError } from '../kernel/errors'
import { type Outbound, OutboundFailure } from '../kernel/outbound'
import { readHeaders } from './endpoint-rules'
import type { McpServer } from './schema'
import { ToolFailure } from './tool'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 512 * 1024
const MAX_PAGES = 8
const NAME = 'svc-tools'

type Deps = { outbound: Outbound }

/** A tool as a server describes it; nothing of it is checked yet. */
export type Offered = { name: string; description: string; inputSchema: JsonSchema }

/** The tools of a server, within ten seconds. Rejects when it does not answer, or does not speak the protocol. */
export const listTools = (deps: Deps, server: McpServer, signal: AbortSignal): Promise<Offered[]> =>
  withClient(deps, server, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]), async (client, options) => {
    const found: Offered[] = []
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, options)
      for (const { name, description = '', inputSchema } of tools) {
        found.push({ name, description, inputSchema: inputSchema as JsonSchema })
      }
      if (nextCursor === undefined) break
      cursor = nextCursor
    }
    return found
  })

/** Calls one tool, and gives what it returned. Throws {@link ToolFailure}; what the server said of it is data. */
export async function runTool(
  deps: Deps,
  server: McpServer,
  name: string,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  const label = server.server_label
  try {
    const result = await withClient(deps, server, signal, (client, options) =>
      client.callTool({ name, arguments: args }, undefined, options),
    )
    const texts = textsOf(result.content)
    if (result.isError) throw new ToolFailure(`The tool of ${label} failed.`, texts.join('\n'))
    return result.structuredContent ?? (texts.length === 1 ? texts[0] : texts)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ToolFailure || error instanceof AppError) throw error
    throw new ToolFailure(`The MCP server ${label} did not answer the call.`)
  }
}

/** The texts of a result; of pictures and files only that they are there. */
function textsOf(content: unknown): string[] {
  if (!Array.isArray(content)) return []
  return content.map((part: { type?: string; text?: unknown }) =>
    part?.type === 'text' ? String(part.text) : `(${String(part?.type).slice(0, 32)})`,
  )
}

type Options = { signal: AbortSignal; timeout: number }

async function withClient<T>(
  { outbound }: Deps,
  { server_url, headers }: McpServer,
  signal: AbortSignal,
  work: (client: Client, options: Options) => Promise<T>,
): Promise<T> {
  // Loaded by the first request that names a server.
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ])
  const client = new Client({ name: NAME, version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(server_url), {
    requestInit: { headers: readHeaders(headers ?? {}, 'headers') },
    fetch: throughTheDoor(outbound, signal),
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 0,
      maxReconnectionDelay: 0,
      reconnectionDelayGrowFactor: 1,
    },
  })
  const options = { signal, timeout: TIMEOUT_MS }
  try {
    await client.connect(transport as never, options)
    return await work(client, options)
  } finally {
    await client.close().catch(() => undefined)
  }
}

/** The protocol's requests go through the outbound door like all addresses of users: public ones, no redirects (J). */
const throughTheDoor =
  (outbound: Outbound, signal: AbortSignal) =>
  async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    // The stream of what a server says by itself is not opened: nobody here would hear it.
    if (init.method === 'GET') return new Response(null, { status: 405 })
    try {
      const { status, headers, body } = await outbound.fetchPublic(String(url), {
        method: init.method === 'DELETE' ? 'DELETE' : 'POST',
        headers: Object.fromEntries(new Headers(init.headers)),
        ...(typeof init.body === 'string' ? { body: init.body } : {}),
        maxBytes: MAX_BYTES,
        timeoutMs: TIMEOUT_MS,
        signal,
      })
      const isEmpty = status === 202 || status === 204 || status === 304
      return new Response(isEmpty ? null : Buffer.from(body), { status: status < 200 ? 502 : status, headers })
    } catch (error) {
      if (error instanceof OutboundFailure) throw new TypeError(error.message)
      throw error
    }
  }
