import type { JsonSchema } from '../engines'
import { AppError, type ErrorDetail, quoted } from '../kernel/errors'
import type { Outbound } from '../kernel/outbound'
import { clean, shorten } from '../kernel/text'
import { callEndpoint, type Endpoint, readEndpoint } from './endpoint'
import { MAX_INLINE_TOOLS, TOOL_NAME } from './rules'
import type { InlineTool } from './schema'
import type { Tool } from './tool'
import { newAllowance, problemsOf } from './validation'

type Deps = { outbound: Outbound; secretOf: Parameters<typeof callEndpoint>[0]['secretOf'] }

const ANY_OBJECT: JsonSchema = { type: 'object' }
const TIMEOUT_MS = 10_000
const MAX_PROBLEMS = 10

/**
 * Turns the tools defined in a request into runnable tools. Throws 400 `validation_error` with a detail for each
 * faulty definition, and 400 `url_blocked` for an endpoint this server refuses to call (contract 2.1, 22.5).
 */
export function createInline({ outbound, secretOf }: Deps) {
  return function readInline(tools: readonly InlineTool[]): Tool[] {
    assertDefinitions(tools)
    return tools.map((tool, at) => {
      const endpoint = tool.endpoint ? readEndpoint(tool.endpoint, `tools[${at}].endpoint`, outbound) : null
      return toTool(tool, endpoint)
    })
  }

  function toTool({ name, description, input_schema }: InlineTool, endpoint: Endpoint | null): Tool {
    return {
      name,
      description,
      inputSchema: input_schema ?? ANY_OBJECT,
      category: 'inline' as const,
      permissionLevel: 'user' as const,
      requiresApproval: false,
      skillId: null,
      timeoutMs: TIMEOUT_MS,
      run: endpoint
        ? (args, context) => callEndpoint({ outbound, secretOf }, { name, endpoint, args, context })
        : async () => ({ acknowledged: true }),
    }
  }
}

function assertDefinitions(tools: readonly InlineTool[]): void {
  const details: ErrorDetail[] = []
  if (tools.length > MAX_INLINE_TOOLS) {
    details.push({ path: 'tools', message: `has ${tools.length} entries; at most ${MAX_INLINE_TOOLS} are allowed` })
  }
  const seen = new Map<string, number>()
  const allowance = newAllowance()
  for (const [at, { name, input_schema }] of tools.slice(0, MAX_INLINE_TOOLS).entries()) {
    if (details.length >= MAX_PROBLEMS) break
    const path = `tools[${at}]`
    if (!TOOL_NAME.test(name)) details.push({ path: `${path}.name`, message: `must match ${TOOL_NAME.source}` })
    if (seen.has(name)) details.push({ path: `${path}.name`, message: `is also the name of tools[${seen.get(name)}]` })
    seen.set(name, at)
    if (input_schema) details.push(...problemsOf(input_schema, `${path}.input_schema`, allowance))
  }
  const told = details.slice(0, MAX_PROBLEMS).map(({ path, message }) => ({ path: named(path), message }))
  const [first] = told
  if (!first) return
  const more = told.length > 1 ? ` (and ${told.length - 1} more)` : ''
  throw new AppError('invalid', 'validation_error', `"${quoted(first.path)}" ${first.message}${more}.`, {
    param: first.path,
    details: told,
  })
}

const MAX_PATH_CHARS = 200

/** Paths contain names from the caller's schema, so they are cleaned of control characters and shortened. */
const named = (path: string): string => shorten(clean(path), MAX_PATH_CHARS)
