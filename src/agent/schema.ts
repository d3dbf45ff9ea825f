import type { EngineTool, JsonSchema, Message, ToolCall, ToolChoice } from '../engines'
import type { Guard } from '../guardrails'
import type { Call } from '../kernel/caller'
import type { Toolset } from '../tools/schema'

export type Image = { mimeType: string; base64: string }

/** One piece of thinking: what is asked, by whom it is to be answered, and within what bounds. */
export type Task = {
  engineId: string
  /** The resolved mode; engines that are not language models answer by it. */
  mode: string
  system: string | null
  history: readonly Message[]
  prompt: string
  /** What was said after the prompt, where a client keeps the loop itself: its calls and their results. */
  after: readonly Message[]
  images: readonly Image[]
  temperature: number | undefined
  maxOutputTokens: number
  /** The answer must be JSON: any object, or one that fits a schema. */
  json: boolean | JsonSchema
  signal: AbortSignal
  /** What it may act with; null makes it one engine call. */
  acting: Acting | null
  /** Functions of the client's own: a call of one ends the thought, and the client runs it (contract 4). */
  offered: Offered | null
}

export type Offered = { tools: readonly EngineTool[]; choice: ToolChoice; oneCallATurn: boolean }

/** What a task with tools needs beyond thinking (contract 22.5). */
export type Acting = {
  toolset: Toolset
  /** Turns in which tools may be called; the one after them must answer. */
  maxIterations: number
  /** Calls of tools in the whole run; absent, a hundred. */
  maxCalls?: number
  call: Call
  conversationId: string | null
  /** The guard of the run: calls are checked before they run, results before they are read. Absent: none. */
  guard?: Pick<Guard, 'hasRules' | 'checkToolData'> | null
  spent: Spent
  /**
   * Asked before every turn but the first: how many tokens of answer the credit covers, at most those
   * wanted. Below `MIN_ANSWER_TOKENS` nothing more is asked.
   */
  afford(wanted: { promptTokens: number; completionTokens: number }): Promise<number>
  /** What to throw when the credit ran out before anything was said. */
  unpaid(): Error
}

/** What turns that are over came to; kept up as it goes, so that an early end can be settled. */
export type Spent = { turns: CountedTurn[]; uses: ToolUse[] /** Length of the text they said. */; said: number }

/** Tokens of one engine call, and whose. */
export type CountedTurn = {
  /** The service engine that answered, which after a fallback is not the one asked. */
  engineId: string
  /** The built-in engine costs nothing. */
  free: boolean
  promptTokens: number
  completionTokens: number
}

/** A tool call that is over, as the caller sees it (contract 2.2). */
export type ToolUse = {
  id: string
  name: string
  status: 'success' | 'error'
  description: string
  arguments: Record<string, unknown>
  result: unknown
}

export type FinishedBecause = 'stop' | 'length' | 'content-filter' | 'tool-calls'

/** How a task ended, with tokens counted by the engine or, where it lies, by us. */
export type Thought = CountedTurn & {
  content: string
  finish: FinishedBecause
  fallbackUsed: boolean
  /** Milliseconds to the first text; null when it came whole. */
  ttftMs: number | null
  /** One engine call each; `promptTokens` and `completionTokens` are their sums. */
  turns: readonly CountedTurn[]
  toolUses: readonly ToolUse[]
  /** Calls of the client's own functions. */
  toolCalls: readonly ToolCall[]
  /** Why it ended before the engine was done with its tools, as sentences for the caller. */
  warnings: readonly string[]
}

/** What a watcher sees while it happens. */
export type Step =
  | { type: 'text'; text: string }
  | { type: 'thinking'; iteration: number; elapsedMs: number }
  | { type: 'tool-began'; id: string; name: string; arguments: Record<string, unknown> }
  | ({ type: 'tool-ended' } & ToolUse)
