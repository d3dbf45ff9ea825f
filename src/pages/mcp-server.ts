import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { Backend } from './mcp-schema'
import { RESOURCES, TOOLS, ToolInputError } from './mcp-tools'

/**
 * The MCP server of docs/api.md 23.3. Every result is one text block. Failures are texts too, so that the agent reads
 * them. It uses the API only through `backend.ask`.
 */
export function createMcpServer(backend: Backend, version: string): Server {
  const server = new Server({ name: 'svc', version }, { capabilities: { tools: {}, resources: {} } })

  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: TOOLS.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  }))

  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: input = {} } }) => {
    const tool = TOOLS.find((one) => one.name === name)
    if (!tool) return failed(`There is no tool named ${name.slice(0, 80)}.`)
    const wrong = misfitOf(tool, input)
    if (wrong) return failed(wrong)
    const missing = (tool.inputSchema.required ?? []).filter((member) => input[member] === undefined)
    if (missing.length) return failed(`${name} needs ${missing.join(', ')}.`)
    try {
      return { content: [{ type: 'text', text: await tool.run(input, backend) }] }
    } catch (error) {
      if (error instanceof ToolInputError) return failed(error.message)
      return failed('The call failed. Try again.')
    }
  })

  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: RESOURCES.map(({ uri, name }) => ({ uri, name, mimeType: 'application/json' })),
  }))

  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const known = RESOURCES.find((one) => one.uri === uri)
    if (!known) return { contents: [{ uri, mimeType: 'text/plain', text: 'There is no resource with this address.' }] }
    const { body } = await backend.ask('GET', known.path)
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(body, null, 2) }] }
  })

  return server
}

/** A sentence about the first argument whose value its tool does not list. Null if all are valid. */
function misfitOf({ name, inputSchema }: (typeof TOOLS)[number], input: Record<string, unknown>): string | null {
  for (const [member, { enum: words }] of Object.entries(inputSchema.properties)) {
    const value = input[member] ?? undefined
    if (words && value !== undefined && !words.includes(value as string)) {
      return `For ${name}, ${member} must be one of ${words.join(', ')}.`
    }
  }
  return null
}

const failed = (text: string) => ({ content: [{ type: 'text' as const, text: `Error: ${text}` }], isError: true })
