import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { RELEASE } from '../src/app/version'
import type { CallApi, Project } from '../src/pages/mcp-schema'
import { createMcpServer } from '../src/pages/mcp-server'
import { type Svc, SvcError } from './index'

const MAX_MS = 180_000

/** The MCP server over standard input and output, as a client of the API; ends with its input. */
export async function serveStdio(client: Svc, project: Project): Promise<void> {
  const ask: CallApi = async (method, path, body) => {
    try {
      return {
        ok: true,
        status: 200,
        body: await client.request(method, path, { ...(body ? { body } : {}), timeoutMs: MAX_MS }),
      }
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      return { ok: false, status: error.status, body: { error: { message: error.message, code: error.code } } }
    }
  }
  const server = createMcpServer({ ask, project, sleep: (ms) => Bun.sleep(ms) }, RELEASE)
  const { promise, resolve } = Promise.withResolvers<void>()
  process.stdin.on('end', resolve)
  await server.connect(new StdioServerTransport())
  await promise
  await server.close()
}
