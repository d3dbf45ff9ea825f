import type { Settings } from '../accounts'
import type { BrandSoul } from '../accounts/keys/schema'
import type { Hold } from '../billing/schema'
import type { Deadline, Later } from '../charging'
import type { Effort, ImageQuality, Message, Sampling } from '../engines'
import type { Draft } from '../files'
import type { ArtifactId } from '../files/schema'
import type { Guard, HoldBack } from '../guardrails'
import type { Call } from '../kernel/caller'
import { invalidInput } from '../kernel/errors'
import type { Tx } from '../kernel/store'
import type { TokenTicket } from '../limits'
import type { Picture } from '../media'
import type { Request } from '../research'
import type { Effective } from '../routing'
import type { Activation } from '../skills'
import type { ConversationId } from '../skills/conversations/schema'
import type { Tool } from '../tools'
import type { InlineTool, McpServer, Toolset } from '../tools/schema'
import type { Voice } from './agent-sandbox'
import type { Image, Offered, Spent, Step, Task } from './agent-schema'
import type { StoredAnswer } from './cache'
import { ignoredNamesIn, ignoredWarning } from './ignored'
import type { Stage } from './pipeline'
import { toChatCompletion, toCompletion } from './present'
import { isStealth, modeWarnings, pathOfAttachment } from './rules'
import type {
  Attachment,
  ChatCompletion,
  Completion,
  CompletionId,
  CompletionInput,
  Mode,
  ModelRef,
  Routing,
} from './schema'

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
  /** Index in `context` of the turn it came with; null for the prompt's own. */
  turn: number | null
}

/** A request to the pipeline. Every surface translates its own wire format into this one form. */
export type CompletionRequest<Answer extends object = object> = {
  prompt: string
  mode: Mode
  /** The engine that the caller named; null leaves the choice to overrides, routing rules, skills and the mode. */
  engine: string | null
  overrides: Readonly<Record<string, string>>
  voice: Omit<Voice, 'mode' | 'soul' | 'memories' | 'skills'>
  /** Whether the key's brand soul, if it has one, is used. */
  usesSoul: boolean
  /** Turns supplied with the request; they follow what is stored. */
  context: readonly PastTurn[]
  /** Turns after the prompt, when the client runs the tool loop: its calls and their results (contract 4). */
  after: readonly Message[]
  /** Ids of the tool calls whose results are the last messages; absent when the request asks something new. */
  answeredCalls?: readonly string[]
  conversation: { attach: string } | 'new' | 'none'
  /** Images of the turns in `context` and of the prompt, in order. */
  images: readonly SentImage[]
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
  /** Tools defined in the request; the server runs them (contract 22.5). */
  tools: readonly InlineTool[]
  /** MCP servers whose tools take part; absent for none (contract 28.2). */
  servers?: readonly McpServer[]
  /** Accepted before, for a job: its rate was counted then, and the job holds the credit and ends that hold if need be. */
  accepted?: { hold: Hold | null }
  /** True leaves out this server's tools, the user's memories, installed skills and jobs: the run reaches nothing else. */
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
  /** Functions of the client's own; the client runs them (contract 4). */
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
  /** Sentences for the caller about the request itself. */
  warnings: readonly string[]
  /** The answer is a chat completion, whose id has a prefix of its own. */
  isChat?: boolean
  /** Formats the whole answer for the caller. */
  present(run: Run, answer: StoredAnswer): Answer
  /**
   * Further writes for the transaction that charges the answer. `broken` is the error that ended an answer before it was
   * complete, and which the caller gets then; thrown on, it makes the run one without an answer, which costs nothing.
   */
  alongside?(tx: Tx, run: Run, answer: StoredAnswer, broken: unknown): Promise<unknown>
}

/** Default number of turns in which tools may be called (contract 22.5). */
export const DEFAULT_ITERATIONS = 8

/** The question before an answer of mode `image` asked for that picture. */
const pastTurnsOf = (messages: NonNullable<CompletionInput['conversation']>['messages']): PastTurn[] =>
  messages.map(({ role, content }, place) => {
    const pictured = role === 'user' && messages[place + 1]?.mode === 'image'
    return { role, content, ...(pictured ? { pictured } : {}) }
  })

/** Makes pictures unless another one is named (contract 5.1). */
export const IMAGE_ENGINE = 'svc-1-create'

const STEALTH_RATIOS = { square: '1:1', portrait: '3:4', landscape: '4:3', wide: '16:9' } as const

const MODEL_IGNORED =
  '"model" was ignored: "mode" and "model_overrides" choose the engine. Chat clients use POST /chat/completions.'

const toImage = (attachment: Attachment, place: number): SentImage => ({
  attachment,
  path: pathOfAttachment(attachment, place),
  turn: null,
})

/** A turn before the prompt; `pictured` where a picture was its answer, and which one where it was stored. */
type PastTurn = Message & { readonly pictured?: boolean; readonly pictureId?: ArtifactId }

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

/** Translates a native order (contract 2.1); the account's settings fill in what it leaves out. */
export function requestFromOrder(
  input: CompletionInput,
  settings: Settings,
  fresh: boolean,
): CompletionRequest<Completion | ChatCompletion> {
  const mode = input.mode ?? (settings.default_mode as Mode)
  const branding = (input.svc_branding ?? settings.svc_branding) && !isStealth(mode)
  const inline = input.conversation
  const ignoresInline = inline !== undefined && input.conversation_id != null
  return {
    prompt: input.prompt,
    mode,
    engine: isStealth(mode) ? (input.stealth_model ?? null) : null,
    overrides: input.model_overrides ?? {},
    voice: {
      persona: input.persona ?? settings.personality,
      personality: input.personality_config ?? null,
      style: input.response_style ?? null,
      branding,
      componentLibrary: input.component_library ?? 'svc',
    },
    usesSoul: input.brand_soul ?? true,
    context: inline && !ignoresInline ? pastTurnsOf(inline.messages) : [],
    conversation: conversationOf(input, mode),
    images: (input.attachments ?? []).map(toImage),
    temperature: input.temperature,
    skills: input.skills ?? [],
    ...toolsIn(input),
    ...(input.browser_session_id ? { browserSession: input.browser_session_id } : {}),
    maxIterations: input.max_iterations ?? DEFAULT_ITERATIONS,
    functions: null,
    json: false,
    checkJson: null,
    after: [],
    metadata: input.metadata ?? null,
    cache: cacheRule(input, mode, fresh),
    wantsFollowUps: true,
    isChat: input.format === 'compat',
    present: input.format === 'compat' ? toChatCompletion : toCompletion,
    shape: [input.metadata?.approved_tools ?? null, input.image_model ?? 'auto', input.image_quality ?? 'standard'],
    picture: pictureOf(input),
    ...(input.mode === 'stealth_video' ? { videoSeconds: Number.parseInt(input.stealth_duration ?? '5s', 10) } : {}),
    warnings: [
      ...modeWarnings(mode),
      ...(ignoresInline ? ['"conversation" was ignored because "conversation_id" was sent.'] : []),
      ...foreignWarnings(input),
    ],
  }
}

function toolsIn({ tools = [] }: CompletionInput): Pick<CompletionRequest, 'tools' | 'servers'> {
  const servers = tools.filter((tool): tool is McpServer => 'type' in tool && tool.type === 'mcp')
  const inline = tools.filter((tool): tool is InlineTool => !servers.includes(tool as McpServer))
  return { tools: inline, ...(servers.length ? { servers } : {}) }
}

/** Clients of other services may take this route for theirs, whose members are ignored here (contract 1.1). */
function foreignWarnings(input: CompletionInput & { model?: unknown }): string[] {
  return [...(input.model == null ? [] : [MODEL_IGNORED]), ...ignoredWarning(ignoredNamesIn(input))]
}

function pictureOf({
  image_model,
  image_quality,
  mode,
  stealth_aspect,
}: CompletionInput): NonNullable<CompletionRequest['picture']> {
  return {
    engineId: !image_model || image_model === 'auto' ? IMAGE_ENGINE : image_model,
    quality: image_quality ?? 'standard',
    aspectRatio: mode === 'stealth_image' ? STEALTH_RATIOS[stealth_aspect ?? 'square'] : null,
  }
}

/** Without `conversation_id` a conversation is made; `null`, inline context and stealth store none (contract 2.2). */
function conversationOf(input: CompletionInput, mode: Mode): CompletionRequest['conversation'] {
  if (input.conversation_id != null) {
    if (isStealth(mode))
      throw invalidInput(
        'conversation_id',
        `"conversation_id" cannot be used with mode "${mode}", which stores nothing. Leave it out, or send another mode.`,
      )
    return { attach: input.conversation_id }
  }
  const stateless = input.conversation_id === null || input.conversation !== undefined || isStealth(mode)
  return stateless ? 'none' : 'new'
}

/** Requests with a conversation, stealth modes and live browser sessions are never cached (contract 22.1). */
function cacheRule(input: CompletionInput, mode: Mode, fresh: boolean): CompletionRequest['cache'] {
  if (input.conversation_id != null || isStealth(mode) || input.browser_session_id) return 'off'
  return fresh ? 'refresh' : 'use'
}
