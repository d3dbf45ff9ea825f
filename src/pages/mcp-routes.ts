import { Elysia } from 'elysia'
import { API, urlOf } from '../http/context'
import type { Guard } from '../http/guard'
import type { Ask } from './mcp-schema'

type Deps = {
  /** Handles one request of this very app, as if it had come by the socket. */
  handle(request: Request): Response | Promise<Response>
  version: string
  sleep(ms: number): Promise<void>
}

/** What a request of the API keeps of the one that caused it: who calls, and from where. */
const PASSED_ON = ['authorization', 'origin', 'sec-fetch-site', 'cookie']

/**
 * `POST /mcp`: the MCP server over streamable HTTP. It keeps nothing between two requests, so that any process answers
 * each. What its tools do goes through the API with the caller's key: scopes, limits, credit and record are the same.
 */
export const mcpRoutes = ({ handle, version, sleep }: Deps, guard: Guard) =>
  new Elysia({ detail: { hide: true } }).use(guard).post(
    '/mcp',
    async ({ body, request, exchange }) => {
      exchange.keepOpen()
      // Loaded by the first call: no other route needs the protocol.
      const [{ WebStandardStreamableHTTPServerTransport }, { createMcpServer }] = await Promise.all([
        import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
        import('./mcp-server'),
      ])
      const server = createMcpServer({ ask: asker(request, handle), project: {}, sleep }, version)
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
      await server.connect(transport)
      // The library reads the address and not the body, which is parsed.
      const { method, headers } = request
      return transport.handleRequest(new Request(urlOf(request), { method, headers }), { parsedBody: body })
    },
    { signedIn: true, timeLimit: 'own' },
  )

function asker(caused: Request, handle: Deps['handle']): Ask {
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
