import type { AccessWatch, SettingsService } from '../accounts'
import type { BrandSoul } from '../accounts/keys/schema'
import type { AuditLog } from '../audit'
import type { Billing, Prices } from '../billing'
import type { Hold } from '../billing/schema'
import type { BrowserService } from '../browser'
import type { Deadline, Holds, Later } from '../charging'
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
import type { Call } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
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
import type { Image, Offered, Spent, Step, Task } from './agent-schema'
import type { AnswerCache, StoredAnswer } from './cache'
import type { CacheRules } from './config'
import type { Voice } from './decide'
import type { Attachment, CompletionId, Mode, ModelRef, Routing } from './schema'
import type { Stage } from './way'

/** What the stages of a run work with; made once, at the start. */
export type House = {
  store: Store
  clock: Clock
  audit: AuditLog
  usage: UsageLog
  events: EventBus
  settings: SettingsService
  /** The brand soul of a key; null when it has none or it is off. */
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
  /** Told of each stage of a run, for operators. */
  trace: Trace
  /** Accounts may store requests and answers. */
  traceBodies: boolean
  /** Ends streams whose caller's access ends. */
  access: Pick<AccessWatch, 'follow'>
  /** Aborts the remaining streams, with a reason, shortly before the shutdown grace period ends. */
  stopping: AbortSignal
}

/** What refusals and warnings name: paths in the request body. */
type Origins = {
  prompt: string
  persona: string
  /** Of the user's turns in `context`, in order. */
  said: readonly string[]
  /** Everything the engine reads. */
  whole: string
  /** Warns that the images were not looked at. */
  unseen(engineId: string): string
}

/** An image of the request. `path` is where its data or URL is in the body. */
export type SentImage = {
  attachment: Attachment
  path: string
  detail?: ImageDetail
  /** Index in `context` of the turn it came with; null for the prompt's own. */
  turn: number | null
}

/** A request to the pipeline. Every surface translates its own wire format into this one form. */
export type CompletionRequest<Answer extends object = object> = {
  prompt: string
  mode: Mode
  /** The body as it was sent, where it may be kept. */
  original?: object
  /** The engine that the caller named; null leaves the choice to overrides, routing rules, skills and the mode. */
  engine: string | null
  overrides: Readonly<Record<string, string>>
  voice: Omit<Voice, 'mode' | 'soul' | 'memories' | 'skills'>
  /** Whether the key's brand soul, if it has one, is used. */
  usesSoul: boolean
  /** Turns supplied with the request; they follow what is stored. */
  context: readonly PastTurn[]
  /** Turns after the prompt, when the client runs the tool loop: its calls and their results (docs/api.md 4). */
  after: readonly Message[]
  /** Ids of the tool calls whose results are the last messages; absent when the request asks something new. */
  answeredCalls?: readonly string[]
  /** `inContext`: its turns are in `context`; `kept`: `alongside` stores the new ones. */
  conversation: { attach: string; inContext?: boolean; kept?: boolean } | 'new' | 'none'
  /** Images of the turns in `context` and of the prompt, in order. */
  images: readonly SentImage[]
  /** Documents and recordings whose texts are in the messages, for an engine that takes them as they are. */
  files?: readonly GivenFile[]
  /** Absent for a native order. */
  cameFrom?: Origins
  temperature: number | undefined
  /** Most tokens of the answer; absent, or above the engine's limit, that limit. */
  maxOutputTokens?: number
  sampling?: Sampling
  /** How hard the engine thinks; `shows` only tells the surface whether its thoughts are part of the answer. */
  reasoning?: { effort?: Effort; shows: boolean }
  /** The end user of the client, as SHA-256. */
  endUser?: string
  /** The wire format that it came in; absent for a native order. */
  door?: 'chat' | 'responses' | 'messages'
  skills: readonly string[]
  /** Tools defined in the request; the server runs them (docs/api.md 22.5). */
  tools: readonly InlineTool[]
  /** MCP servers whose tools take part; absent for none (docs/api.md 28.2). */
  servers?: readonly McpServer[]
  /** Where each of them is in the body. */
  serversAt?: readonly string[]
  /** Names of the functions that are custom tools of a chat; absent for none (docs/api.md 4). */
  customs?: ReadonlySet<string>
  /** Puts what is wrong with one into the words of the client's format. */
  serverNames?: (text: string) => string
  /** Calls of their tools that the user has allowed beforehand: those with these arguments, or all of a tool. */
  allowed?: readonly { name: string; arguments?: unknown }[]
  /**
   * Tools of this server that the client asks for by name; `first`: what the first turn has to call (docs/api.md 29.5).
   */
  hosted?: { tools: readonly HostedTool[]; first?: ToolChoice }
  /** Most calls of this server's tools; absent, the limit of the agent. */
  maxToolCalls?: number | undefined
  /** Accepted before, for a job: its rate was counted then, and the job holds the credit and ends that hold. */
  accepted?: { hold: Hold | null }
  /** True leaves out this server's tools, the user's memories, installed skills and jobs: the run has nothing else. */
  sealed?: boolean
  /** True when visitors of somebody's site read the answer: nothing in it is about how this server is set up. */
  forVisitors?: boolean
  /** The active skills, when the surface fixes them; installed skills are then not added. */
  active?: Activation
  /** Most micro-cents it may cost and most tool calls; absent, the credit and the agent's limits apply. */
  bounds?: { costMicro: number; toolCalls: number }
  maxIterations: number
  /** The browser session whose tools are offered. */
  browserSession?: string
  /** Functions of the client's own; the client runs them (docs/api.md 4). */
  functions: Task['offered']
  /** The JSON form that the content must have, besides what its mode asks for. */
  json: Task['json']
  /** Says in one sentence why content does not have that form, or null when it does. Null skips the check. */
  checkJson: ((content: string) => string | null) | null
  metadata: Record<string, unknown> | null
  cache: 'use' | 'refresh' | 'off'
  wantsFollowUps: boolean
  /** Other inputs that shape the answer; only the cache key uses them. */
  shape: unknown
  /** How long a video is, if the mode makes one. */
  videoSeconds?: number
  /** How a picture is made, if the mode makes one; absent, as usual. */
  picture?: { engineId: string; quality: ImageQuality; aspectRatio: string | null }
  /**
   * The client knows the errors of the format that it speaks (docs/api.md 29.10), not those of the specification alone.
   */
  forClients?: true
  /** What happens to a history that is too long: refused, or cut from its oldest turns; absent, it is summarised. */
  tooLong?: 'refuse' | 'leave-out' | undefined
  /** Told the names of parameters that the engine does not have, before the answer begins. */
  ignores?(names: readonly string[]): void
  /** Sentences for the caller about the request itself. */
  warnings: readonly string[]
  /** The answer is a chat completion, whose id has a prefix of its own. */
  isChat?: boolean
  /** Formats the whole answer for the caller. */
  present(run: Run, answer: StoredAnswer): Answer
  /**
   * Further writes for the transaction that charges the answer, before the call is recorded: every unit locks the head
   * of the record last. `broken` is the error that ended an answer before it was
   * complete, and which the caller gets then; thrown on, it makes the run one without an answer, which costs nothing.
   */
  alongside?(tx: Tx, run: Run, answer: StoredAnswer, broken: unknown): Promise<unknown>
  /** `alongside` only adds rows that nothing else reads yet, so its transaction may be shared with other runs. */
  isApart?: boolean
}

/** Default number of turns in which tools may be called (docs/api.md 22.5). */
export const DEFAULT_ITERATIONS = 8

/** Makes pictures unless another one is named (docs/api.md 5.1). */
export const IMAGE_ENGINE = 'svc-1-create'

/** A turn before the prompt; `pictured` where a picture was its answer, and which one where it was stored. */
type PastTurn = Message & { readonly pictured?: boolean; readonly pictureId?: ArtifactId }

/** What a reader of a stream sees, in order: one `began`, steps, one `ended`. */
export type Progress =
  | { type: 'began'; run: Run; id: CompletionId }
  | Step
  | { type: 'ended'; run: Run; answer: StoredAnswer }

/** Shows a part of a stream. Await a promise: the reader is behind, or it rejects because the reader left. */
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
  /** The caller's routing preferences; null unless the mode is `auto` (docs/api.md 13). */
  readonly guidance: Effective | null
  /** The tools of the browser session it works with. */
  readonly browserTools: readonly Tool[]
  /** The active skills, with their prompt and tools (docs/api.md 22.4). */
  readonly active: Activation
  /** Applies the caller's guardrail policy; null without one (docs/api.md 12). */
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
  /** Tools of the MCP servers of the request, and what is to be said of them (docs/api.md 28.2). */
  served: { tools: readonly Tool[]; warnings: readonly string[]; unreachable: number }
  /** What the client runs itself: its functions, and calls of MCP servers that nobody approved (docs/api.md 28.2). */
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
  readonly said: Pieces
  /** Holds back streamed text until rules have checked it; null when no rule needs that. */
  held: HoldBack | null
  /** Streamed text that is held back, with the likelihood of its tokens; null once a rule has changed the text. */
  untold: { text: string; logprobs: readonly TokenLogprob[] }[] | null

  /** The job that continues with the work, put in line with the end of the run. */
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
