import type { JsonSchema } from '../engines'
import type { Outbound } from '../kernel/outbound'
import { callEndpoint, readEndpoint } from './endpoint'
import type { InlineTool } from './schema'
import type { PermissionLevel, Tool } from './tool'

type Deps = { outbound: Outbound; secretOf: Parameters<typeof callEndpoint>[0]['secretOf'] }

/** A tool as a skill's manifest defines it (contract 8.1). */
export type SkillTool = {
  name: string
  description: string
  inputSchema?: Record<string, unknown>
  outputSchema?: Record<string, unknown>
  permissionLevel?: PermissionLevel
  requiresApproval?: boolean
  endpoint?: NonNullable<InlineTool['endpoint']>
}

const ANY_OBJECT: JsonSchema = { type: 'object' }
const TIMEOUT_MS = 10_000

/**
 * Converts a skill's tools into runnable ones. A tool without an endpoint is only acknowledged, and the caller acts
 * on it (contract 22.5). Throws 400 `validation_error` or `url_blocked` for an endpoint this server refuses to call.
 */
export const createOfSkill =
  (deps: Deps) =>
  (skillId: string, tools: readonly SkillTool[]): Tool[] =>
    tools.map(({ name, description, inputSchema, outputSchema, permissionLevel, requiresApproval, endpoint }, at) => {
      const called = endpoint ? readEndpoint(endpoint, `tools[${at}].endpoint`, deps.outbound) : null
      return {
        name,
        description,
        inputSchema: inputSchema ?? ANY_OBJECT,
        ...(outputSchema ? { outputSchema } : {}),
        category: 'skill' as const,
        permissionLevel: permissionLevel ?? 'user',
        skillId,
        timeoutMs: TIMEOUT_MS,
        requiresApproval: requiresApproval ?? false,
        run: called
          ? (args, context) => callEndpoint(deps, { name, endpoint: called, args, context })
          : async () => ({ acknowledged: true }),
      }
    })
