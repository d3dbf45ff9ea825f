import type { EngineTool, JsonSchema } from '../engines'
import type { Guard } from '../guardrails'
import type { Call, Scope } from '../kernel/caller'

export const CATEGORIES = ['search', 'code', 'media', 'documents', 'memory', 'browser', 'skill', 'inline'] as const
/** Who may use a tool: anyone, members of the active org, its owner and admins, or this server (docs/api.md 5.2). */
export const PERMISSION_LEVELS = ['user', 'org_member', 'org_admin', 'system'] as const
export type PermissionLevel = (typeof PERMISSION_LEVELS)[number]

/** The context of the run that calls a tool. */
export type ToolContext = {
  call: Call
  /** Aborts the tool's work when the run ends or the tool's timeout has passed. */
  signal: AbortSignal
  /** Epoch ms. */
  now: number
  conversationId: string | null
  /** The run's guardrails, which check a result before the engine reads it. Absent or null: none. */
  guard?: Pick<Guard, 'hasRules' | 'checkToolData'> | null
  /** Reports the files that a tool has made and its separate charge. */
  made?(things: MadeThings): void
}

export type MadeThings = { artifacts: readonly string[]; costCents: number }

export type Tool = {
  name: string
  description: string
  /** JSON Schema of the arguments, checked before `run` is called. */
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  category: (typeof CATEGORIES)[number]
  permissionLevel: PermissionLevel
  /** A scope the caller's key needs in addition to the scope of the route. */
  scope?: Scope
  /** Runs only when `metadata.approved_tools` names it (docs/api.md 22.5). */
  requiresApproval: boolean
  /** A call without approval is not a failure, but is returned to the caller for approval (docs/api.md 28.2). */
  asksCaller?: boolean
  /** The skill that defines the tool. Null for other tools. */
  skillId: string | null
  timeoutMs: number
  /** Its results are stored beyond the run, so stealth runs are not offered the tool (docs/api.md 2.1). */
  keeps?: true
  /** Why the tool cannot work on this server, in one sentence for the engine. Null when it can. */
  unavailable?(): string | null
  /** Throws {@link ToolFailure} with a sentence for the engine. Any other error counts as a fault of this server. */
  run(args: Record<string, unknown>, context: ToolContext): Promise<unknown>
}

/** A tool of this server that any user may run without approval. */
export const systemTool = (tool: Omit<Tool, 'permissionLevel' | 'requiresApproval' | 'skillId'>): Tool => ({
  ...tool,
  permissionLevel: 'user',
  requiresApproval: false,
  skillId: null,
})

/** The tools of one run. Fixed before its first iteration, so that no tool result can change it. */
export type Toolset = {
  readonly tools: ReadonlyMap<string, Tool>
  readonly definitions: readonly EngineTool[]
  /** Names of the tools the caller has approved. */
  readonly approved: ReadonlySet<string>
}

/** One tool call requested by an engine. `arguments` is JSON text. */
export type RequestedCall = { id: string; name: string; arguments: string }

/** How one call ended. */
export type ToolOutcome = {
  status: 'success' | 'error' | 'awaiting_approval'
  /** One sentence for people, without data. */
  description: string
  /** Null when the engine's arguments were not a JSON object. */
  arguments: Record<string, unknown> | null
  /** The result as callers see it, bounded. Null after an error. */
  result: unknown
  /** The text that the engine reads: bounded, fenced as data. */
  text: string
}

/**
 * A failure that the engine should read and react to. This server writes the message, which names no vendor or secret.
 * Text from third parties goes into `data`, which is fenced.
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

/** A tool of this server that a request names by its client's term, with the request's settings. */
export type HostedTool = {
  name: 'web_search' | 'web_fetch' | 'generate_image'
  /** Results of one search. */
  count?: number | undefined
  /** Domains whose pages may be shown, including their subdomains, and domains whose pages may not. */
  allowed?: readonly string[] | undefined
  blocked?: readonly string[] | undefined
  maxUses?: number | undefined
  /** Arguments set by the client. They override those of the engine. */
  set?: Readonly<Record<string, unknown>>
  /** Called with each result before the engine reads it. */
  took?(result: unknown): Promise<void>
}
