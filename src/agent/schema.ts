import type { PastTurn } from '../conversations'

export type Image = { mimeType: string; base64: string }

/** One piece of thinking: what is asked, by whom it is to be answered, and within what bounds. */
export type Task = {
  engineId: string
  /** The resolved mode; engines that are not language models answer by it. */
  mode: string
  system: string | null
  history: readonly PastTurn[]
  prompt: string
  images: readonly Image[]
  temperature: number | undefined
  maxOutputTokens: number
  /** The answer must be JSON. */
  json: boolean
  signal: AbortSignal
}

export type FinishedBecause = 'stop' | 'length' | 'content-filter' | 'tool-calls'

/** How a task ended, with tokens counted by the engine or, where it lies, by us. */
export type Thought = {
  content: string
  finish: FinishedBecause
  promptTokens: number
  completionTokens: number
  /** The service engine that answered, which after a fallback is not the one asked. */
  engineId: string
  /** The built-in engine costs nothing. */
  free: boolean
  fallbackUsed: boolean
  /** Milliseconds to the first text; null when it came whole. */
  ttftMs: number | null
}

/** What a watcher sees while it happens. */
export type Step = { type: 'text'; text: string }
