import type { Role } from '../accounts/orgs/schema'
import type { EngineTool } from '../engines'
import type { Call, TenantCaller } from '../kernel/caller'
import type { Tool, Toolset } from './tool'

/** Maximum number of tools that a request may define (docs/api.md 2.1). More would fill the engine's context window. */
export const MAX_INLINE_TOOLS = 64
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/

type Merged = { inline: readonly Tool[]; skills: readonly Tool[]; system: readonly Tool[] }

/** Merges tools by name. On a clash the request's tool wins, then a skill's, then the system's (docs/api.md 22.5). */
export function mergeTools({ inline, skills, system }: Merged): Map<string, Tool> {
  return new Map([...system, ...skills, ...inline].map((tool) => [tool.name, tool]))
}

/** The tools of one run, with the definitions sent to the engine. */
export function toToolset(tools: Map<string, Tool>, approved: readonly string[]): Toolset {
  return { tools, definitions: [...tools.values()].map(toDefinition), approved: new Set(approved) }
}

const toDefinition = ({ name, description, inputSchema }: Tool): EngineTool => ({
  name,
  description,
  parameters: inputSchema,
})

/** Whether the tool may be offered to the caller. `refusal` checks their role in the org when the tool is called. */
export function isOffered({ permissionLevel, scope }: Tool, caller: TenantCaller): boolean {
  if (permissionLevel === 'system' || !carries(caller, scope)) return false
  return permissionLevel === 'user' || caller.activeOrgId !== null
}

const ADMINS: ReadonlySet<Role> = new Set<Role>(['owner', 'admin'])
const MEMBERS: ReadonlySet<Role> = new Set<Role>(['owner', 'admin', 'member'])

/** The reason why this caller may not use the tool, in a sentence, or null. `role` is the role in the active org. */
export function refusal(tool: Tool, { caller }: Call, role: Role | null): string | null {
  if (!carries(caller, tool.scope)) return `This key lacks the scope ${tool.scope}, which ${tool.name} needs.`
  switch (tool.permissionLevel) {
    case 'user':
      return null
    case 'org_member':
      return role !== null && MEMBERS.has(role) ? null : `Only members of an organization may use ${tool.name}.`
    case 'org_admin':
      return role !== null && ADMINS.has(role)
        ? null
        : `Only owners and admins of an organization may use ${tool.name}.`
    case 'system':
      return `${tool.name} is for internal use only.`
  }
}

const carries = (caller: TenantCaller, scope: Tool['scope']): boolean =>
  scope === undefined || caller.type !== 'key' || caller.scopes.includes(scope)
