import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { JsonSchema } from '../engines'
import { AppError } from '../kernel/errors'
import { type Outbound, OutboundFailure } from '../kernel/outbound'
import { readHeaders } from './endpoint-rules'
import type { McpServer } from './schema'
import { ToolFailure } from './tool'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 512 * 1024
const MAX_PAGES = 32
const NAME = 'svc-tools'

type Deps = { outbound: Outbound }

/** A tool as a server describes it, unchecked. */
export type Offered = { name: string; description: string; inputSchema: JsonSchema }

/** The remaining list budget of all servers of one request, over all pages: response bytes, and tools. */
export type ListBudget = { bytes: number; tools: number }
export const newListBudget = (): ListBudget => ({ bytes: 2 * 1024 * 1024, tools: 512 })

/** A server lists more than the remaining budget of its request. */
export class ListTooLarge extends Error {
  override name = 'ListTooLarge'
}

/**
 * The tools of a server, within ten seconds. Deducts their size from `budget`. Rejects with {@link ListTooLarge}, and
 * when the server does not respond or does not speak the protocol. Not the library's own `listTools`, because it
 * compiles every `outputSchema`, which is not needed here. One with 3,000 properties takes 13 s.
 */
export async function listTools(
  deps: Deps,
  server: McpServer,
  budget: ListBudget,
  signal: AbortSignal,
): Promise<Offered[]> {
  const { ListToolsResultSchema } = await import('@modelcontextprotocol/sdk/types.js')
  const until = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
  const listed = withClient(deps, server, { signal: until, budget }, async (client, options) => {
    const found: Offered[] = []
    let params: { cursor?: string } = {}
    for (let page = 0; page < MAX_PAGES; page++) {
      const { tools, nextCursor } = await client.request(
        { method: 'tools/list', params },
        ListToolsResultSchema,
        options,
      )
      budget.tools -= tools.length
      if (budget.tools < 0) throw new ListTooLarge()
      for (const { name, description = '', inputSchema } of tools) {
        found.push({ name, description, inputSchema: inputSchema as JsonSchema })
      }
      if (nextCursor === undefined) return found
      params = { cursor: nextCursor }
    }
    throw new ListTooLarge()
  })
  return listed.catch((error: unknown) => {
    throw budget.bytes > 0 ? error : new ListTooLarge()
  })
}

/** Calls one tool and returns its result. Throws {@link ToolFailure}, with the server's error text as data. */
export async function runTool(
  deps: Deps,
  server: McpServer,
  name: string,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  const label = server.server_label
  try {
    const result = await withClient(deps, server, { signal }, (client, options) =>
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

/** The texts of a result. Images and files are only mentioned. */
function textsOf(content: unknown): string[] {
  if (!Array.isArray(content)) return []
  return content.map((part: { type?: string; text?: unknown }) =>
    part?.type === 'text' ? String(part.text) : `(${String(part?.type).slice(0, 32)})`,
  )
}

type Options = { signal: AbortSignal; timeout: number }
type Limits = { signal: AbortSignal; budget?: ListBudget }

async function withClient<T>(
  { outbound }: Deps,
  { server_url, headers }: McpServer,
  limits: Limits,
  work: (client: Client, options: Options) => Promise<T>,
): Promise<T> {
  // Loaded on the first request that names a server.
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ])
  const client = new Client({ name: NAME, version: '1' })
  const transport = new StreamableHTTPClientTransport(outbound.readUrl(server_url), {
    requestInit: { headers: readHeaders(headers ?? {}, 'headers') },
    fetch: fetchPublicly(outbound, limits),
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 0,
      maxReconnectionDelay: 0,
      reconnectionDelayGrowFactor: 1,
    },
  })
  const options = { signal: limits.signal, timeout: TIMEOUT_MS }
  try {
    await client.connect(transport as never, options)
    return await work(client, options)
  } finally {
    await client.close().catch(() => undefined)
  }
}

/** Protocol requests use the guarded outbound client, as for all user-supplied addresses: public, no redirects (J). */
const fetchPublicly =
  (outbound: Outbound, { signal, budget }: Limits) =>
  async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    // Does not open the stream for server-initiated messages, because nobody here would read it.
    if (init.method === 'GET') return new Response(null, { status: 405 })
    try {
      const { status, headers, body } = await outbound.fetchPublic(String(url), {
        method: init.method === 'DELETE' ? 'DELETE' : 'POST',
        headers: Object.fromEntries(new Headers(init.headers)),
        ...(typeof init.body === 'string' ? { body: init.body } : {}),
        maxBytes: Math.min(MAX_BYTES, budget?.bytes ?? MAX_BYTES),
        timeoutMs: TIMEOUT_MS,
        signal,
      })
      if (budget) budget.bytes -= body.byteLength
      const isEmpty = status === 202 || status === 204 || status === 304
      return new Response(isEmpty ? null : Buffer.from(body), { status: status < 200 ? 502 : status, headers })
    } catch (error) {
      if (budget && error instanceof OutboundFailure && error.kind === 'too-large') budget.bytes = 0
      if (error instanceof OutboundFailure) throw new TypeError(error.message)
      throw error
    }
  }
