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
  /** The request that it serves. */
  call: Call
  /** Nothing of it may be recorded. */
  stealth?: boolean
  /** Visitors of somebody's site read the answer. */
  forVisitors?: boolean
  engineId: string
  /** The resolved mode; engines that are not language models choose by it what to make. */
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
  /** The tools and their limits; null makes the task one engine call. */
  acting: Acting | null
  /** The client's own functions: a call of one ends the run, and the client executes it (docs/api.md 4). */
  offered: Offered | null
}

export type Offered = {
  tools: readonly EngineTool[]
  choice: ToolChoice
  oneCallATurn: boolean
  /** Names of the tools that may be called; absent for all. Those of MCP servers among them are not known at first. */
  only?: readonly string[]
}

/** The tools of a task, and what limits and pays for them (docs/api.md 22.5). */
export type Acting = {
  toolset: Toolset
  /** Turns in which tools may be called; the one after them must answer. */
  maxIterations: number
  /** Most tool calls in the whole run; 100 when absent. */
  maxCalls?: number
  /** What the first turn has to call. */
  first?: ToolChoice
  call: Call
  conversationId: string | null
  /** Checks calls before they run and results before the engine reads them; absent without a guardrail policy. */
  guard?: Pick<Guard, 'hasRules' | 'checkToolData'> | null
  spent: Spent
  /**
   * Called before every turn but the first: output tokens that the credit covers, at most those wanted. Below
   * `MIN_ANSWER_TOKENS` the engine is not called again.
   */
  afford(wanted: { promptTokens: number; completionTokens: number }): Promise<number>
  /** The error to throw when the credit runs out before the engine has produced any text. */
  unpaid(): Error
}

/** Tokens and tool calls of the finished turns; updated during the run so that an early end can be charged. */
export type Spent = {
  turns: CountedTurn[]
  uses: ToolUse[]
  /** When each of them began, on the clock's monotonic scale, and how long it ran, in milliseconds. */
  took?: Map<ToolUse, { from: number; ms: number }>
  /** Length of the text they said. */
  said: number
  /** Ids of files that tools made, and what those tools were charged by themselves. */
  made?: { artifacts: string[]; costCents: number }
}

/** The engine and the tokens of one engine call. */
export type CountedTurn = TokenDetails & {
  /** The engine that answered; after a fallback it differs from the one that was asked. */
  engineId: string
  /** True for the built-in engine, which costs nothing. */
  free: boolean
  promptTokens: number
  completionTokens: number
  /** Pages that were read for it. */
  pages?: number
  /** Pictures that it made. */
  images?: number
  /** Seconds of a video that it made. */
  seconds?: number
}

/** A tool call that is over, as the caller sees it (docs/api.md 2.2). */
export type ToolUse = {
  id: string
  name: string
  status: 'success' | 'error' | 'awaiting_approval'
  description: string
  arguments: Record<string, unknown>
  result: unknown
}

/** What one turn of a run with tools said, after the first `uses` tool calls of the run had ended. */
export type SpokenTurn = { uses: number; reasoning: string; text: string }

/** Separates the texts of two turns in the content of an answer. */
export const TURN_GAP = '\n\n'

export type FinishedBecause = 'stop' | 'length' | 'content-filter' | 'tool-calls'

/** The result of a task. Tokens are the engine's count, or ours where the engine's is not credible. */
export type AgentResult = CountedTurn & {
  content: string
  /** What the engine thought before it answered; empty where it does not say. */
  reasoning: string
  /** What the engine said in place of an answer, which is its content then; empty when it did not refuse. */
  refusal: string
  finish: FinishedBecause
  /** The text of `stop` that ended it; absent for none. */
  stoppedBy?: string | undefined
  /** The build of the upstream that answered, where it says so. */
  fingerprint?: string | undefined
  /** How likely the tokens of its content were, where that was asked and is known. */
  logprobs?: readonly TokenLogprob[]
  fallbackUsed: boolean
  /** Milliseconds to the first text; null when it came whole. */
  ttftMs: number | null
  /** One engine call each; `promptTokens` and `completionTokens` are their sums. */
  turns: readonly CountedTurn[]
  /** Of a run with tool calls: what each turn said. */
  spoken?: readonly SpokenTurn[]
  toolUses: readonly ToolUse[]
  /** Calls of the client's own functions. */
  toolCalls: readonly ToolCall[]
  /** Sentences for the caller, such as why the tools were stopped early. */
  warnings: readonly string[]
}

/** Gets each step of a run as it comes; a promise is awaited before the run continues. */
export type Emit = (step: Step) => void | Promise<void>

/** A step of a streamed run. */
export type Step =
  | { type: 'text'; text: string; logprobs?: readonly TokenLogprob[] }
  | { type: 'reasoning'; text: string }
  | { type: 'refusal'; text: string }
  /** A piece of the arguments of a call of the client's own function; its first piece may be empty. */
  | { type: 'call'; id: string; name: string; arguments: string }
  | { type: 'thinking'; iteration: number; elapsedMs: number }
  | { type: 'tool-began'; id: string; name: string; arguments: Record<string, unknown> }
  | ({ type: 'tool-ended' } & ToolUse)
