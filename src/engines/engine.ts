/** The interface between the service and its engine drivers. Drivers depend on it, never on each other. */

import type { Refusal } from './refusals'
import type { SpeechRequest, Transcription, TranscriptionRequest } from './speech'
import type { VideoDriver } from './video'

export type ImagePart = { type: 'image'; mimeType: string; base64: string }
export type Part = { type: 'text'; text: string } | ImagePart

/**
 * A function call an engine asks for; `arguments` is JSON text, as engines write it. `extra` is what the upstream wants
 * back with the call on the next turn, such as the signature of a thought; only its own driver reads it.
 */
export type ToolCall = { id: string; name: string; arguments: string; extra?: Record<string, unknown> }

/** `reasoning` is what the engine thought before it answered. `images` of a result are for engines that see. */
export type Message =
  | { role: 'system' | 'user' | 'assistant'; content: string | Part[]; toolCalls?: ToolCall[]; reasoning?: string }
  | { role: 'tool'; toolCallId: string; toolName: string; content: string; images?: ImagePart[] }

export type JsonSchema = Record<string, unknown>

/** `strict` is absent where the client did not say. */
export type EngineTool = { name: string; description: string; parameters: JsonSchema; strict?: boolean }
/** The form of a JSON answer; the name and `strict` are the client's. */
export type AnswerSchema = { schema: JsonSchema; name?: string | undefined; strict?: boolean | undefined }
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }

export type EngineRequest = {
  /** The upstream's own name for the model; never shown to a tenant. */
  model: string
  messages: readonly Message[]
  /** The resolved mode: the built-in engine picks its skills by it, other drivers ignore it. */
  mode: string
  /** Visitors of somebody's site read the answer: the built-in engine then says nothing of settings. */
  forVisitors?: boolean
  temperature?: number
  /** Most tokens of the answer; the service enforces it too, whatever the upstream does. */
  maxOutputTokens: number
  /** `true`: any JSON object. A schema: JSON that fits it. */
  json?: AnswerSchema | true
  tools?: readonly EngineTool[]
  toolChoice?: ToolChoice
  /** At most one tool call a turn. Not every upstream supports this, so the caller must drop further calls. */
  oneCallATurn?: boolean
  /** Ends the upstream call within a second of aborting. */
  signal: AbortSignal
}

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter'

/** Token counts as the upstream stated them: unchecked, and possibly false (G7). */
export type StatedUsage = { promptTokens: unknown; completionTokens: unknown }

/** A piece of a call that is still being written; the whole call follows as `tool-call`. `place` counts the calls. */
export type CallDelta = { place: number; name: string; arguments: string }

export type EnginePart =
  | { type: 'text-delta'; text: string }
  | { type: 'reasoning-delta'; text: string }
  | { type: 'refusal-delta'; text: string }
  | ({ type: 'call-delta' } & CallDelta)
  | ({ type: 'tool-call' } & ToolCall)
  | ({ type: 'usage' } & StatedUsage)
  | { type: 'finish'; reason: FinishReason }

export type EngineAnswer = {
  text: string
  reasoning: string
  /** What the engine said in place of an answer; empty when it did not refuse. */
  refusal: string
  toolCalls: ToolCall[]
  finish: FinishReason
  usage: StatedUsage | null
}

export type ImageQuality = 'draft' | 'standard' | 'hd'

/** One picture. */
export type ImageRequest = {
  /** The upstream's own name for the model; never shown to a tenant. */
  model: string
  /** What the caller asked for, in its words. */
  prompt: string
  /** What it asked to change since, oldest first. */
  changes: readonly string[]
  /** The picture that the last change is about; an upstream that cannot change pictures gets the whole description. */
  base?: MadeImage | null
  style: string | null
  /** `W:H`; null leaves it to the engine. */
  aspectRatio: string | null
  quality: ImageQuality
  /** Counts the pictures of one request, which are to differ; from 0. */
  variant: number
  /** Ends the upstream call within a second of aborting. */
  signal: AbortSignal
}

/** The bytes of a picture and their media type, as the upstream stated it. */
export type MadeImage = { bytes: Uint8Array; mimeType: string }

/** What an upstream says about one of its models; a member is absent where it does not tell. */
export type ModelFacts = {
  id: string
  vision?: boolean | undefined
  tools?: boolean | undefined
  json?: boolean | undefined
}

export type Driver = {
  /** Exactly one `finish` ends it; a stream that stops without one throws `truncated`. Throws {@link EngineFailure}. */
  stream(request: EngineRequest): AsyncGenerator<EnginePart>
  /** The whole answer in one exchange, where that is cheaper than a stream. Throws {@link EngineFailure}. */
  complete?(request: EngineRequest): Promise<EngineAnswer>
  /** Text to MP3; absent where the kind of upstream has no speech. Throws {@link EngineFailure}. */
  speak?(request: SpeechRequest): Promise<Uint8Array>
  /** The words of a recording; absent where the kind of upstream has none. Throws {@link EngineFailure}. */
  transcribe?(request: TranscriptionRequest): Promise<Transcription>
  /** Makes one picture; absent where it makes none. Throws {@link EngineFailure}. */
  image?(request: ImageRequest): Promise<MadeImage>
  /** Makes videos; absent where it makes none. */
  video?: VideoDriver
  /** Checks at no cost that the upstream answers, and lists its models where it can. Throws {@link EngineFailure}. */
  probe(signal: AbortSignal): Promise<readonly ModelFacts[]>
}

export type FailureKind =
  | 'refused'
  | 'timeout'
  | 'throttled'
  | 'server'
  | 'config'
  | 'rejected'
  | 'malformed'
  | 'truncated'
  | 'too-large'

/** What an upstream said as it refused a request: `about` for the tenant, its own `words` for the operator's log. */
export type Rejection = { about: Refusal; words: string }

type FailureExtras = { retryAfterS?: number | undefined; rejection?: Rejection; begun?: boolean; cause?: unknown }

/** Why an engine gave no whole answer. The message is for operators only; tenants get a sentence of `errors.ts`. */
export class EngineFailure extends Error {
  override name = 'EngineFailure'
  readonly retryAfterS: number | undefined
  /** Present for the kind `rejected`. */
  readonly rejection: Rejection | undefined
  /** The body broke off after its first byte: the request is sent nowhere again, because the work may be done. */
  readonly begun: boolean

  constructor(
    readonly kind: FailureKind,
    message: string,
    extras: FailureExtras = {},
  ) {
    super(message, { cause: extras.cause })
    this.retryAfterS = extras.retryAfterS
    this.rejection = extras.rejection
    this.begun = extras.begun ?? false
  }

  /** Whether the same upstream may answer a retry: there was no connection, or it had an error of its own. */
  get retryable(): boolean {
    return this.kind === 'refused' || this.kind === 'server'
  }
}
