/** The interface between the service and its engine drivers. Drivers depend on it, never on each other. */

import type { Refusal } from './failures'
import type { GivenFile } from './schema'

/** Whether a model changes a picture that is sent to it, where no setting says so. */
export const changesPictures = (model: string): boolean => /^(?:gpt-image|chatgpt-image)/.test(model)

const asSentence = (text: string): string => {
  const trimmed = text.trim()
  return /[.!?…。！？]["'”’»)]?$/.test(trimmed) ? trimmed : `${trimmed}.`
}

/** Sizes that servers of this format know, by model: one square, one wide, one tall (docs/api.md 28.1). */
const SIZES = { square: '1024x1024', wide: '1536x1024', tall: '1024x1536' }

const DALL_E_3 = { square: '1024x1024', wide: '1792x1024', tall: '1024x1792' }

/** What is asked of a driver of videos. An upstream makes them slowly, under an id of its own. */

export type VideoRequest = {
  /** The upstream's own name for the model. */
  model: string
  /** The whole description. */
  prompt: string
  seconds: number
  /** Pixels. */
  width: number
  height: number
  /** The same for every try of one order, for upstreams that look at it. */
  key: string
  signal: AbortSignal
}

/** How far an upstream is with a video. */
export type VideoState =
  | { status: 'working'; percent: number }
  /** Seconds and pixels as the upstream stated them; null where it did not. */
  | { status: 'made'; seconds: number | null; width: number | null; height: number | null }
  /** `code` and `words` are the upstream's own, for operators. */
  | { status: 'failed'; refused: boolean; code: string; words: string }

export type VideoDriver = {
  /** Orders a video, returns its id. Throws {@link EngineFailure}; `inDoubt` means that it may be made all the same. */
  order(request: VideoRequest): Promise<string>
  /** Throws {@link EngineFailure}. */
  look(id: string, signal: AbortSignal): Promise<VideoState>
  /** The bytes of a video that was made, or of a still of it. Throws {@link EngineFailure}. */
  content(id: string, what: 'video' | 'thumbnail', signal: AbortSignal): AsyncGenerator<Uint8Array>
  /** Tells the upstream that nobody wants it any more. Throws {@link EngineFailure}. */
  drop(id: string, signal: AbortSignal): Promise<void>
}

/** What is asked of a driver of speech, and what a transcription is. */

export type SpeechRequest = {
  /** The upstream's own name for the model. */
  model: string
  text: string
  /** The upstream's own name for the voice. */
  voice: string
  /** 0.25 to 4; 1 is the voice's own. */
  speed: number
  format: SpeechFormat
  /** How it is to sound, in words. */
  instructions?: string | undefined
  signal: AbortSignal
}

/** How speech is written, with the media type of each; `pcm` is 24,000 samples a second of 16 bits, one channel. */
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
  /** Path of the recording, and what its bytes are. */
  path: string
  filename: string
  mimeType: string
  /** ISO 639-1; absent, the upstream finds out. */
  language?: string | undefined
  /** What was said before, or words that occur. */
  prompt?: string | undefined
  temperature?: number | undefined
  /** Whether to say when each word was said. */
  words?: boolean | undefined
  /** The words in English, of an upstream that translates. */
  english?: boolean | undefined
  signal: AbortSignal
}

export type EmbeddingRequest = {
  model: string
  inputs: readonly string[]
  /** Numbers of each vector; null leaves it to the model. */
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
  /** Where they were asked for and the upstream gives them. */
  words: Word[]
}

/** A word of a recording, in seconds from its beginning. */
export type Word = { word: string; start: number; end: number }

/** `detail`: how closely the client wants it looked at, for engines that ask. */
export type ImagePart = { type: 'image'; mimeType: string; base64: string; detail?: ImageDetail }
export type ImageDetail = 'low' | 'high' | 'original'
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

/** How hard an engine is to think before it answers. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const
export type Effort = (typeof EFFORTS)[number]

/** How an engine picks its words. The texts of `stop` end the answer; the service looks for them too. */
export type Sampling = {
  topP?: number
  topK?: number
  seed?: number
  stop?: readonly string[]
  frequencyPenalty?: number
  presencePenalty?: number
  logitBias?: Readonly<Record<string, number>>
  /** Asks how likely each token was, with as many alternatives. */
  logprobs?: number
  /** What the client calls requests with the same beginning; it never changes an answer. */
  cacheKey?: string
  /** How long the upstream is to keep a beginning, in its own word. */
  cacheRetention?: string
  /** Up to where the upstream is to keep the prompt, each with the time in its own word. */
  cacheMarks?: CacheMarks
  verbosity?: 'low' | 'medium' | 'high'
}

/** The ends of what is kept: the tools, the system text, a message with `behind` others after it. */
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
  /** Visitors of somebody's site read the answer: the built-in engine then says nothing of settings. */
  forVisitors?: boolean
  temperature?: number
  sampling?: Sampling
  effort?: Effort
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

/** Token counts as the upstream stated them: unchecked, and possibly false (docs/attacks.md G7). */
export type StatedUsage = { promptTokens: unknown; completionTokens: unknown } & {
  [Detail in keyof TokenDetails]?: unknown
}

/** Parts of the two counts: prompt tokens that the upstream read from its cache or wrote into it, and thoughts. */
export type TokenDetails = { cachedTokens?: number; cacheWriteTokens?: number; reasoningTokens?: number }

/** A piece of a call that is still being written; the whole call follows as `tool-call`. `place` counts the calls. */
export type CallDelta = { place: number; name: string; arguments: string }

/** How likely a token was, as the upstream states it. */
export type TokenLogprob = Record<string, unknown>

export type EnginePart =
  | { type: 'text'; text: string; logprobs?: readonly TokenLogprob[] }
  | { type: 'reasoning'; text: string }
  | { type: 'refusal'; text: string }
  | ({ type: 'call-delta' } & CallDelta)
  | ({ type: 'tool-call' } & ToolCall)
  | ({ type: 'usage' } & StatedUsage)
  | ({ type: 'finish'; reason: FinishReason } & Ending)

/** What an upstream may say at the end: the text of `stop` that ended the answer, and its build. */
type Ending = { stoppedBy?: string | undefined; fingerprint?: string | undefined }

export type EngineAnswer = Ending & {
  text: string
  logprobs?: readonly TokenLogprob[]
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
  /** Other pictures to use beside the base, and where the base may change: both only with `editsOnly`. */
  others?: readonly MadeImage[]
  mask?: MadeImage | null
  /** Only an upstream that changes pictures may answer. */
  editsOnly?: boolean
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

/** What an answer is given to, part by part. */
export type Sink = {
  /** Whether the upstream is asked for a stream. Its answer is given in parts either way. */
  streams: boolean
  /**
   * A promise is awaited before the next part: the reader is behind. What it throws or rejects with ends the call; the
   * driver throws anything then.
   */
  take(part: EnginePart): void | Promise<void>
  /** Takes an answer that came whole, where it is not wanted in parts. */
  whole?(answer: EngineAnswer): void
}

export type Driver = {
  /** Exactly one `finish` comes last; a stream without one throws `truncated`. Throws {@link EngineFailure}. */
  ask(request: EngineRequest, sink: Sink): Promise<void>
  /** Text to sound; absent where the kind of upstream has no speech. Throws {@link EngineFailure}. */
  speak?(request: SpeechRequest): Promise<Uint8Array>
  /** The words of a recording; absent where the kind of upstream has none. Throws {@link EngineFailure}. */
  transcribe?(request: TranscriptionRequest): Promise<Transcription>
  /** It puts recordings into English. */
  translates?: boolean
  /** Vectors of texts; absent where the kind of upstream makes none. Throws {@link EngineFailure}. */
  embed?(request: EmbeddingRequest): Promise<Embedding>
  /** Makes one picture; absent where it makes none. Throws {@link EngineFailure}. */
  image?(request: ImageRequest): Promise<MadeImage>
  /** Whether a model changes pictures that it is given; absent where none does. */
  edits?(model: string): boolean
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

/**
 * The whole description of a picture: the caller's words, what is to change, then style and aspect ratio (docs/api.md
 * 6).
 */
export function imagePrompt({ prompt, changes, style, aspectRatio }: Omit<ImageRequest, 'model'>): string {
  const messages = [prompt, ...changes.map((change) => `Change: ${change}`)]
  if (style) messages.push(`Style: ${style}`)
  if (aspectRatio) messages.push(`Aspect ratio: ${aspectRatio}`)
  return messages.length === 1 ? prompt : messages.map(asSentence).join(' ')
}

/** What an upstream that gets the picture itself is told: the last change alone. */
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
