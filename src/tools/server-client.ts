import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { JsonSchema } from '../engines'
import { AppError } from '../kernel/errors'
import { parsedJson } from '../kernel/json'
import { type Outbound, OutboundFailure } from '../kernel/outbound'
import { readHeaders } from './endpoint-rules'
import type { McpServer } from './schema'
import { ToolFailure } from './tool'
import { withoutEmpty } from './validation-definition'

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

type Wire = Record<string, unknown>

const objectOf = (value: unknown): Wire =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Wire) : {}

/** Results are read here and not by the library, which refuses the whole result for one odd member. */
const ANY_RESULT = { safeParse: (data: unknown) => ({ success: true, data: objectOf(data) }) } as never

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
  const until = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
  const listed = withClient(deps, server, { signal: until, budget }, async (client, options) => {
    const found: Offered[] = []
    let params: { cursor?: string } = {}
    for (let page = 0; page < MAX_PAGES; page++) {
      const { tools, nextCursor }: Wire = await client.request({ method: 'tools/list', params }, ANY_RESULT, options)
      const listed = Array.isArray(tools) ? tools : []
      budget.tools -= listed.length
      if (budget.tools < 0) throw new ListTooLarge()
      found.push(...listed.flatMap(offeredBy))
      if (typeof nextCursor !== 'string' || !nextCursor) return found
      params = { cursor: nextCursor }
    }
    throw new ListTooLarge()
  })
  return listed.catch((error: unknown) => {
    throw budget.bytes > 0 ? error : new ListTooLarge()
  })
}

/** A tool of a list. */
function offeredBy(tool: unknown): Offered[] {
  const { name, description, inputSchema } = objectOf(tool)
  if (typeof name !== 'string') return []
  const schema: Wire = { type: 'object', ...withoutEmpty(objectOf(inputSchema)) }
  if ('properties' in schema) schema.properties = objectOf(schema.properties)
  return [{ name, description: typeof description === 'string' ? description : '', inputSchema: schema as JsonSchema }]
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
    const answered: Wire = await withClient(deps, server, { signal }, (client, options) =>
      client.request({ method: 'tools/call', params: { name, arguments: args } }, ANY_RESULT, options),
    )
    // Older servers wrap the result.
    const result = 'toolResult' in answered ? objectOf(answered.toolResult) : answered
    const texts = textsOf(result.content)
    if (result.isError === true) throw new ToolFailure(`The tool of ${label} failed.`, texts.join('\n'))
    const structured = result.structuredContent ?? null
    // The structured content usually repeats the text. Some servers put only facts about the text into it.
    const isRepeated = structured !== null && texts.every((text) => parsedJson(text) !== undefined)
    if (isRepeated) return structured
    const all = structured === null ? texts : [...texts, structured]
    return all.length === 1 ? all[0] : all
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ToolFailure || error instanceof AppError) throw error
    const { McpError } = await import('@modelcontextprotocol/sdk/types.js')
    if (error instanceof McpError) throw new ToolFailure(`The tool of ${label} failed.`, error.message)
    throw new ToolFailure(`The MCP server ${label} did not answer the call.`)
  }
}

/** The texts of a result, of embedded files, too. Images and other files are only mentioned. */
function textsOf(content: unknown): string[] {
  const parts = Array.isArray(content) ? content : content === null || content === undefined ? [] : [content]
  return parts.map((part: unknown) => {
    if (typeof part === 'string') return part
    const { type, text, resource } = objectOf(part)
    const words = type === 'text' ? text : objectOf(resource).text
    return words === undefined ? `(${String(type).slice(0, 32)})` : String(words)
  })
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
  // Runs before the library's own handler, which refuses a server that does not state its name, version or abilities.
  transport.onmessage = (message) => {
    const result = 'result' in message ? (message.result as Wire) : {}
    if (!('protocolVersion' in result)) return
    const { name, version } = objectOf(result.serverInfo)
    result.serverInfo = { name: String(name ?? ''), version: String(version ?? '') }
    result.capabilities = {}
  }
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
      const answer = Buffer.from(body)
      // Some servers send the answer with another type, or an error of the call with an error status.
      const isOdd = (status >= 400 || !/json|event-stream/i.test(headers['content-type'] ?? '')) && isAnswer(answer)
      const shown = isOdd ? { ...headers, 'content-type': 'application/json' } : headers
      return new Response(isEmpty ? null : answer, {
        status: isOdd ? 200 : status < 200 ? 502 : status,
        headers: shown,
      })
    } catch (error) {
      if (budget && error instanceof OutboundFailure && error.kind === 'too-large') budget.bytes = 0
      if (error instanceof OutboundFailure) throw new TypeError(error.message)
      throw error
    }
  }

/** Whether a body is a JSON-RPC response. */
function isAnswer(body: Buffer): boolean {
  try {
    const { jsonrpc, id } = objectOf(JSON.parse(body.toString('utf8')))
    return jsonrpc === '2.0' && id !== null && id !== undefined
  } catch {
    return false
  }
}
