/** The interface between the service and its engine drivers. Drivers depend on it, never on each other. */

import type { Refusal } from './failures'
import type { GivenFile } from './schema'

/** Whether a model can edit pictures. Used if no setting says so. */
export const changesPictures = (model: string): boolean => /^(?:gpt-image|chatgpt-image)/.test(model)

const asSentence = (text: string): string => {
  const trimmed = text.trim()
  return /[.!?…。！？]["'”’»)]?$/.test(trimmed) ? trimmed : `${trimmed}.`
}

/** Picture sizes that servers of this format accept: one square, one wide, one tall (docs/api.md 28.1). */
const SIZES = { square: '1024x1024', wide: '1536x1024', tall: '1024x1536' }

const DALL_E_3 = { square: '1024x1024', wide: '1792x1024', tall: '1024x1792' }

/** Types of video drivers. An upstream makes a video slowly, under its own id. */

export type VideoRequest = {
  /** The upstream's own name for the model. */
  model: string
  /** The whole description. */
  prompt: string
  seconds: number
  /** Pixels. */
  width: number
  height: number
  /** Idempotency key: the same for every try of one request. */
  key: string
  signal: AbortSignal
}

/** Progress of a video at an upstream. */
export type VideoState =
  | { status: 'working'; percent: number }
  /** Seconds and pixels as the upstream stated them, or null. */
  | { status: 'made'; seconds: number | null; width: number | null; height: number | null }
  /** `code` and `words` are the upstream's own, for operators. */
  | { status: 'failed'; refused: boolean; code: string; words: string }

export type VideoDriver = {
  /**
   * Requests a video and returns its id. Throws {@link EngineFailure}. The upstream may have accepted it despite that.
   */
  order(request: VideoRequest): Promise<string>
  /** Throws {@link EngineFailure}. */
  look(id: string, signal: AbortSignal): Promise<VideoState>
  /** The bytes of a finished video, or of a still image of it. Throws {@link EngineFailure}. */
  content(id: string, what: 'video' | 'thumbnail', signal: AbortSignal): AsyncGenerator<Uint8Array>
  /** Cancels or deletes a video at the upstream. Throws {@link EngineFailure}. */
  drop(id: string, signal: AbortSignal): Promise<void>
}

/** Types of speech and transcription. */

export type SpeechRequest = {
  /** The upstream's own name for the model. */
  model: string
  text: string
  /** The upstream's own name for the voice. */
  voice: string
  /** 0.25 to 4; 1 is normal. */
  speed: number
  format: SpeechFormat
  /** Describes how the voice should sound. */
  instructions?: string | undefined
  signal: AbortSignal
}

/** Formats of speech and their media types. `pcm` is 24,000 samples a second of 16 bits, one channel. */
export const SPEECH_FORMATS = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  pcm: 'audio/pcm',
} as const
export type SpeechFormat = keyof typeof SPEECH_FORMATS

export type TranscriptionRequest = {
  model: string
  /** Path of the recording. */
  path: string
  filename: string
  mimeType: string
  /** ISO 639-1. If absent, the upstream detects the language. */
  language?: string | undefined
  /** The preceding text, or words that occur in the recording. */
  prompt?: string | undefined
  temperature?: number | undefined
  /** Whether to return the time of each word. */
  words?: boolean | undefined
  /** Whether to translate into English, if the upstream can. */
  english?: boolean | undefined
  signal: AbortSignal
}

export type EmbeddingRequest = {
  model: string
  inputs: readonly string[]
  /** Length of each vector; null leaves it to the model. */
  dimensions: number | null
  signal: AbortSignal
}

/** One vector per input, all of one length: `made` by itself, or null if it was requested. The tokens are unchecked. */
export type Embedding = { vectors: Float32Array[]; promptTokens: unknown; made: number | null }

/** A stretch of a recording, in seconds from its beginning. */
export type Segment = { start: number; end: number; text: string }

export type Transcription = {
  text: string
  /** As the upstream stated it: unchecked. */
  language: string | null
  segments: Segment[]
  /** Empty unless requested and supported by the upstream. */
  words: Word[]
}

/** A word of a recording, in seconds from its beginning. */
export type Word = { word: string; start: number; end: number }

/** `detail`: the resolution that the client asks for, if the engine supports it. */
export type ImagePart = { type: 'image'; mimeType: string; base64: string; detail?: ImageDetail }
export type ImageDetail = 'low' | 'high' | 'original'
export type Part = { type: 'text'; text: string } | ImagePart

/**
 * A function call by an engine. `arguments` is JSON text. `extra` holds data that the upstream needs back with the call
 * on the next turn, such as a thought signature. Only its own driver reads it.
 */
export type ToolCall = { id: string; name: string; arguments: string; extra?: Record<string, unknown> }

/** `reasoning` is the engine's thinking before its answer. `images` of a result are for engines with vision. */
export type Message =
  | { role: 'system' | 'user' | 'assistant'; content: string | Part[]; toolCalls?: ToolCall[]; reasoning?: string }
  | { role: 'tool'; toolCallId: string; toolName: string; content: string; images?: ImagePart[] }

export type JsonSchema = Record<string, unknown>

/** `strict` is absent if the client did not set it. */
export type EngineTool = { name: string; description: string; parameters: JsonSchema; strict?: boolean }
/** The schema of a JSON answer. The client sets name and `strict`. */
export type AnswerSchema = { schema: JsonSchema; name?: string | undefined; strict?: boolean | undefined }
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string }

/** How much an engine should think before it answers. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const
export type Effort = (typeof EFFORTS)[number]

/** Sampling parameters. The texts of `stop` end the answer, which the service enforces too. */
export type Sampling = {
  topP?: number
  topK?: number
  seed?: number
  stop?: readonly string[]
  frequencyPenalty?: number
  presencePenalty?: number
  logitBias?: Readonly<Record<string, number>>
  /** Requests log probabilities of each token, with this many alternatives. */
  logprobs?: number
  /** The client's key for requests with the same beginning. Never changes an answer. */
  cacheKey?: string
  /** How long the upstream should cache a prompt prefix, in the upstream's term. */
  cacheRetention?: string
  /** Ends of the prompt prefixes that the upstream should cache, each with its time. */
  cacheMarks?: CacheMarks
  verbosity?: 'low' | 'medium' | 'high'
}

/** Ends of cached prefixes: the tools, the system text, or the message with `behind` others after it. */
export type CacheMarks = {
  [Place in 'tools' | 'system' | 'messages']?: { ttl?: '5m' | '1h'; behind?: number }
}

export type EngineRequest = {
  /** The upstream's own name for the model; never shown to a tenant. */
  model: string
  messages: readonly Message[]
  files?: readonly GivenFile[]
  /** The resolved mode: the built-in engine picks its skills by it, other drivers ignore it. */
  mode: string
  /** Website visitors read the answer, so the built-in engine does not mention settings. */
  forVisitors?: boolean
  temperature?: number
  sampling?: Sampling
  effort?: Effort
  /** Maximum tokens of the answer. The service enforces it too. */
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

/** Token counts as the upstream stated them: unchecked, and possibly false (docs/attacks.md G7). */
export type StatedUsage = { promptTokens: unknown; completionTokens: unknown } & {
  [Detail in keyof TokenDetails]?: unknown
}

/** Parts of the two counts: prompt tokens read from or written to the upstream's cache, and reasoning tokens. */
export type TokenDetails = { cachedTokens?: number; cacheWriteTokens?: number; reasoningTokens?: number }

/** A piece of a streamed call. The whole call follows as `tool-call`. `place` is the index of the call. */
export type CallDelta = { place: number; name: string; arguments: string }

/** Log probability of a token, as the upstream states it. */
export type TokenLogprob = Record<string, unknown>

export type EnginePart =
  | { type: 'text'; text: string; logprobs?: readonly TokenLogprob[] }
  | { type: 'reasoning'; text: string }
  | { type: 'refusal'; text: string }
  | ({ type: 'call-delta' } & CallDelta)
  | ({ type: 'tool-call' } & ToolCall)
  | ({ type: 'usage' } & StatedUsage)
  | ({ type: 'finish'; reason: FinishReason } & Ending)

/** Optional facts at the end: the stop text that ended the answer, and the upstream's build. */
type Ending = { stoppedBy?: string | undefined; fingerprint?: string | undefined }

export type EngineAnswer = Ending & {
  text: string
  logprobs?: readonly TokenLogprob[]
  reasoning: string
  /** The engine's refusal in place of an answer; empty if it did not refuse. */
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
  /** The caller's prompt. */
  prompt: string
  /** Changes that the caller asked for since, oldest first. */
  changes: readonly string[]
  /** The picture to edit. An upstream that cannot edit gets the whole description instead. */
  base?: MadeImage | null
  /** More pictures to use, and a mask of the area that may change. Both only with `editsOnly`. */
  others?: readonly MadeImage[]
  mask?: MadeImage | null
  /** Whether only an upstream that edits pictures may answer. */
  editsOnly?: boolean
  style: string | null
  /** `W:H`; null leaves it to the engine. */
  aspectRatio: string | null
  quality: ImageQuality
  /** Index of the picture within one request, from 0. Pictures of one request should differ. */
  variant: number
  /** Ends the upstream call within a second of aborting. */
  signal: AbortSignal
}

/** The bytes of a picture and their media type, as the upstream stated it. */
export type MadeImage = { bytes: Uint8Array; mimeType: string }

/** What an upstream states about one of its models. Members that it does not state are absent. */
export type ModelFacts = {
  id: string
  vision?: boolean | undefined
  tools?: boolean | undefined
  json?: boolean | undefined
}

/** Receives an answer, part by part. */
export type Sink = {
  /** Whether to request a stream from the upstream. The answer arrives in parts either way. */
  streams: boolean
  /**
   * Takes a part. The driver awaits a returned promise before the next part (back pressure). If it throws or rejects,
   * the call ends, and the driver may throw any error.
   */
  take(part: EnginePart): void | Promise<void>
  /** Takes an answer that came whole. Without it, such an answer is split into parts. */
  whole?(answer: EngineAnswer): void
}

export type Driver = {
  /** Exactly one `finish` comes last; a stream without one throws `truncated`. Throws {@link EngineFailure}. */
  ask(request: EngineRequest, sink: Sink): Promise<void>
  /** Text to speech; absent if the kind of upstream has none. Throws {@link EngineFailure}. */
  speak?(request: SpeechRequest): Promise<Uint8Array>
  /** Transcribes a recording; absent if the kind of upstream cannot. Throws {@link EngineFailure}. */
  transcribe?(request: TranscriptionRequest): Promise<Transcription>
  /** Whether it can translate recordings into English. */
  translates?: boolean
  /** Makes vectors of texts; absent if the kind of upstream cannot. Throws {@link EngineFailure}. */
  embed?(request: EmbeddingRequest): Promise<Embedding>
  /** Makes one picture; absent if the kind of upstream cannot. Throws {@link EngineFailure}. */
  image?(request: ImageRequest): Promise<MadeImage>
  /** Whether a model can edit pictures; absent if none can. */
  edits?(model: string): boolean
  /** Makes videos; absent if the kind of upstream cannot. */
  video?: VideoDriver
  /** Checks at no cost that the upstream answers. Returns its models if it lists them. Throws {@link EngineFailure}. */
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

/** An upstream's refusal of a request: `about` is for the tenant, its own `words` are for the operator's log. */
export type Rejection = { about: Refusal; words: string }

type FailureExtras = { retryAfterS?: number | undefined; rejection?: Rejection; begun?: boolean; cause?: unknown }

/** Why an engine gave no complete answer. The message is only for operators. Tenants get an error of `failures.ts`. */
export class EngineFailure extends Error {
  override name = 'EngineFailure'
  readonly retryAfterS: number | undefined
  /** Present for the kind `rejected`. */
  readonly rejection: Rejection | undefined
  /** The body broke off after its first byte. The request must not be resent, because the work may be done. */
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

  /** Whether a retry of the same upstream may succeed: no connection, or a server error. */
  get retryable(): boolean {
    return this.kind === 'refused' || this.kind === 'server'
  }
}

/**
 * The whole description of a picture: the caller's words, what is to change, then style and aspect ratio (docs/api.md
 * 6).
 */
export function imagePrompt({ prompt, changes, style, aspectRatio }: Omit<ImageRequest, 'model'>): string {
  const sentences = [prompt, ...changes.map((change) => `Change: ${change}`)]
  if (style) sentences.push(`Style: ${style}`)
  if (aspectRatio) sentences.push(`Aspect ratio: ${aspectRatio}`)
  return sentences.length === 1 ? prompt : sentences.map(asSentence).join(' ')
}

/** The prompt for an upstream that gets the picture itself: only the last change. */
export function editPrompt({ prompt, changes, ...request }: ImageRequest): string {
  return imagePrompt({ ...request, prompt: changes.at(-1) ?? prompt, changes: [] })
}

/** The size nearest to an aspect ratio; undefined leaves it to the upstream. */
export function sizeFor(model: string, aspectRatio: string | null): string | undefined {
  if (!aspectRatio) return undefined
  const [width, height] = aspectRatio.split(':').map(Number) as [number, number]
  const sizes = model.startsWith('dall-e-3') ? DALL_E_3 : SIZES
  return width === height ? sizes.square : width > height ? sizes.wide : sizes.tall
}

/** The upstream's word for a quality other than its usual one. */
export function qualityFor(model: string, quality: ImageRequest['quality']): string | undefined {
  if (quality === 'standard') return undefined
  if (model.startsWith('dall-e')) return quality === 'hd' ? 'hd' : undefined
  return quality === 'hd' ? 'high' : 'low'
}
