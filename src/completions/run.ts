import type { BrandSoul } from '../accounts/keys/schema'
import type { Hold } from '../billing/schema'
import type { Deadline, Later } from '../charging'
import type { Message } from '../engines'
import type { Draft } from '../files'
import type { ArtifactId } from '../files/schema'
import type { Guard, HoldBack } from '../guardrails'
import type { Call } from '../kernel/caller'
import type { TokenTicket } from '../limits'
import type { Picture } from '../media'
import type { Request } from '../research'
import type { Effective } from '../routing'
import type { Activation } from '../skills'
import type { ConversationId } from '../skills/conversations/schema'
import type { Tool } from '../tools'
import type { Toolset } from '../tools/schema'
import type { Image, Offered, Spent, Step } from './agent-schema'
import type { StoredAnswer } from './cache'
import type { CompletionRequest } from './request'
import type { CompletionId, ModelRef, Routing } from './schema'
import type { Stage } from './stage-trace'

/** A turn before the prompt; `pictured` where a picture was its answer, and which one where it was stored. */
export type PastTurn = Message & { readonly pictured?: boolean; readonly pictureId?: ArtifactId }

/** What a reader of a stream sees, in order: one `began`, steps, one `ended`. */
export type Progress =
  | { type: 'began'; run: Run; id: CompletionId }
  | Step
  | { type: 'ended'; run: Run; answer: StoredAnswer }

/** Shows a part of a stream. A promise is to be awaited: the reader is behind, or it rejects because the reader left. */
export type Write = (progress: Progress) => void | Promise<void>

/**
 * One completion, from the request to its record. `open` makes it, and the stages fill it in order: all
 * members exist from the beginning, with neutral values until their stage has come.
 */
export type Run = {
  readonly id: CompletionId
  readonly call: Call
  /** The request; guardrails replace it with what they leave of it. */
  request: CompletionRequest
  /** Where a stream is shown; null for an answer in one piece. */
  readonly write: Write | null
  /** `clock.monotonic()` when the pipeline began. */
  readonly startedAt: number
  readonly deadline: Deadline
  /** The stage that operators are told of as it ends, and `clock.monotonic()` when it began. */
  stage: Stage | null
  stageAt: number

  // Loaded by `open`.
  /** Stored turns, then those of the request; `decide` leaves what fits the engine's window. */
  history: readonly PastTurn[]
  /** The conversation it continues, already checked to be the caller's own. */
  readonly attached: ConversationId | null
  /** Where the turn is stored: the conversation it continues or the new one it begins; null when it is not stored. */
  conversationId: ConversationId | null
  /** Null when the answer may not be cached. */
  readonly cacheKey: string | null
  /** The brand soul this answer follows. */
  readonly soul: BrandSoul | null
  /** The user's memories that match the prompt, best first. */
  memories: readonly string[]
  /** The caller's routing preferences; null unless the mode is `auto` (contract 13). */
  readonly guidance: Effective | null
  /** The tools of the browser session it works with. */
  readonly browserTools: readonly Tool[]
  /** The active skills, with their prompt and tools (contract 22.4). */
  readonly active: Activation
  /** Applies the caller's guardrail policy; null without one (contract 12). */
  readonly guard: Guard | null

  // Filled by `decide`, or from the cached answer.
  /** The mode of the request until another one is decided on. */
  resolvedMode: string
  /** Whether it has been counted towards the rate of its mode. */
  isCounted: boolean
  engineId: string
  model: ModelRef
  routing: Routing
  /** Sentences about routing rules that were skipped, and why. */
  routingWarnings: readonly string[]
  /** Milliseconds it took to choose the mode; null when the caller chose it. */
  classifiedMs: number | null
  images: readonly Image[]
  system: string | null
  /** Sentences for the caller, besides those of the request. */
  warnings: readonly string[]
  /** Tools of the MCP servers of the request, and what is to be said of them (contract 28.2). */
  served: { tools: readonly Tool[]; warnings: readonly string[]; unreachable: number }
  /** What the client runs itself: its functions, and calls of MCP servers that nobody approved (contract 28.2). */
  offered: Offered | null
  /** Null when the engine is offered no server-side tools. */
  toolset: Toolset | null
  promptTokens: number
  maxOutputTokens: number
  /** How much is researched for the answer; null for a run that does not. */
  researchRun: Pick<Request, 'depth' | 'maxSources'> | null
  /** Of a run in an image mode: the engine that makes the picture. */
  pictureEngineId: string

  // Filled by `admit`: from here on it must end in `finish` or `abandon`.
  /** Null when the answer is free. Extended for each further turn of a run with tools. */
  hold: Hold | null
  /** The reserved tokens, corrected to the true count when the run ends. */
  ticket: TokenTicket | null

  // While the engine answers.
  /** Tokens and tool calls of the finished turns, to charge a run that ends early. */
  readonly spent: Spent
  /** Whether a stream was told that the answer begins. */
  hasBegun: boolean
  /** All that the engine has said in a stream. */
  said: string
  /** Holds back streamed text until rules have checked it; null when no rule needs that. */
  held: HoldBack | null

  /** The job that goes on with the work, put in line with the end of the run. */
  later: Later | null
  /** Files that were kept, and the pictures and videos among them, which become artifacts with the charge. */
  readonly drafts: Draft[]
  pictures: readonly Pick<Picture, 'draft' | 'about'>[]

  // The end.
  costMicro: number
  /** The answer came from the cache, at no cost. */
  isCached: boolean
}

/** What a run has before its mode and engine are chosen. */
export const UNDECIDED: { model: ModelRef; routing: Routing } = {
  model: { id: '', label: '', engine: '' },
  routing: { source: 'default', confidence: null, reasoning: null, preference_id: null, fallback_used: false },
}
