import type { EngineTool, JsonSchema } from '../engines'
import type { Guard } from '../guardrails'
import type { Call, Scope } from '../kernel/caller'

export const CATEGORIES = ['search', 'code', 'media', 'documents', 'memory', 'browser', 'skill', 'inline'] as const
export type Category = (typeof CATEGORIES)[number]

/** Who may use a tool: anyone, who acts in an org, its owner and admins, or this server alone (contract 5.2). */
export const PERMISSION_LEVELS = ['user', 'org_member', 'org_admin', 'system'] as const
export type PermissionLevel = (typeof PERMISSION_LEVELS)[number]

/** What a tool may know of the run it serves. */
export type ToolContext = {
  call: Call
  /** Ends the tool; given to it already bounded by its time-out. */
  signal: AbortSignal
  /** Epoch ms. */
  now: number
  conversationId: string | null
  /** The guard of the run: what a tool gives is checked before an engine reads it. Absent: none. */
  guard?: Pick<Guard, 'hasRules' | 'checkToolData'> | null
}

/** Something an engine may call. */
export type Tool = {
  name: string
  description: string
  /** JSON Schema of the arguments, checked before `run` is called. */
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  category: Category
  permissionLevel: PermissionLevel
  /** A scope the caller's key must carry besides the one that brought it here. */
  scope?: Scope
  /** Not run unless the caller named it beforehand (contract 22.5). */
  requiresApproval: boolean
  /** The installed skill it came with. */
  skillId: string | null
  timeoutMs: number
  /** Why it cannot work here, in one sentence for the engine; null when it can. */
  unavailable?(): string | null
  /** Throws {@link ToolFailure} with a sentence for the engine; anything else is a fault of ours. */
  run(args: Record<string, unknown>, context: ToolContext): Promise<unknown>
}

/** What one run may call, fixed before its first turn: nothing a tool answers can change it. */
export type Toolset = {
  readonly tools: ReadonlyMap<string, Tool>
  readonly definitions: readonly EngineTool[]
  /** Tools that ask for approval and have it. */
  readonly approved: ReadonlySet<string>
}

/** One call as an engine asks for it; `arguments` is JSON text. */
export type AskedCall = { id: string; name: string; arguments: string }

/** How one call ended. */
export type ToolOutcome = {
  status: 'success' | 'error'
  /** One sentence for people, without data. */
  description: string
  /** Null when what the engine wrote is no JSON object. */
  arguments: Record<string, unknown> | null
  /** What callers see, bounded; null after an error. */
  result: unknown
  /** What the engine reads: bounded, fenced as data. */
  text: string
}

/**
 * A failure the engine should read and react to. The message is ours, names no vendor and no secret; what a
 * stranger said of it goes into `data`, which is fenced.
 */
export class ToolFailure extends Error {
  override name = 'ToolFailure'
  constructor(
    message: string,
    readonly data = '',
  ) {
    super(message)
  }
}
