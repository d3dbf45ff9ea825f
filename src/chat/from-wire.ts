import type { Ask } from '../completions'
import { assertAttachment, assertMetadata, DEFAULT_ITERATIONS, toChatCompletion } from '../completions'
import { findEngine, type Message } from '../engines'
import { isBlank } from '../kernel/text'
import { emptyPrompt } from './errors'
import { formatOf } from './format'
import { functionsOf, turnsWithCalls } from './functions'
import { imagesOf, textOf } from './parts'
import type { ChatMessage, ChatOrder } from './schema'

/**
 * Translates a chat order (contract 4): the last user message is the prompt, all system messages make the
 * persona, earlier turns are context. Throws 400 `empty_prompt` when no user message has text or an image.
 */
export function askFromChat(order: ChatOrder): Ask {
  if (order.metadata) assertMetadata(order.metadata)
  const last = order.messages.findLastIndex((message) => message.role === 'user' && asks(message))
  const question = order.messages[last]
  if (!question) throw emptyPrompt()
  const system = order.messages.filter(({ role }) => role === 'system' || role === 'developer').map(textOf)
  const engine = engineOf(order.model)
  const functions = functionsOf(order)
  const { json, checkJson } = formatOf(order)
  const attachments = imagesOf(question)
  for (const attachment of attachments) assertAttachment(attachment, `messages[${last}].content`)
  return {
    prompt: textOf(question),
    mode: engine?.mode ?? 'auto',
    engine: engine?.id ?? null,
    overrides: {},
    voice: {
      persona: system.length ? { system_prompt: system.join('\n\n') } : 'svc',
      personality: null,
      style: null,
      branding: true,
      componentLibrary: 'svc',
    },
    usesSoul: true,
    ...(functions ? whatWasDone(order.messages, last) : whatWasSaid(order.messages, last)),
    conversation: order.conversation_id == null ? 'none' : { attach: order.conversation_id },
    attachments,
    cameFrom: originsOf(order.messages, last),
    temperature: order.temperature ?? undefined,
    skills: order.skills ?? [],
    tools: [],
    maxIterations: DEFAULT_ITERATIONS,
    functions,
    json,
    checkJson,
    metadata: order.metadata ?? null,
    cache: 'off',
    wantsFollowUps: false,
    present: toChatCompletion,
    shape: null,
    warnings: [],
  }
}

/** Paths of the messages that the ask was made from, for refusals; of several system messages the first. */
function originsOf(messages: readonly ChatMessage[], last: number): NonNullable<Ask['cameFrom']> {
  const path = (place: number) => `messages[${place}].content`
  const said = messages.flatMap((message, place) =>
    place < last && message.role === 'user' && textOf(message) ? [path(place)] : [],
  )
  const persona = path(messages.findIndex(({ role }) => role === 'system' || role === 'developer'))
  return { prompt: path(last), attachments: path(last), persona, said }
}

/** An image without text counts as a question, too. */
const asks = (message: ChatMessage): boolean => !isBlank(textOf(message)) || imagesOf(message).length > 0

/** The engine a client names; unknown names fall back to auto (contract 4). */
function engineOf(model: string | null | undefined): { id: string; mode: Ask['mode'] } | null {
  const entry = model ? findEngine(model) : null
  return entry === null || entry.mode === 'auto' ? null : { id: entry.id, mode: entry.mode as Ask['mode'] }
}

const whatWasSaid = (messages: ChatMessage[], last: number): Turns => ({
  context: messages.slice(0, last).flatMap(toTurn),
  after: [],
})

function whatWasDone(messages: ChatMessage[], last: number): Turns {
  const context = turnsWithCalls(messages.slice(0, last), 0)
  return { context, after: turnsWithCalls(messages.slice(last + 1), last + 1) }
}

type Turns = Pick<Ask, 'context' | 'after'>

/** In an order without `tools`, tool calls and their results are accepted and ignored (contract 4). */
function toTurn(message: ChatMessage): Message[] {
  const { role } = message
  if (role !== 'user' && role !== 'assistant') return []
  const content = textOf(message)
  return content ? [{ role, content }] : []
}
