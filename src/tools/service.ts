import type { Call } from '../kernel/caller'
import type { Outbound } from '../kernel/outbound'
import { createInline } from './inline'
import { isOffered, mergeTools, toToolset } from './rules'
import { createRun } from './run'
import type { InlineTool, ToolEntry, ToolQuery } from './schema'
import { createSecretOf } from './signing-secret'
import { createOfSkill } from './skill'
import type { Tool, Toolset } from './tool'

type Deps = Parameters<typeof createRun>[0] & {
  outbound: Outbound
  masterKey: Uint8Array
  /** System tools this room brings; later rooms register theirs. */
  system: readonly Tool[]
  /** Names of system tools that are on; empty is all of them. */
  enabled: readonly string[]
}

export type Wanted = {
  inline: readonly InlineTool[]
  /** Tools of the skills that are active, already read. */
  skills: readonly Tool[]
  /** Whether system tools are offered. */
  system: boolean
  /** Of a run that keeps nothing: tools that remember are left out (contract 2.1, stealth). */
  stealth?: boolean
  /** `metadata.approved_tools`. */
  approved: readonly string[]
  call: Call
}

/** The tools of what a caller has installed and switched on, each name once. */
type SkillTools = (call: Call) => Promise<readonly Tool[]>

export type Tools = ReturnType<typeof createTools>

/** What engines may call: which tools there are, what a run is given of them, and running one. */
export function createTools({ outbound, masterKey, system, enabled, roleOf, onFault }: Deps) {
  const registry = new Map(system.map((tool) => [tool.name, tool]))
  const secretOf = createSecretOf(masterKey)
  const readInline = createInline({ outbound, secretOf })
  let ofSkills: SkillTools = async () => []

  return {
    /** Adds a system tool of a later room, at start. */
    register(tool: Tool): void {
      if (registry.has(tool.name)) throw new Error(`two tools are named ${tool.name}`)
      registry.set(tool.name, tool)
    },

    /** Says, at start, where to read the tools that a caller's skills bring. */
    bringSkills(source: SkillTools): void {
      ofSkills = source
    },

    /** Names in SVC_SYSTEM_TOOLS that no room has registered: most likely misspelt. */
    unknownNames: (): string[] => enabled.filter((name) => !registry.has(name)),

    /**
     * What the caller may have engines use, by the rules of a run: ours, those that cannot work here included
     * and marked, and those of installed skills that are on, which win a name clash (contract 5.2, 22.5).
     */
    async list(call: Call, { category }: ToolQuery): Promise<ToolEntry[]> {
      const offered = offeredTo(call)
      const tools = mergeTools({ inline: [], skills: offered(await ofSkills(call)), system: offered(on()) })
      return [...tools.values()].filter((tool) => category === undefined || tool.category === category).map(toEntry)
    },

    /** Reads tools of a request as they will be read. Throws 400 `validation_error` or `url_blocked`. */
    assertInline: (inline: readonly InlineTool[]): void => void readInline(inline),

    /** The tools of a skill, ready to run. Throws 400 `validation_error` or `url_blocked`. */
    ofSkill: createOfSkill({ outbound, secretOf }),

    /** What one run may call. Throws 400 `validation_error` or `url_blocked` for tools of the request. */
    assemble({ inline, skills, system: withSystem, stealth, approved, call }: Wanted): Toolset {
      const offered = offeredTo(call)
      const mayKeep = ({ category }: Tool) => !stealth || category !== 'memory'
      const ours = withSystem ? offered(on()).filter((tool) => !tool.unavailable?.() && mayKeep(tool)) : []
      return toToolset(mergeTools({ inline: readInline(inline), skills: offered(skills), system: ours }), approved)
    },

    /** Runs one call of a run. Never rejects but with the reason of the run's signal. */
    run: createRun({ roleOf, onFault }),

    /** What signs calls to the caller's tool endpoints (contract 14.3). */
    signingSecret: (call: Call): string => secretOf(call),
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
