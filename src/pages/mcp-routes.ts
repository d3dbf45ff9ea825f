import { Elysia } from 'elysia'
import { API, urlOf } from '../http/context'
import type { Guard } from '../http/guard'
import type { CallApi } from './mcp-schema'

type Deps = {
  /** Handles one request of this app, as if it had arrived at the socket. */
  handle(request: Request): Response | Promise<Response>
  version: string
  sleep(ms: number): Promise<void>
}

/** Headers that an API request copies from the MCP request: the caller and the origin. */
const PASSED_ON = ['authorization', 'origin', 'sec-fetch-site', 'cookie']

/**
 * `POST /mcp`: the MCP server over streamable HTTP. It keeps no state between requests, so that any process can answer
 * each. Its tools call the API with the caller's key, so scopes, limits, credit and records apply.
 */
export const mcpRoutes = ({ handle, version, sleep }: Deps, guard: Guard) =>
  new Elysia({ detail: { hide: true } }).use(guard).post(
    '/mcp',
    async ({ body, request, exchange }) => {
      exchange.keepOpen()
      // Loaded by the first call, because no other route needs the protocol.
      const [{ WebStandardStreamableHTTPServerTransport }, { createMcpServer }] = await Promise.all([
        import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
        import('./mcp-server'),
      ])
      const server = createMcpServer({ ask: asker(request, handle), project: {}, sleep }, version)
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
      await server.connect(transport)
      // The library reads only the address and headers here, because the body is already parsed.
      const { method, headers } = request
      return transport.handleRequest(new Request(urlOf(request), { method, headers }), { parsedBody: body })
    },
    { signedIn: true, timeLimit: 'own' },
  )

function asker(caused: Request, handle: Deps['handle']): CallApi {
  const { origin } = urlOf(caused)
  const states = PASSED_ON.flatMap((name) => {
    const value = caused.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return async (method, path, body) => {
    const headers = new Headers(states as [string, string][])
    if (body) headers.set('content-type', 'application/json')
    const answer = await handle(
      new Request(`${origin}${API}${path}`, {
        method,
        headers,
        signal: caused.signal,
        ...(body ? { body: JSON.stringify(body) } : {}),
      }),
    )
    return { ok: answer.ok, status: answer.status, body: await answer.json() }
  }
}
