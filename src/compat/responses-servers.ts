import { AppError, renamed } from '../kernel/errors'
import { t } from '../kernel/schema'
import { wordOf } from '../kernel/text'
import { assertFits } from '../kernel/validation'
import { McpServer } from '../tools/schema'
import type { Item } from './responses-schema'

const Servers = t.Object({ tools: t.Array(McpServer) })

/** An MCP server in the form that this server calls (docs/api.md 28.2). Throws 400 if it cannot be called. */
export function serverOf({ authorization: token, server_description: _, ...tool }: Item, path: string): McpServer {
  const { headers, allowed_tools: allowed, require_approval: approval } = tool
  const named = namesIn(allowed)
  const sent = {
    ...tool,
    headers: typeof token === 'string' ? { ...(headers as object), authorization: `Bearer ${token}` } : headers,
    allowed_tools: named ?? allowed ?? undefined,
    require_approval: typeof approval === 'object' ? 'always' : approval,
  }
  const body = { tools: [Object.fromEntries(Object.entries(sent).filter(([, value]) => value != null))] }
  try {
    assertFits(Servers, body)
    return body.tools[0]!
  } catch (error) {
    throw error instanceof AppError ? renamed(error, (text) => text.replaceAll('tools[0]', path)) : error
  }
}

/** The names in a filter `{"tool_names":[…]}`. Null if it is not one. */
function namesIn(filter: unknown): string[] | null {
  const names = (filter as Item | null | undefined)?.tool_names
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : null
}

/** MCP tools that run without approval although the other tools of their server need it. */
export const unaskedOf = (tools: readonly Item[]): { name: string }[] =>
  tools.flatMap(({ type, server_label: label, require_approval: approval }) =>
    type === 'mcp'
      ? (namesIn((approval as Item | null | undefined)?.never) ?? []).map((name) => ({
          name: `${wordOf(label)}__${name}`,
        }))
      : [],
  )

/** The MCP server of a tool name, and the server's own name of the tool. Null for other tools. */
export function servedBy(name: string, tools: readonly Item[]): { label: string; tool: string } | null {
  const labels = tools.flatMap(({ type, server_label: label }) => (type === 'mcp' ? [wordOf(label)] : []))
  const label = labels.find((one) => name.startsWith(`${one}__`))
  return label === undefined ? null : { label, tool: name.slice(label.length + 2) }
}
