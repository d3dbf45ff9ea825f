import type { Settings } from '../accounts'
import type { ImageQuality, Message } from '../engines'
import { invalidInput } from '../kernel/errors'
import type { Tx } from '../kernel/store'
import type { Activation } from '../skills'
import type { InlineTool, McpServer } from '../tools/schema'
import type { Voice } from './agent-sandbox'
import type { Task } from './agent-schema'
import type { StoredAnswer } from './cache'
import { ignoredIn } from './ignored'
import { toChatCompletion, toCompletion } from './present'
import { isStealth, modeWarnings, pathOfAttachment } from './rules'
import type { PastTurn, Run } from './run'
import type { Attachment, ChatCompletion, Completion, CompletionInput, Mode } from './schema'

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
  skills: readonly string[]
  /** Tools defined in the request; the server runs them (contract 22.5). */
  tools: readonly InlineTool[]
  /** MCP servers whose tools take part; absent for none (contract 28.2). */
  servers?: readonly McpServer[]
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
  const ignored = ignoredIn(input)
  return [...(input.model == null ? [] : [MODEL_IGNORED]), ...(ignored ? [ignored] : [])]
}

/** The question before an answer of mode `image` asked for that picture. */
const pastTurnsOf = (messages: NonNullable<CompletionInput['conversation']>['messages']): PastTurn[] =>
  messages.map(({ role, content }, place) => {
    const pictured = role === 'user' && messages[place + 1]?.mode === 'image'
    return { role, content, ...(pictured ? { pictured } : {}) }
  })

/** Makes pictures unless another one is named (contract 5.1). */
export const IMAGE_ENGINE = 'svc-1-create'

const STEALTH_RATIOS = { square: '1:1', portrait: '3:4', landscape: '4:3', wide: '16:9' } as const

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

const MODEL_IGNORED =
  '"model" was ignored: "mode" and "model_overrides" choose the engine. Chat clients use POST /chat/completions.'

const toImage = (attachment: Attachment, place: number): SentImage => ({
  attachment,
  path: pathOfAttachment(attachment, place),
  turn: null,
})

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
