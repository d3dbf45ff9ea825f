import type { EngineTool } from '../engines'
import type { Call, TenantCaller } from '../kernel/caller'
import type { Role } from '../orgs/schema'
import type { Tool, Toolset } from './tool'

/** Definitions a run may carry (contract 2.1); more would fill an engine's window before the question does. */
export const MAX_INLINE_TOOLS = 64
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/

type Merged = { inline: readonly Tool[]; skills: readonly Tool[]; system: readonly Tool[] }

/** The tools of a run by name. On a clash the caller's own wins, then a skill's, then ours (contract 22.5). */
export function mergeTools({ inline, skills, system }: Merged): Map<string, Tool> {
  return new Map([...system, ...skills, ...inline].map((tool) => [tool.name, tool]))
}

/** What one run may call, as the engine is told of it. */
export function toToolset(tools: Map<string, Tool>, approved: readonly string[]): Toolset {
  return { tools, definitions: [...tools.values()].map(toDefinition), approved: new Set(approved) }
}

const toDefinition = ({ name, description, inputSchema }: Tool): EngineTool => ({
  name,
  description,
  parameters: inputSchema,
})

/** Whether a tool of this level may ever be offered to the caller; the role is looked at when it is called. */
export function isOffered({ permissionLevel, scope }: Tool, caller: TenantCaller): boolean {
  if (permissionLevel === 'system' || !carries(caller, scope)) return false
  return permissionLevel === 'user' || caller.activeOrgId !== null
}

const ADMINS: ReadonlySet<Role> = new Set<Role>(['owner', 'admin'])
const MEMBERS: ReadonlySet<Role> = new Set<Role>(['owner', 'admin', 'member'])

/** Why this caller may not use the tool, in one sentence; null when they may. `role` is theirs in the active org. */
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
      return `${tool.name} is for this server's own use.`
  }
}

const carries = (caller: TenantCaller, scope: Tool['scope']): boolean =>
  scope === undefined || caller.type !== 'key' || caller.scopes.includes(scope)
