import { type Call, ownerOf } from '../kernel/caller'
import type { Outbound } from '../kernel/outbound'
import { createInline } from './inline'
import { isOffered, mergeTools, toToolset } from './rules'
import { createRun } from './run'
import type { InlineTool, ToolEntry, ToolQuery } from './schema'
import { createServers } from './servers'
import { createSecretOf } from './signing-secret'
import { createOfSkill } from './skill'
import type { Tool, Toolset } from './tool'

type Deps = Parameters<typeof createRun>[0] & {
  outbound: Outbound
  masterKey: Uint8Array
  /** System tools of this room; later rooms add theirs with `register`. */
  system: readonly Tool[]
  /** Names of the system tools that are on; an empty list means all. */
  enabled: readonly string[]
}

export type Wanted = {
  inline: readonly InlineTool[]
  /** Tools of the active skills, already converted by `ofSkill`. */
  skills: readonly Tool[]
  /** Whether system tools are offered. */
  system: boolean
  /** A stealth run stores nothing, so tools that keep what they make are left out (contract 2.1). */
  stealth?: boolean
  /** Tools of the browser session of the run; without them no browser tool is offered. */
  bound?: readonly Tool[]
  /** Tools of the MCP servers of the request. */
  brought?: readonly Tool[]
  /** Names of system tools that the run has no use for. */
  without?: readonly string[]
  /** `metadata.approved_tools`. */
  approved: readonly string[]
  call: Call
}

/** Tools of the caller's installed and enabled skills; names are unique. */
type SkillTools = (call: Call) => Promise<readonly Tool[]>

export type Tools = ReturnType<typeof createTools>

/** Lists tools, selects those of a run, and runs single calls. */
export function createTools({ outbound, masterKey, system, enabled, roleOf, onFault }: Deps) {
  const registry = new Map(system.map((tool) => [tool.name, tool]))
  const secretOfOwner = createSecretOf(masterKey)
  const secretOf = ({ caller }: Call): string => secretOfOwner(ownerOf(caller))
  const readInline = createInline({ outbound, secretOf })
  const servers = createServers({ outbound })
  let ofSkills: SkillTools = async () => []

  return {
    /** Adds a system tool of a later room, at start. */
    register(tool: Tool): void {
      if (registry.has(tool.name)) throw new Error(`two tools are named ${tool.name}`)
      registry.set(tool.name, tool)
    },

    /** Sets, at start, how the tools of a caller's skills are read; skills are a later room. */
    bringSkills(source: SkillTools): void {
      ofSkills = source
    },

    /** Names in SVC_SYSTEM_TOOLS that match no registered tool, most likely misspelt. */
    unknownNames: (): string[] => enabled.filter((name) => !registry.has(name)),

    /**
     * Tools the caller may use: system tools, with unavailable ones marked, and tools of enabled skills, which win a
     * name clash (contract 5.2, 22.5).
     */
    async list(call: Call, { category }: ToolQuery): Promise<ToolEntry[]> {
      const offered = offeredTo(call)
      const tools = mergeTools({ inline: [], skills: offered(await ofSkills(call)), system: offered(on()) })
      return [...tools.values()].filter((tool) => category === undefined || tool.category === category).map(toEntry)
    },

    /** Validates inline tools before any other work of the request. Throws 400 `validation_error` or `url_blocked`. */
    assertInline: (inline: readonly InlineTool[]): void => void readInline(inline),

    /** Checks the MCP servers of a request, and brings their tools (contract 28.2). */
    servers,

    /** Converts a skill's tools into runnable ones. Throws 400 `validation_error` or `url_blocked`. */
    ofSkill: createOfSkill({ outbound, secretOf }),

    /** Selects the tools of one run. Throws 400 `validation_error` or `url_blocked` for faulty inline tools. */
    assemble({
      inline,
      skills,
      system: withSystem,
      stealth,
      bound = [],
      brought = [],
      without = [],
      approved,
      call,
    }: Wanted): Toolset {
      const offered = offeredTo(call)
      const isWanted = ({ name, keeps, unavailable }: Tool) =>
        !unavailable?.() && !(stealth && keeps) && !without.includes(name)
      const ours = (withSystem ? offered(on()).filter(isWanted) : []).filter(({ category }) => category !== 'browser')
      const allowed = offered(bound).filter((tool) => isWanted(tool) && on().some(({ name }) => name === tool.name))
      return toToolset(
        mergeTools({
          inline: [...brought, ...readInline(inline)],
          skills: offered(skills),
          system: [...ours, ...allowed],
        }),
        approved,
      )
    },

    /** Runs one tool call. Rejects only with the reason of the run's signal. */
    run: createRun({ roleOf, onFault }),

    /** The secret that signs calls to the caller's tool endpoints (contract 14.3). */
    signingSecret: secretOf,
    /** The same of an owner, where nobody calls. */
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
