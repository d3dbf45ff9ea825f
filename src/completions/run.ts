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

/** A request that has been read and may go on. Each later stage adds what it found out. */
export type Opened = {
  readonly id: CompletionId
  readonly call: Call
  readonly ask: Ask
  readonly stream: boolean
  /** `clock.monotonic()` when the pipeline began. */
  readonly startedAt: number
  readonly history: readonly Message[]
  /** The conversation it continues, found to be the caller's own. */
  readonly attached: ConversationId | null
  /** Null when its answer may not be cached. */
  readonly cacheKey: string | null
  /** The cache key without the prompt: equal for requests that differ in nothing else. Null as `cacheKey` is. */
  readonly promptlessKey: string | null
  /** The brand soul this answer follows. */
  readonly soul: BrandSoul | null
  /** What the user had remembered and this prompt is about, best first. */
  readonly memories: readonly string[]
  /** What the caller has said about modes and engines; null unless the mode is `auto` (contract 13). */
  readonly guidance: Effective | null
  /** The skills that take part, and what they bring (contract 22.4). */
  readonly active: Activation
  /** The guard of its guardrail policy; null without one (contract 12). */
  readonly guard: Guard | null
  readonly deadline: Deadline
}

/** Aborts when the client leaves or the time is up; `timedOut` tells which. */
export type Deadline = { readonly signal: AbortSignal; timedOut(): boolean; end(): void }

/** The mode is known, and the engine that should answer. */
export type Decided = Opened & {
  readonly resolvedMode: string
  readonly engineId: string
  readonly model: ModelRef
  /** How another engine is shown, should it answer instead. */
  modelOf(engineId: string): ModelRef
  readonly routing: Routing
  /** Routing rules that were left out, and why. */
  readonly routingWarnings: readonly string[]
  /** What choosing the mode took; null where the caller chose it. */
  readonly classifiedMs: number | null
  readonly images: readonly Image[]
  readonly system: string | null
  readonly warnings: readonly string[]
  /** Null when the engine has nothing to act with. */
  readonly toolset: Toolset | null
  readonly promptTokens: number
  readonly maxOutputTokens: number
}

/** Limits let it in and its money is held: from here on it must be finished or failed. */
export type Admitted = Decided & {
  /** Null when the answer is free. A run with tools may let it grow. */
  hold: Hold | null
  /** What its finished turns came to, for an end that comes early. */
  readonly spent: Spent
  /** Corrects the tokens reserved at admission to the true count. */
  correctTokens(actual: number): void
}

/** What happened, stored and ready to be shown. */
export type Result = {
  readonly answer: StoredAnswer
  readonly usage: Usage
  readonly costMicro: number
  readonly conversationId: ConversationId | null
}
