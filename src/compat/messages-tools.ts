import type { ChatInput } from '../completions/schema'
import { invalidInput, messageOf } from '../kernel/errors'
import { wordOf } from '../kernel/text'
import type { HostedTool } from '../tools/schema'
import type { Block, MessageInput } from './messages-schema'
import { domainsIn } from './responses-tools'

type Tool = NonNullable<ChatInput['tools']>[number]

const NAME = /^[A-Za-z0-9_-]{1,128}$/

/**
 * The tools as functions of a chat (docs/api.md 30.2). Tools that this server does not have are left out with a
 * warning. Throws 400 if `tool_choice` requires one of those.
 */
export function toolsIn(input: MessageInput, warnings: string[]) {
  const { tools, messages, tool_choice: choice, mcp_servers: servers } = input
  const leftOut: string[] = []
  const places: string[] = []
  const offered: Tool[] = []
  const hosted: HostedTool[] = []
  const placed = (tools ?? []).map((tool, at) => ({ tool, path: `tools[${at}]` }))
  for (const { tool, path } of changedBy(messages, placed)) {
    const name = tool.type == null ? undefined : /^(web_search|web_fetch)_\d{8}$/.exec(wordOf(tool.type))?.[1]
    if (name) {
      hosted.push(hostedOf(tool, name as HostedTool['name'], path))
      continue
    }
    if (tool.type != null && tool.type !== 'custom') {
      leftOut.push(wordOf(tool.name, wordOf(tool.type)).slice(0, 64))
      continue
    }
    offered.push(functionOf(tool, path))
    places.push(path)
  }
  for (const [at, { name, url, authorization_token: token, tool_configuration: limits }] of (servers ?? []).entries()) {
    if (limits?.enabled === false) continue
    const path = `mcp_servers[${at}]`
    // This format allows any server name.
    const label = name
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .slice(0, 32)
    if (!label) throw invalidInput(`${path}.name`, `"${path}.name" is empty. Give the server a name.`)
    offered.push({
      type: 'mcp',
      server_label: label,
      server_url: url,
      require_approval: 'never',
      ...(token ? { headers: { authorization: `Bearer ${token}` } } : {}),
      ...(limits?.allowed_tools ? { allowed_tools: limits.allowed_tools } : {}),
    })
    places.push(path)
  }
  if (leftOut.length)
    warnings.push(`These tools were left out, because this server does not have them: ${leftOut.join(', ')}.`)
  const named = choice?.type === 'tool' ? hosted.find(({ name }) => name === choice.name) : undefined
  const isAny = choice?.type === 'any' && hosted.length > 0 && !offered.length
  /** The call that the first turn has to make, if the choice is about tools of this server. */
  const first = isAny ? ('required' as const) : named && { name: named.name }
  return {
    tools: offered,
    choice: first ? ('auto' as const) : chosen(choice, offered, leftOut),
    places,
    ...(hosted.length && choice?.type !== 'none' ? { hosted: { tools: hosted, ...(first ? { first } : {}) } } : {}),
  }
}

type Placed = { tool: Block; path: string }

/** The tools after all additions and removals by system messages, in their order. */
function changedBy(messages: MessageInput['messages'], placed: Placed[]): Placed[] {
  for (const [at, { role, content }] of messages.entries()) {
    if (role !== 'system' || typeof content === 'string') continue
    for (const [place, { type, tool }] of content.entries()) {
      const { definition, name } = (tool ?? {}) as { definition?: Block; name?: unknown }
      const named = type === 'tool_addition' ? definition?.name : type === 'tool_removal' ? name : undefined
      if (typeof named !== 'string') continue
      const remaining = placed.filter((one) => one.tool.name !== named)
      const path = `messages[${at}].content[${place}].tool.definition`
      placed = type === 'tool_addition' ? [...remaining, { tool: definition!, path }] : remaining
    }
  }
  return placed
}

/** Rewrites an error about an MCP server with the names of this format. */
export const serverNames = (text: string): string =>
  text
    .replace(/^"tools" names/, '"mcp_servers" names')
    .replace(/^tools$/, 'mcp_servers')
    .replace(/(mcp_servers\[\d{1,2}\])\.server_url/g, '$1.url')
    .replace(/(mcp_servers\[\d{1,2}\])\.headers(?:\.authorization)?/g, '$1.authorization_token')

const MAX_USES = 20

/** A tool of this server, with the client's limits. */
function hostedOf(tool: Block, name: HostedTool['name'], path: string): HostedTool {
  const { max_uses: maxUses, allowed_domains: allowed, blocked_domains: blocked } = tool
  if (maxUses != null && !(Number.isInteger(maxUses) && Number(maxUses) >= 1))
    throw invalidInput(
      `${path}.max_uses`,
      `"${path}.max_uses" is ${messageOf(maxUses)}; it must be from 1 to ${MAX_USES}.`,
    )
  return {
    name,
    allowed: domainsIn(allowed),
    blocked: domainsIn(blocked),
    maxUses: maxUses == null ? undefined : Math.min(Number(maxUses), MAX_USES),
  }
}

function functionOf(tool: Block, path: string): Tool {
  const { name, description, input_schema: schema, strict } = tool
  if (typeof name !== 'string' || !NAME.test(name))
    throw invalidInput(
      `${path}.name`,
      `"${path}.name" is ${messageOf(name)}; it must be at most 128 letters, digits, hyphens and underscores.`,
    )
  if (schema != null && (typeof schema !== 'object' || Array.isArray(schema)))
    throw invalidInput(
      `${path}.input_schema`,
      `"${path}.input_schema" is ${messageOf(schema)}; it must be a JSON Schema.`,
    )
  return {
    type: 'function',
    function: {
      name,
      description: typeof description === 'string' ? description.slice(0, 32_768) : null,
      parameters: schema as Record<string, unknown> | null | undefined,
      strict: typeof strict === 'boolean' ? strict : null,
    },
  }
}

function chosen(choice: MessageInput['tool_choice'], offered: readonly Tool[], leftOut: readonly string[]) {
  if (!choice || choice.type === 'auto') return 'auto' as const
  if (choice.type === 'none') return 'none' as const
  if (choice.type === 'any') {
    if (offered.length) return 'required' as const
    throw invalidInput('tool_choice', '"tool_choice" is "any", and none of "tools" can be offered.')
  }
  const name = choice.name ?? ''
  if (leftOut.includes(name) || !offered.length)
    throw invalidInput('tool_choice', `"tool_choice" names ${messageOf(name)}, which cannot be offered.`)
  return { type: 'function' as const, function: { name } }
}
