import type { AccessWatch, SettingsService } from '../accounts'
import type { BrandSoul } from '../accounts/keys/schema'
import type { AuditLog } from '../audit'
import type { Billing, Prices } from '../billing'
import type { Hold } from '../billing/schema'
import type { BrowserService } from '../browser'
import type { Holds, Later } from '../charging'
import type {
  Effort,
  EngineService,
  ImageDetail,
  ImageQuality,
  Message,
  Sampling,
  TokenLogprob,
  ToolChoice,
} from '../engines'
import type { GivenFile } from '../engines/schema'
import type { EventBus } from '../events'
import type { Draft, Files } from '../files'
import type { ArtifactId } from '../files/schema'
import type { Guard, GuardrailService, HoldBack } from '../guardrails'
import type { Call, Mode } from '../kernel/caller'
import type { Clock, Deadline } from '../kernel/clock'
import type { KeyId } from '../kernel/ids'
import type { Outbound } from '../kernel/outbound'
import type { Reader, Store, Tx } from '../kernel/store'
import type { Pieces } from '../kernel/text'
import type { Trace } from '../kernel/trace'
import type { RateLimiter, TokenTicket } from '../limits'
import type { Picture, Pictures, VideoService } from '../media'
import type { Request, ResearchService } from '../research'
import type { Classifier, Effective, EffectiveRouting } from '../routing'
import type { Activation, ConversationService, MemoryService, SkillService } from '../skills'
import type { ConversationId } from '../skills/conversations/schema'
import type { Tool, Tools } from '../tools'
import type { HostedTool, InlineTool, McpServer, Toolset } from '../tools/schema'
import type { UsageLog } from '../usage'
import type { Agent } from './agent-loop'
import type { Image, OfferedTools, Spent, Step, Task } from './agent-schema'
import type { AnswerCache, StoredAnswer } from './cache'
import type { CacheRules } from './config'
import type { Voice } from './decide'
import type { Stage } from './pipeline'
import type { Attachment, CompletionId, ModelRef, Routing } from './schema'

/** Dependencies of the stages of a run. Created once, at the start. */
export type PipelineDeps = {
  store: Store
  clock: Clock
  audit: AuditLog
  usage: UsageLog
  events: EventBus
  settings: SettingsService
  /** The brand soul of a key. Null when it has none or it is off. */
  brandSoulOf(reader: Reader, keyId: KeyId): Promise<BrandSoul | null>
  limiter: RateLimiter
  billing: Billing
  prices: Prices
  holds: Holds
  engines: EngineService
  classifier: Classifier
  /** The callers' routing preferences (docs/api.md 13). */
  routing: Pick<EffectiveRouting, 'of' | 'ready'>
  browser: Pick<BrowserService, 'toolsFor' | 'toolsOfRun'>
  conversations: ConversationService
  agent: Agent
  tools: Tools
  skills: Pick<SkillService, 'activeFor'>
  guardrails: Pick<GuardrailService, 'guardOf'>
  memory: MemoryService
  research: Pick<ResearchService, 'inquire' | 'later' | 'max'>
  files: Pick<Files, 'receive' | 'add' | 'discard' | 'find' | 'findRow' | 'read'>
  pictures: Pictures
  video: Pick<VideoService, 'later' | 'now' | 'max'>
  outbound: Outbound
  caching: CacheRules
  cache: AnswerCache
  /** Receives each stage of a run, for operators. */
  trace: Trace
  /** True if accounts may store requests and answers. */
  traceBodies: boolean
  /** Ends streams whose caller loses access. */
  access: Pick<AccessWatch, 'follow'>
  /** Aborts the remaining streams, with a reason, shortly before the shutdown grace period ends. */
  stopping: AbortSignal
}

/** Paths in the request body that errors and warnings name. */
type RequestPaths = {
  prompt: string
  persona: string
  /** Paths of the user's turns in `context`, in order. */
  userTurns: readonly string[]
  /** Path of everything that the engine reads. */
  all: string
  /** A warning that the images were ignored. */
  ignoredImages(engineId: string): string
}

/** An image of the request. `path` is the place of its data or URL in the body. */
export type SentImage = {
  attachment: Attachment
  path: string
  detail?: ImageDetail
  /** Index in `context` of the turn that has the image. Null for the prompt. */
  turn: number | null
}

/** A request to the pipeline. Every API translates its own wire format into this form. */
export type CompletionRequest<Answer extends object = object> = {
  prompt: string
  mode: Mode
  /** The body as it was sent, if it may be stored. */
  original?: object
  /** The engine that the caller named. Null leaves the choice to overrides, routing rules, skills and the mode. */
  engine: string | null
  overrides: Readonly<Record<string, string>>
  voice: Omit<Voice, 'mode' | 'soul' | 'memories' | 'skills'>
  /** True if the key's brand soul, if any, is used. */
  usesSoul: boolean
  /** Turns sent with the request. They follow the stored turns. */
  context: readonly PastTurn[]
  /** Turns after the prompt, when the client runs the tool loop: its calls and their results (docs/api.md 4). */
  after: readonly Message[]
  /** Ids of the tool calls whose results are the last messages. Absent when the request asks something new. */
  answeredCalls?: readonly string[]
  /** `inContext`: its turns are in `context`. `stored`: `alongside` stores the new ones. */
  conversation: { attach: string; inContext?: boolean; stored?: boolean } | 'new' | 'none'
  /** Images of the turns in `context` and of the prompt, in order. */
  images: readonly SentImage[]
  /** Documents and recordings whose texts are in the messages, for an engine that takes the files themselves. */
  files?: readonly GivenFile[]
  /** Absent for a native request. */
  paths?: RequestPaths
  temperature: number | undefined
  /** Output token limit. If it is absent or above the engine's limit, the engine's limit applies. */
  maxOutputTokens?: number
  sampling?: Sampling
  /** Reasoning effort. `shows` only decides if the API includes the reasoning in the answer. */
  reasoning?: { effort?: Effort; shows: boolean }
  /** SHA-256 of the client's end user. */
  endUser?: string
  /** The wire format of the request. Absent for a native request. */
  clientFormat?: 'chat' | 'responses' | 'messages'
  skills: readonly string[]
  /** Tools defined in the request, which the server runs (docs/api.md 22.5). */
  tools: readonly InlineTool[]
  /** MCP servers whose tools are used. Absent for none (docs/api.md 28.2). */
  servers?: readonly McpServer[]
  /** Path of each server in the body. */
  serversAt?: readonly string[]
  /** Names of the functions that are custom tools of a chat. Absent for none (docs/api.md 4). */
  customs?: ReadonlySet<string>
  /** A client from before there were tools: a call is the `function_call` of its message (docs/api.md 4). */
  callsFunction?: true
  /** Rewrites an error about a server in the words of the client's format. */
  serverNames?: (text: string) => string
  /** Calls of MCP tools that the user has approved in advance: those with these arguments, or all calls of a tool. */
  allowed?: readonly { name: string; arguments?: unknown }[]
  /**
   * Tools of this server that the client names. `first`: the call that the first turn has to make (docs/api.md 29.5).
   */
  hosted?: { tools: readonly HostedTool[]; first?: ToolChoice }
  /** Maximum number of calls of this server's tools. If absent, the agent's limit applies. */
  maxToolCalls?: number | undefined
  /** Set if a job runs a request accepted earlier. The job holds the credit and ends the hold. */
  accepted?: { hold: Hold | null }
  /** True leaves out this server's tools, the user's memories, installed skills and jobs. */
  sealed?: boolean
  /** True when visitors of the owner's site read the answer, which then hides the server's setup. */
  forVisitors?: boolean
  /** The active skills, if the API fixes them. Installed skills are then not added. */
  active?: Activation
  /** Maximum micro-cents and tool calls. If absent, the credit and the agent's limits apply. */
  bounds?: { costMicro: number; toolCalls: number }
  maxIterations: number
  /** The browser session whose tools are offered. */
  browserSession?: string
  /** The client's own functions, which the client runs (docs/api.md 4). */
  functions: Task['offered']
  /** The JSON form that the content must have, besides what its mode requires. */
  json: Task['json']
  /** Returns one sentence about why content does not have that form, or null when it has. Null skips the check. */
  checkJson: ((content: string) => string | null) | null
  metadata: Record<string, unknown> | null
  cache: 'use' | 'refresh' | 'off'
  wantsFollowUps: boolean
  /** Other inputs that shape the answer. Only the cache key uses them. */
  shape: unknown
  /** Length of a video, if the mode makes one. */
  videoSeconds?: number
  /** How to make a picture, if the mode makes one. If absent, the defaults apply. */
  picture?: { engineId: string; quality: ImageQuality; aspectRatio: string | null }
  /** The client knows the errors of its own format (docs/api.md 29.10), not only those of the specification. */
  forClients?: true
  /** What to do if the history is too long. If absent, older turns are summarised. */
  tooLong?: 'refuse' | 'leave-out' | undefined
  /** Called before the answer begins, with the names of parameters that the engine does not have. */
  ignores?(names: readonly string[]): void
  /** Warnings about the request itself. */
  warnings: readonly string[]
  /** The id in the caller's answer, in records and events. If absent, the id of the run. */
  shownId?: ((id: CompletionId) => string) | undefined
  /** Formats the whole answer for the caller. */
  present(run: Run, answer: StoredAnswer): Answer
  /**
   * Further writes in the transaction that charges the answer. They come before the call is recorded, because every
   * transaction locks the head of the record last. `broken` is the error that ended the answer early and that the
   * caller gets. If `alongside` rethrows it, the run counts as one without an answer and costs nothing.
   */
  alongside?(tx: Tx, run: Run, answer: StoredAnswer, broken: unknown): Promise<unknown>
  /** True if `alongside` only adds rows that nothing reads yet, so runs may share its transaction. */
  isApart?: boolean
}

/** Default number of turns in which tools may be called (docs/api.md 22.5). */
export const DEFAULT_ITERATIONS = 8

/** Makes pictures unless another engine is named (docs/api.md 5.1). */
export const IMAGE_ENGINE = 'svc-1-create'

/** A turn before the prompt. `pictured` if its answer was a picture, with `pictureId` if the picture was stored. */
type PastTurn = Message & { readonly pictured?: boolean; readonly pictureId?: ArtifactId }

/** Events of a stream, in order: one `began`, steps, one `ended`. */
export type Progress =
  | { type: 'began'; run: Run; id: CompletionId }
  | Step
  | { type: 'ended'; run: Run; answer: StoredAnswer }

/** Writes an event of a stream. Await its promise: the reader is behind, or has left, which rejects it. */
export type Write = (progress: Progress) => void | Promise<void>

/**
 * One completion, from the request to its record. `open` creates it, and the stages fill it in order. All members exist
 * from the beginning, with neutral values until their stage.
 */
export type Run = {
  readonly id: CompletionId
  readonly call: Call
  /** The request. Guardrails replace it with their redacted version. */
  request: CompletionRequest
  /** Writes the events of a stream. Null for an answer in one piece. */
  readonly write: Write | null
  /** `clock.monotonic()` when the pipeline began. */
  readonly startedAt: number
  readonly deadline: Deadline
  /** The current stage, which is reported to operators when it ends, and `clock.monotonic()` when it began. */
  stage: Stage | null
  stageAt: number

  // Filled by `open`.
  /** Stored turns, then those of the request. `decide` cuts the history to the engine's window. */
  history: readonly PastTurn[]
  /** The conversation that the run continues. Already checked to be the caller's own. */
  readonly attached: ConversationId | null
  /** The conversation that stores the turn, continued or new. Null when the turn is not stored. */
  conversationId: ConversationId | null
  /** Null when the answer may not be cached. */
  readonly cacheKey: string | null
  /** The brand soul that this answer follows. */
  readonly soul: BrandSoul | null
  /** The user's memories that match the prompt, best first. */
  memories: readonly string[]
  /** The caller's routing preferences. Null unless the mode is `auto` (docs/api.md 13). */
  readonly guidance: Effective | null
  /** The tools of the run's browser session. */
  readonly browserTools: readonly Tool[]
  /** The active skills, with their prompt and tools (docs/api.md 22.4). */
  readonly active: Activation
  /** Applies the caller's guardrail policy. Null without one (docs/api.md 12). */
  readonly guard: Guard | null

  // Filled by `decide`, or from the cached answer.
  /** The mode of the request until another one is decided on. */
  resolvedMode: string
  /** True once the run is counted in the rate limit of its mode. */
  isCounted: boolean
  engineId: string
  model: ModelRef
  routing: Routing
  /** Sentences about routing rules that were skipped, and why. */
  routingWarnings: readonly string[]
  /** Milliseconds it took to choose the mode. Null when the caller chose it. */
  classifiedMs: number | null
  images: readonly Image[]
  system: string | null
  /** Warnings for the caller, besides those of the request. */
  warnings: readonly string[]
  /** Tools of the request's MCP servers, and warnings about them (docs/api.md 28.2). */
  served: { tools: readonly Tool[]; warnings: readonly string[]; unreachable: number }
  /** Calls that the client runs itself: its functions, and MCP tools without approval (docs/api.md 28.2). */
  offered: OfferedTools | null
  /** Null when the engine is offered no server-side tools. */
  toolset: Toolset | null
  promptTokens: number
  maxOutputTokens: number
  /** How much to research for the answer. Null for no research. */
  researchRun: Pick<Request, 'depth' | 'maxSources'> | null
  /** The engine that makes the picture, in an image mode. */
  pictureEngineId: string

  // Filled by `admit`. From here on the run must end in `finish` or `abandon`.
  /** Null when the answer is free. Extended for each further turn of a run with tools. */
  hold: Hold | null
  /** The reserved tokens, corrected to the true count when the run ends. */
  ticket: TokenTicket | null

  // Filled while the engine answers.
  /** Tokens and tool calls of the finished turns, to charge a run that ends early. */
  readonly spent: Spent
  /** True once `began` was sent to a stream. */
  hasBegun: boolean
  /** The whole text that the engine has streamed. */
  readonly said: Pieces
  /** Holds back streamed text until rules have checked it. Null when no rule needs that. */
  held: HoldBack | null
  /** Held-back stream text with the log probabilities of its tokens. Null once a rule has changed the text. */
  untold: { text: string; logprobs: readonly TokenLogprob[] }[] | null

  /** The job that continues the work. Queued in the transaction that ends the run. */
  later: Later | null
  /** Stored files, and the pictures and videos among them. They become artifacts with the charge. */
  readonly drafts: Draft[]
  pictures: readonly Pick<Picture, 'draft' | 'about'>[]

  // Filled at the end.
  costMicro: number
  /** True if the answer came from the cache, at no cost. */
  isCached: boolean
}

/** Model and routing of a run before its mode and engine are chosen. */
export const UNDECIDED: { model: ModelRef; routing: Routing } = {
  model: { id: '', label: '', engine: '' },
  routing: { source: 'default', confidence: null, reasoning: null, preference_id: null, fallback_used: false },
}
