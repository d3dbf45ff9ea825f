import type { EngineTool, JsonSchema } from '../engines'
import type { Guard } from '../guardrails'
import type { Call, Scope } from '../kernel/caller'

export const CATEGORIES = ['search', 'code', 'media', 'documents', 'memory', 'browser', 'skill', 'inline'] as const
type Category = (typeof CATEGORIES)[number]

/**
 * Who may use a tool: anyone, members of the active org, its owner and admins, or only this server (docs/api.md 5.2).
 */
export const PERMISSION_LEVELS = ['user', 'org_member', 'org_admin', 'system'] as const
export type PermissionLevel = (typeof PERMISSION_LEVELS)[number]

/** What a tool knows of the run that calls it. */
export type ToolContext = {
  call: Call
  /** Aborts the tool's work when the run ends or the tool's time-out has passed. */
  signal: AbortSignal
  /** Epoch ms. */
  now: number
  conversationId: string | null
  /** The run's guardrails, which check a result before the engine reads it. Absent or null: none. */
  guard?: Pick<Guard, 'hasRules' | 'checkToolData'> | null
  /** Told of the files a tool has made and what it was charged by itself. */
  made?(things: MadeThings): void
}

export type MadeThings = { artifacts: readonly string[]; costCents: number }

export type Tool = {
  name: string
  description: string
  /** JSON Schema of the arguments, checked before `run` is called. */
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  category: Category
  permissionLevel: PermissionLevel
  /** A scope the caller's key needs in addition to the scope of the route. */
  scope?: Scope
  /** Runs only when `metadata.approved_tools` names it (docs/api.md 22.5). */
  requiresApproval: boolean
  /** A call that is not approved is not a failure, but handed to the caller (docs/api.md 28.2). */
  asksCaller?: boolean
  /** The skill that defines the tool; null for other tools. */
  skillId: string | null
  timeoutMs: number
  /** What it makes is kept beyond the run, so that stealth runs are not offered it (docs/api.md 2.1). */
  keeps?: true
  /** Why the tool cannot work on this server, in one sentence for the engine; null when it can. */
  unavailable?(): string | null
  /** Throws {@link ToolFailure} with a sentence for the engine; any other error counts as a fault of this server. */
  run(args: Record<string, unknown>, context: ToolContext): Promise<unknown>
}

/** A tool of this server that any user may have run, without approval. */
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

/** One tool call requested by an engine; `arguments` is JSON text. */
export type RequestedCall = { id: string; name: string; arguments: string }

/** How one call ended. */
export type ToolOutcome = {
  status: 'success' | 'error' | 'awaiting_approval'
  /** One sentence for people, without data. */
  description: string
  /** Null when the engine's arguments were no JSON object. */
  arguments: Record<string, unknown> | null
  /** What callers see, bounded; null after an error. */
  result: unknown
  /** What the engine reads: bounded, fenced as data. */
  text: string
}

/**
 * A failure the engine should read and react to. The message is written by this server and names no vendor or secret;
 * text from third parties goes into `data`, which is fenced.
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

/** A tool of this server that a request names by the word of its client, with what the request sets for it. */
export type HostedTool = {
  name: 'web_search' | 'web_fetch' | 'generate_image'
  /** Results of one search. */
  count?: number | undefined
  /** Domains whose pages may be shown, with those below them, and domains whose pages may not. */
  allowed?: readonly string[] | undefined
  blocked?: readonly string[] | undefined
  maxUses?: number | undefined
  /** Arguments that the client has set; they go before those of the engine. */
  set?: Readonly<Record<string, unknown>>
  /** Told of each result before the engine reads it. */
  took?(result: unknown): Promise<void>
}
