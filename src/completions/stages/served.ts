import { invalidInput, said } from '../../kernel/errors'
import type { Tools } from '../../tools'
import type { McpServer, Toolset } from '../../tools/schema'
import { approvedIn } from '../rules'
import type { Run } from '../run'

/**
 * Asks the MCP servers of a request for their tools (contract 28.2). In a chat, those that nobody approved join the
 * functions of the client. Throws 400 `validation_error` when a call is demanded that no tool can answer.
 */
export async function bringServed(run: Run, servers: readonly McpServer[], tools: Tools): Promise<void> {
  const { functions, tools: inline } = run.request
  const taken = new Set([...inline, ...(functions?.tools ?? [])].map(({ name }) => name))
  run.served = await tools.servers.bring(servers, { taken, guard: run.guard, signal: run.deadline.signal })
  if (!functions) return
  const { choice, only } = functions
  if (choice === 'required' && run.served.unreachable === servers.length) throw noneReachable()
  if (only) run.served = { ...run.served, tools: run.served.tools.filter(({ name }) => only.includes(name)) }
  const asked = run.served.tools.filter((tool) => !runsHere(run, tool))
  const definitions = asked.map(({ name, description, inputSchema }) => ({
    name,
    description,
    parameters: inputSchema,
  }))
  const offered = [...functions.tools, ...definitions]
  const names = [...functions.tools, ...run.served.tools].map(({ name }) => name)
  if (typeof choice !== 'string' && !names.includes(choice.name)) throw notOffered(choice.name)
  if (choice === 'required' && !names.length) throw nothingOffered()
  run.offered = names.length ? { ...functions, tools: offered } : null
}

/** The tools of MCP servers that run here beside a client's functions; null without any. */
export function servedHere(run: Run, tools: Tools): Toolset | null {
  const brought = run.served.tools.filter((tool) => runsHere(run, tool))
  if (!brought.length) return null
  const { call, request } = run
  return tools.assemble({
    inline: [],
    skills: [],
    system: false,
    brought,
    approved: approvedIn(request.metadata),
    call,
  })
}

const runsHere = ({ request }: Run, { name, requiresApproval }: Run['served']['tools'][number]): boolean =>
  !requiresApproval || approvedIn(request.metadata).includes(name)

const noneReachable = () =>
  invalidInput('tools', '"tool_choice" is "required", and none of the MCP servers in "tools" could be reached.')

const nothingOffered = () =>
  invalidInput(
    'tool_choice',
    '"tool_choice" is "required", and the MCP servers in "tools" have no tools that may be called.',
  )

const notOffered = (name: string) =>
  invalidInput('tool_choice', `"tool_choice" names ${said(name)}, which is not among the tools that could be offered.`)
