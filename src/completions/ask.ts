import type { Voice } from '../agent'
import type { Task } from '../agent/schema'
import type { Message } from '../engines'
import { invalidInput } from '../kernel/errors'
import type { Tx } from '../kernel/store'
import type { Settings } from '../settings'
import type { Activation } from '../skills'
import type { InlineTool } from '../tools/schema'
import { toChatCompletion, toCompletion } from './present'
import { isStealth, modeWarnings } from './rules'
import type { Opened, Result } from './run'
import type { Attachment, ChatCompletion, Completion, CompletionOrder, Mode } from './schema'

/** Paths of a body; `said` are those of the user's turns in `context`, in their order. */
type Origins = { prompt: string; persona: string; attachments: string; said: readonly string[] }

/** What the pipeline is asked, the same for every surface; each surface translates its own wire into one. */
export type Ask<Answer extends object = object> = {
  prompt: string
  mode: Mode
  /** False when the mode is `auto` or came from nowhere: then the classifier decides. */
  engine: string | null
  overrides: Readonly<Record<string, string>>
  voice: Omit<Voice, 'mode' | 'soul' | 'memories' | 'skills'>
  /** Whether the key's brand soul, if it has one, may speak. */
  usesSoul: boolean
  /** Turns supplied with the request; they follow what is stored. */
  context: readonly Message[]
  /** What was said after the prompt, where a client keeps the loop itself (contract 4). */
  after: readonly Message[]
  conversation: { attach: string } | 'new' | 'none'
  attachments: readonly Attachment[]
  /** Where a refusal says that something came from; absent, the members of a native order. */
  cameFrom?: Origins
  temperature: number | undefined
  skills: readonly string[]
  /** Tools defined in the request; the server runs them (contract 22.5). */
  tools: readonly InlineTool[]
  /** Keeps this server's own tools out of it, whatever the mode: nothing outside is reached. */
  sealed?: boolean
  /** What takes part, where it is settled beforehand: nothing that is installed joins it. */
  active?: Activation
  /** The most it may cost, in micro-cents, and the most tools it may call; absent, what credit and the agent allow. */
  bounds?: { costMicro: number; toolCalls: number }
  maxIterations: number
  /** Functions of the client's own; the client runs them (contract 4). */
  functions: Task['offered']
  /** The form the content must have, besides what its mode asks for. */
  json: Task['json']
  /** What is wrong with content of that form, in one sentence; null when nothing is. Absent: not asked. */
  checkJson: ((content: string) => string | null) | null
  metadata: Record<string, unknown> | null
  cache: 'use' | 'refresh' | 'off'
  wantsFollowUps: boolean
  /** Other inputs that shape the output, for the cache key only. */
  shape: unknown
  warnings: readonly string[]
  /** The whole answer in the caller's format. */
  present(run: Opened, result: Result): Answer
  /** What else belongs to the unit of work that pays for the answer. */
  alongside?(tx: Tx): Promise<unknown>
}

/** Turns in which tools may be called (contract 22.5). */
export const DEFAULT_ITERATIONS = 8

/** Reads a native order (contract 2.1) in the light of the account's settings. */
export function askFromOrder(
  order: CompletionOrder,
  settings: Settings,
  fresh: boolean,
): Ask<Completion | ChatCompletion> {
  const mode = order.mode ?? (settings.default_mode as Mode)
  const branding = (order.svc_branding ?? settings.svc_branding) && !isStealth(mode)
  const inline = order.conversation
  const ignoresInline = inline !== undefined && order.conversation_id != null
  return {
    prompt: order.prompt,
    mode,
    engine: isStealth(mode) ? (order.stealth_model ?? null) : null,
    overrides: order.model_overrides ?? {},
    voice: {
      persona: order.persona ?? settings.personality,
      personality: order.personality_config ?? null,
      style: order.response_style ?? null,
      branding,
      componentLibrary: order.component_library ?? 'svc',
    },
    usesSoul: order.brand_soul ?? true,
    context: inline && !ignoresInline ? inline.messages.map(({ role, content }) => ({ role, content })) : [],
    conversation: conversationOf(order, mode),
    attachments: order.attachments ?? [],
    temperature: order.temperature,
    skills: order.skills ?? [],
    tools: order.tools ?? [],
    maxIterations: order.max_iterations ?? DEFAULT_ITERATIONS,
    functions: null,
    json: false,
    checkJson: null,
    after: [],
    metadata: order.metadata ?? null,
    cache: cacheRule(order, mode, fresh),
    wantsFollowUps: true,
    present: order.format === 'compat' ? toChatCompletion : toCompletion,
    shape: [order.metadata?.approved_tools ?? null, order.image_model ?? 'auto', order.image_quality ?? 'standard'],
    warnings: [
      ...modeWarnings(mode),
      ...(ignoresInline ? ['"conversation" was ignored because "conversation_id" was sent.'] : []),
    ],
  }
}

/** Absent makes one, `null` makes none, inline context and stealth keep nothing (contract 2.2). */
function conversationOf(order: CompletionOrder, mode: Mode): Ask['conversation'] {
  if (order.conversation_id != null) {
    if (isStealth(mode))
      throw invalidInput(
        'conversation_id',
        `"conversation_id" cannot be used with mode "${mode}", which keeps nothing.`,
      )
    return { attach: order.conversation_id }
  }
  const stateless = order.conversation_id === null || order.conversation !== undefined || isStealth(mode)
  return stateless ? 'none' : 'new'
}

/** Requests with a conversation, stealth modes and live browser sessions are never cached (contract 22.1). */
function cacheRule(order: CompletionOrder, mode: Mode, fresh: boolean): Ask['cache'] {
  if (order.conversation_id != null || isStealth(mode) || order.browser_session_id) return 'off'
  return fresh ? 'refresh' : 'use'
}
