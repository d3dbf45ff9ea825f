import type { Image, Spent } from '../agent/schema'
import type { Hold } from '../billing/schema'
import type { ConversationId } from '../conversations/schema'
import type { Message } from '../engines'
import type { Guard } from '../guardrails'
import type { Call } from '../kernel/caller'
import type { BrandSoul } from '../keys/schema'
import type { Effective } from '../routing-preferences'
import type { Activation } from '../skills'
import type { Toolset } from '../tools/schema'
import type { Ask } from './ask'
import type { StoredAnswer } from './cache'
import type { CompletionId, ModelRef, Routing, Usage } from './schema'

/** A request with everything it uses loaded. Each later stage adds its own results. */
export type Opened = {
  readonly id: CompletionId
  readonly call: Call
  readonly ask: Ask
  readonly stream: boolean
  /** `clock.monotonic()` when the pipeline began. */
  readonly startedAt: number
  readonly history: readonly Message[]
  /** The conversation it continues, already checked to be the caller's own. */
  readonly attached: ConversationId | null
  /** Where the turn is stored: the conversation it continues or the new one it begins; null when it is not stored. */
  readonly conversationId: ConversationId | null
  /** Null when the answer may not be cached. */
  readonly cacheKey: string | null
  /** The brand soul this answer follows. */
  readonly soul: BrandSoul | null
  /** The user's memories that match the prompt, best first. */
  readonly memories: readonly string[]
  /** The caller's routing preferences; null unless the mode is `auto` (contract 13). */
  readonly guidance: Effective | null
  /** The active skills, with their prompt and tools (contract 22.4). */
  readonly active: Activation
  /** Applies the caller's guardrail policy; null without one (contract 12). */
  readonly guard: Guard | null
  readonly deadline: Deadline
}

/** Aborts when the client leaves or the time is up; `timedOut` tells which. */
export type Deadline = { readonly signal: AbortSignal; timedOut(): boolean; end(): void }

/** A run whose mode and engine are chosen. */
export type Decided = Opened & {
  readonly resolvedMode: string
  readonly engineId: string
  readonly model: ModelRef
  /** The public name of an engine; a fallback engine may answer instead of `engineId`. */
  modelOf(engineId: string): ModelRef
  readonly routing: Routing
  /** Sentences about routing rules that were skipped, and why. */
  readonly routingWarnings: readonly string[]
  /** Milliseconds it took to choose the mode; null when the caller chose it. */
  readonly classifiedMs: number | null
  readonly images: readonly Image[]
  readonly system: string | null
  /** Sentences for the caller, besides those of the ask. */
  readonly warnings: readonly string[]
  /** Null when the engine is offered no server-side tools. */
  readonly toolset: Toolset | null
  readonly promptTokens: number
  readonly maxOutputTokens: number
}

/** A run within its limits whose money is held; from here on it must end in `finish` or `fail`. */
export type Admitted = Decided & {
  /** Null when the answer is free. Extended for each further turn of a run with tools. */
  hold: Hold | null
  /** Tokens and tool calls of the finished turns, to charge a run that ends early. */
  readonly spent: Spent
  /** Corrects the tokens reserved at admission to the true count. */
  correctTokens(actual: number): void
}

/** A stored answer, ready to be formatted. */
export type Result = {
  readonly answer: StoredAnswer
  readonly usage: Usage
  readonly costMicro: number
  readonly conversationId: ConversationId | null
}
