import type {
  AnswerSchema,
  Effort,
  EngineTool,
  ImagePart,
  Message,
  Sampling,
  TokenDetails,
  TokenLogprob,
  ToolCall,
  ToolChoice,
} from '../engines'
import type { GivenFile } from '../engines/schema'
import type { Guard } from '../guardrails'
import type { Call } from '../kernel/caller'
import type { Toolset } from '../tools/schema'

export type Image = Omit<ImagePart, 'type'>

/** A task for the agent: the messages, the engine that should answer, and the limits. */
export type Task = {
  /** The call of the request that the task serves. */
  call: Call
  /** True if nothing of the task may be recorded. */
  stealth?: boolean
  /** True if visitors of the owner's site read the answer. */
  forVisitors?: boolean
  engineId: string
  /** The resolved mode. Engines that are not language models use it to choose what to make. */
  mode: string
  system: string | null
  history: readonly Message[]
  prompt: string
  /** Turns after the prompt, when the client runs the tool loop: its calls and their results. */
  after: readonly Message[]
  images: readonly Image[]
  files?: readonly GivenFile[] | undefined
  temperature: number | undefined
  sampling?: Sampling | undefined
  effort?: Effort | undefined
  maxOutputTokens: number
  /** The answer must be JSON: any object, or one that fits a schema. */
  json: boolean | AnswerSchema
  signal: AbortSignal
  /** The tools and their limits. Null makes the task one engine call. */
  acting: ToolAccess | null
  /** The client's own functions. A call of one ends the run, and the client executes it (docs/api.md 4). */
  offered: OfferedTools | null
}

export type OfferedTools = {
  tools: readonly EngineTool[]
  choice: ToolChoice
  oneCallATurn: boolean
  /** Names of the tools that may be called. Absent for all. MCP tools in it are checked later. */
  only?: readonly string[]
}

/** The tools of a task, with what limits and pays for them (docs/api.md 22.5). */
export type ToolAccess = {
  toolset: Toolset
  /** Maximum number of turns that may call tools. The turn after them must answer. */
  maxIterations: number
  /** Maximum number of tool calls in the whole run. 100 if absent. */
  maxCalls?: number
  /** The call that the first turn has to make. */
  first?: ToolChoice
  call: Call
  conversationId: string | null
  /** Checks calls before they run and results before the engine reads them. Absent without a guardrail policy. */
  guard?: Pick<Guard, 'hasRules' | 'checkToolData'> | null
  spent: Spent
  /**
   * Called before every turn but the first. Returns the output tokens that the credit covers, at most the wanted
   * number. Below `MIN_ANSWER_TOKENS` the engine is not called again.
   */
  afford(wanted: { promptTokens: number; completionTokens: number }): Promise<number>
  /** The error to throw when the credit runs out before the engine has produced any text. */
  unpaid(): Error
}

/** Tokens and tool calls of the finished turns. Updated during the run, so that an early end can be charged. */
export type Spent = {
  turns: CountedTurn[]
  toolUses: ToolUse[]
  /** When each use began, on the clock's monotonic scale, and how long it ran, in milliseconds. */
  timings?: Map<ToolUse, { from: number; ms: number }>
  /** Length of the text of the finished turns. */
  textLength: number
  /** Ids of files that tools made, and what those tools were charged by themselves. */
  made?: { artifacts: string[]; costCents: number }
}

/** The engine and the tokens of one engine call. */
export type CountedTurn = TokenDetails & {
  /** The engine that answered. After a fallback it differs from the requested engine. */
  engineId: string
  /** True for the built-in engine, which costs nothing. */
  free: boolean
  promptTokens: number
  completionTokens: number
  /** Number of pages that were read for the answer. */
  pages?: number
  /** Number of pictures that were made. */
  images?: number
  /** Length of the video that was made, in seconds. */
  seconds?: number
}

/** A finished tool call, as the caller sees it (docs/api.md 2.2). */
export type ToolUse = {
  id: string
  name: string
  status: 'success' | 'error' | 'awaiting_approval'
  description: string
  arguments: Record<string, unknown>
  result: unknown
}

/** The output of one turn of a run with tools. The turn came after the first `uses` tool calls of the run had ended. */
export type SpokenTurn = { uses: number; reasoning: string; text: string }

/** Separates the texts of two turns in the content of an answer. */
export const TURN_GAP = '\n\n'

export type FinishedBecause = 'stop' | 'length' | 'content-filter' | 'tool-calls'

/** The result of a task. Tokens are the engine's count, or our own if the engine's is not credible. */
export type AgentResult = CountedTurn & {
  content: string
  /** The engine's reasoning before the answer. Empty if the engine does not report it. */
  reasoning: string
  /** The engine's refusal, which is then also the content. Empty if it did not refuse. */
  refusal: string
  finish: FinishedBecause
  /** The text of `stop` that ended the answer. Absent if none did. */
  stoppedBy?: string | undefined
  /** The build of the upstream, if the upstream reports it. */
  fingerprint?: string | undefined
  /** Log probabilities of the content's tokens, if they were requested and are known. */
  logprobs?: readonly TokenLogprob[]
  fallbackUsed: boolean
  /** Milliseconds to the first text. Null when the answer came in one piece. */
  ttftMs: number | null
  /** One entry for each engine call. `promptTokens` and `completionTokens` are their sums. */
  turns: readonly CountedTurn[]
  /** The output of each turn, for a run with tool calls. */
  spoken?: readonly SpokenTurn[]
  toolUses: readonly ToolUse[]
  /** Calls of the client's own functions. */
  toolCalls: readonly ToolCall[]
  /** Sentences for the caller, such as why the tools were stopped early. */
  warnings: readonly string[]
}

/** A result that costs nothing and has no content. */
export const EMPTY_RESULT: Omit<AgentResult, 'engineId' | 'content'> = {
  free: false,
  promptTokens: 0,
  completionTokens: 0,
  reasoning: '',
  refusal: '',
  finish: 'stop',
  fallbackUsed: false,
  ttftMs: null,
  turns: [],
  toolUses: [],
  toolCalls: [],
  warnings: [],
}

/** Receives each step of a run as it arrives. A promise is awaited before the run continues. */
export type Emit = (step: Step) => void | Promise<void>

/** A step of a streamed run. */
export type Step =
  | { type: 'text'; text: string; logprobs?: readonly TokenLogprob[] }
  | { type: 'reasoning'; text: string }
  | { type: 'refusal'; text: string }
  /** A piece of the arguments of a call of the client's own function. The first piece may be empty. */
  | { type: 'call'; id: string; name: string; arguments: string }
  | { type: 'thinking'; iteration: number; elapsedMs: number }
  | { type: 'tool-began'; id: string; name: string; arguments: Record<string, unknown> }
  | ({ type: 'tool-ended' } & ToolUse)
