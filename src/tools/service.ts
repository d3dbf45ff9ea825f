import type { JsonSchema } from '../engines'
import { type Call, type OwnerScope, ownerOf } from '../kernel/caller'
import { hmacHex } from '../kernel/crypto'
import { AppError, type ErrorDetail, quoted } from '../kernel/errors'
import type { Outbound } from '../kernel/outbound'
import { clean, shorten } from '../kernel/text'
import { callEndpoint, readEndpoint } from './endpoint'
import { isOffered, MAX_INLINE_TOOLS, mergeTools, TOOL_NAME, toToolset } from './rules'
import { createRun } from './run'
import type { InlineTool, ToolEntry, ToolQuery } from './schema'
import { createServers } from './servers'
import { type HostedTool, type PermissionLevel, systemTool, type Tool, ToolFailure, type Toolset } from './tool'
import { newAllowance, problemsOf } from './validation-definition'

const MAX_PROBLEMS = 10

const MAX_PATH_CHARS = 200

type EndpointDeps = Parameters<typeof callEndpoint>[0]

/** A tool as a skill's manifest defines it (docs/api.md 8.1). */
type SkillTool = {
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
 * The `run` function of a tool. A tool without endpoint is only acknowledged, and the caller acts on it (docs/api.md
 * 22.5). Throws 400 `validation_error` or `url_blocked` for an endpoint this server does not call.
 */
function runOf(
  deps: EndpointDeps,
  { name, endpoint: given }: Pick<SkillTool, 'name' | 'endpoint'>,
  at: number,
): Tool['run'] {
  if (!given) return async () => ({ acknowledged: true })
  const endpoint = readEndpoint(given, `tools[${at}].endpoint`, deps.outbound)
  return (args, context) => callEndpoint(deps, { name, endpoint, args, context })
}

type Deps = Parameters<typeof createRun>[0] & {
  outbound: Outbound
  masterKey: Uint8Array
  /** System tools of this module. Later modules add theirs with `register`. */
  system: readonly Tool[]
  /** Names of the enabled system tools. An empty list enables all. */
  enabled: readonly string[]
}

export type ToolSelection = {
  inline: readonly InlineTool[]
  /** Tools of the active skills, already converted by `ofSkill`. */
  skills: readonly Tool[]
  /** Whether system tools are offered. */
  system: boolean
  /** A stealth run stores nothing, so tools that store their results are left out (docs/api.md 2.1). */
  stealth?: boolean
  /** Tools of the browser session of the run. Without them no browser tool is offered. */
  bound?: readonly Tool[]
  /** Tools of the MCP servers of the request. */
  fromServers?: readonly Tool[]
  /** Names of system tools that the run does not need. */
  without?: readonly string[]
  /** `metadata.approved_tools`. */
  approved: readonly string[]
  call: Call
}

/** Tools of the caller's installed and enabled skills. Names are unique. */
type SkillTools = (call: Call) => Promise<readonly Tool[]>

export type Tools = ReturnType<typeof createTools>

/** Lists tools, selects those of a run, and runs single calls. */
export function createTools({ outbound, masterKey, system, enabled, roleOf, onFault }: Deps) {
  const registry = new Map(system.map((tool) => [tool.name, tool]))
  // The secret that signs calls to an owner's tool endpoints, one per user or org: 64 hexadecimal characters, used as
  // written. Derived from the master key, so it is the same on every node and only changes with that key.
  const secretOfOwner = (owner: OwnerScope): string => hmacHex(masterKey, `tool endpoints\n${owner}`)
  const secretOf = ({ caller }: Call): string => secretOfOwner(ownerOf(caller))
  const endpoints = { outbound, secretOf }
  const servers = createServers({ outbound })
  let ofSkills: SkillTools = async () => []

  return {
    /** Adds a system tool of a later module, at start. */
    register(tool: Tool): void {
      if (registry.has(tool.name)) throw new Error(`two tools are named ${tool.name}`)
      registry.set(tool.name, tool)
    },

    /** Sets, at start, how the tools of a caller's skills are read, because skills are a later module. */
    bringSkills(source: SkillTools): void {
      ofSkills = source
    },

    /** Names in SVC_SYSTEM_TOOLS that match no registered tool, probably misspelt. */
    unknownNames: (): string[] => enabled.filter((name) => !registry.has(name)),

    /**
     * Tools the caller may use: system tools, with unavailable ones marked, and tools of enabled skills, which win a
     * name clash (docs/api.md 5.2, 22.5).
     */
    async list(call: Call, { category }: ToolQuery): Promise<ToolEntry[]> {
      const offered = offeredTo(call)
      const tools = mergeTools({ inline: [], skills: offered(await ofSkills(call)), system: offered(on()) })
      return [...tools.values()].filter((tool) => category === undefined || tool.category === category).map(toEntry)
    },

    /** Validates inline tools before any other work of the request. Throws 400 `validation_error` or `url_blocked`. */
    assertInline: (inline: readonly InlineTool[]): void => void readInline(endpoints, inline),

    /** Validates the MCP servers of a request, and fetches their tools (docs/api.md 28.2). */
    servers,

    /** Converts a skill's tools into runnable ones. Throws 400 `validation_error` or `url_blocked`. */
    ofSkill: (skillId: string, tools: readonly SkillTool[]): Tool[] =>
      tools.map((tool, at) => ({
        name: tool.name,
        description: tool.description,
        inputSchema: tool.inputSchema ?? ANY_OBJECT,
        ...(tool.outputSchema ? { outputSchema: tool.outputSchema } : {}),
        category: 'skill',
        permissionLevel: tool.permissionLevel ?? 'user',
        skillId,
        timeoutMs: TIMEOUT_MS,
        requiresApproval: tool.requiresApproval ?? false,
        run: runOf(endpoints, tool, at),
      })),

    /** Selects the tools of one run. Throws 400 `validation_error` or `url_blocked` for faulty inline tools. */
    assemble({
      inline,
      skills,
      system: withSystem,
      stealth,
      bound = [],
      fromServers = [],
      without = [],
      approved,
      call,
    }: ToolSelection): Toolset {
      const offered = offeredTo(call)
      const isWanted = ({ name, keeps, unavailable }: Tool) =>
        !unavailable?.() && !(stealth && keeps) && !without.includes(name)
      const ours = (withSystem ? offered(on()).filter(isWanted) : []).filter(({ category }) => category !== 'browser')
      const allowed = offered(bound).filter((tool) => isWanted(tool) && on().some(({ name }) => name === tool.name))
      return toToolset(
        mergeTools({
          inline: [...fromServers, ...readInline(endpoints, inline)],
          skills: offered(skills),
          system: [...ours, ...allowed],
        }),
        approved,
      )
    },

    /**
     * The hosted tools that a request names, within its limits. `missing` maps the names of other tools to the reasons
     * why they cannot be offered.
     */
    hosted(call: Call, wanted: readonly HostedTool[], stealth: boolean) {
      const offered = new Map(offeredTo(call)(on()).map((tool) => [tool.name, tool]))
      const tools: Tool[] = []
      const missing = new Map<string, string>()
      for (const one of wanted) {
        const tool = offered.get(one.name)
        const keeps = stealth && tool?.keeps ? 'A stealth run keeps nothing.' : null
        const why = tool ? (keeps ?? tool.unavailable?.()) : 'This server does not offer it.'
        if (tool && !why) tools.push(bounded(tool, one))
        else missing.set(one.name, why!)
      }
      return { tools, missing }
    },

    /** Runs one tool call. Rejects only with the reason of the run's signal. */
    run: createRun({ roleOf, onFault }),

    /** The secret that signs calls to the caller's tool endpoints (docs/api.md 14.3). */
    signingSecret: secretOf,
    /** The signing secret of an owner, for work without a caller. */
    signingSecretOf: secretOfOwner,
  }

  function on(): Tool[] {
    return [...registry.values()].filter(({ name }) => enabled.length === 0 || enabled.includes(name))
  }
}

const offeredTo =
  ({ caller }: Call) =>
  (tools: readonly Tool[]): Tool[] =>
    tools.filter((tool) => isOffered(tool, caller))

function toEntry(tool: Tool): ToolEntry {
  const { name, description, inputSchema, outputSchema, category, permissionLevel, requiresApproval, skillId } = tool
  const unavailableReason = tool.unavailable?.() ?? null
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema ? { outputSchema } : {}),
    category,
    permissionLevel,
    requiresApproval,
    skillId,
    available: unavailableReason === null,
    unavailableReason,
    requiredScope: tool.scope ?? null,
  }
}

/**
 * Converts the tools defined in a request to runnable tools. Throws 400 `validation_error` with a detail for each
 * faulty definition, and 400 `url_blocked` for an endpoint this server does not call (docs/api.md 2.1, 22.5).
 */
function readInline(deps: EndpointDeps, tools: readonly InlineTool[]): Tool[] {
  assertDefinitions(tools)
  return tools.map((tool, at) =>
    systemTool({
      name: tool.name,
      description: tool.description,
      inputSchema: tool.input_schema ?? ANY_OBJECT,
      category: 'inline',
      timeoutMs: TIMEOUT_MS,
      run: runOf(deps, tool, at),
    }),
  )
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
  // Paths contain names from the caller's schema, so control characters are removed and paths are shortened.
  const problems = details
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => ({ path: shorten(clean(path), MAX_PATH_CHARS), message }))
  const [first] = problems
  if (!first) return
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  throw new AppError('validation_error', `"${quoted(first.path)}" ${first.message}${more}.`, {
    param: first.path,
    details: problems,
  })
}

const MAX_COUNT = 10

/** A tool limited to these bounds, for one request. */
function bounded(tool: Tool, { count, allowed, blocked, maxUses, set, took }: HostedTool): Tool {
  let uses = 0
  const permits = (url: unknown): boolean => {
    const host = URL.parse(String(url))?.hostname ?? ''
    const isOf = (domain: string) => host === domain || host.endsWith(`.${domain}`)
    return !(allowed?.length && !allowed.some(isOf)) && !blocked?.some(isOf)
  }
  const filters = Boolean(allowed?.length || blocked?.length)
  return {
    ...tool,
    async run(args, context) {
      uses += 1
      if (maxUses !== undefined && uses > maxUses)
        throw new ToolFailure(`${tool.name} may be used at most ${maxUses} times for this request.`)
      if (args.url !== undefined && !permits(args.url))
        throw new ToolFailure('The request does not allow pages of this address.')
      const wanted = {
        ...args,
        ...set,
        ...(tool.name === 'web_search' && (filters || count) ? { count: filters ? MAX_COUNT : count } : {}),
      }
      const found = (await tool.run(wanted, context)) as { results?: { url: string }[] }
      await took?.(found)
      if (!Array.isArray(found.results)) return found
      return { ...found, results: found.results.filter(({ url }) => permits(url)).slice(0, count ?? MAX_COUNT) }
    },
  }
}
