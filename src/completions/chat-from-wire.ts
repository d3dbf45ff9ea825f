import { findEngine, type ImageDetail, LOCAL_EMBEDDING, type Message, type ToolCall } from '../engines'
import { invalidInput, messageOf } from '../kernel/errors'
import { parseUntrustedJson } from '../kernel/json'
import type { Static } from '../kernel/schema'
import { isBlank, wordOf } from '../kernel/text'
import { assertFits } from '../kernel/validation'
import { formatOf, functionsOf, ignoredIn, parametersOfChat, serversIn } from './chat-parameters'
import { type ChatMessage, type FunctionCall, type FunctionChat, OlderChat, withoutCustoms } from './chat-schema'
import { assertAttachment, imageIn, isImage } from './images'
import { chatIdOf, toChatCompletion } from './present'
import { assertMetadata, completionErrors } from './rules'
import { type CompletionRequest, DEFAULT_ITERATIONS, type SentImage } from './run'
import type { ChatCompletion, ChatInput } from './schema'

/** The text of a message. Text parts are joined by line breaks, and a refusal counts as text. */
const textOf = ({ content, refusal }: ChatMessage): string => {
  if (typeof content === 'string') return content
  const texts = (content ?? []).flatMap((part) =>
    TEXTS.has(part.type) && 'text' in part ? [part.text ?? ''] : part.type === 'refusal' ? [part.refusal] : [],
  )
  return texts.length ? texts.join('\n') : (refusal ?? '')
}

/** Types of parts with text, in all chat formats. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text'])

/** The assistant's reasoning before this message, as its client sends it back. Empty if there is none. */
const reasoningOf = (message: ChatMessage): string => {
  const { content, reasoning_content: long, reasoning: short, reasoning_details: details } = message
  const [parts = []] = [details, long, content].filter(Array.isArray)
  const thoughts = parts === long ? long : parts.filter((part) => /^(?:thinking|reasoning)/.test(part?.type))
  return wordOf(long) || wordOf(short) || thoughts.map(({ thinking, text }) => wordOf(thinking ?? text)).join('')
}

/** The images of a message. Its index in the request's `messages` is `index`, and its index in `context` is `turn`. */
const imagesOf = ({ content }: ChatMessage, index: number, turn: number | null): SentImage[] =>
  Array.isArray(content)
    ? content.flatMap((part, at) => {
        const path = `messages[${index}].content[${at}]`
        const image = imageIn(part, path)
        if (!image) return []
        const { attachment, member, detail } = image
        const closely = DETAILS.has(detail) ? { detail: detail as ImageDetail } : {}
        return [{ attachment, path: `${path}.${member}`, turn, ...closely }]
      })
    : []

/** Values for the level of detail of an image. `auto` is left out because engines default to it. */
const DETAILS: ReadonlySet<unknown> = new Set<ImageDetail>(['low', 'high', 'original'])

const hasImages = ({ content }: ChatMessage): boolean => Array.isArray(content) && content.some(isImage)

/** Parts of answers, which clients send back. */
const OF_ASSISTANTS: ReadonlySet<string> = new Set(['refusal', 'thinking', 'reasoning', 'redacted_thinking'])

const isSystem = ({ role }: ChatMessage): boolean => role === 'system' || role === 'developer'

type Spoken = { role: 'user' | 'assistant'; content: string; reasoning?: string }

/**
 * Throws 400 `validation_error` for a message without content, and for parts that only an assistant may have. An
 * assistant's content may be empty: such a turn is left out (docs/api.md 4).
 */
function assertContent(messages: readonly ChatMessage[]): void {
  for (let index = 0; index < messages.length; index++) {
    const { role, content } = messages[index]!
    if (role === 'assistant' || typeof content === 'string') continue
    const path = `messages[${index}].content`
    if (content == null) {
      const what = content === null ? 'null' : 'missing'
      throw invalidInput(path, `"${path}" is ${what}; only an assistant message can be without it.`)
    }
    const foreign = content.findIndex(({ type }) => OF_ASSISTANTS.has(type))
    if (foreign >= 0) {
      const at = `${path}[${foreign}].type`
      throw invalidInput(at, `"${at}" is for assistant messages only. Use text or image_url.`)
    }
  }
}

/** The text of a user or an assistant as a turn for an engine. Null for a message without content. */
function spoken(message: ChatMessage): Spoken | null {
  const { role } = message
  if (role !== 'user' && role !== 'assistant') return null
  const content = textOf(message)
  const reasoning = role === 'assistant' ? reasoningOf(message) : ''
  if (!content && !(role === 'user' && hasImages(message))) return null
  return reasoning ? { role, content, reasoning } : { role, content }
}

/**
 * Translates a chat request (docs/api.md 4): the last user message is the prompt, all system messages form the persona,
 * and earlier turns are context. Throws 400 `empty_prompt` when the last user message has neither text nor image, 400
 * `validation_error` for a message without content. `honours`: parameters of clients take effect. `forClients`: tool
 * results are read without `tools` too, and errors are those that clients know (docs/api.md 33.1).
 */
export function requestFromChat(
  sent: ChatInput,
  honours: boolean,
  forClients = honours,
): CompletionRequest<ChatCompletion> {
  const modern = withTools(sent)
  const { input, customs, warnings } = withoutCustoms(modern ?? sent)
  const parameters = honours ? parametersOfChat(input) : {}
  if (input.metadata) assertMetadata(input.metadata)
  assertContent(input.messages)
  const last = input.messages.findLastIndex(({ role }) => role === 'user')
  if (last < 0) throw completionErrors.emptyPrompt.with({ param: 'messages' })
  const question = input.messages[last]!
  if (isBlank(textOf(question)) && !hasImages(question))
    throw completionErrors.blankPrompt.with({ param: `messages[${last}]` }, last)
  const messages = forClients && !input.tools?.length ? resultsAsText(input.messages, last) : input.messages
  const persona = messages.some(isSystem) ? messages.filter(isSystem).map(textOf).filter(Boolean).join('\n\n') : ''
  const engine = engineOf(input.model)
  const functions = input.tools?.length ? functionsOf(input) : null
  const { json, checkJson } = formatOf(input)
  const before = messages.slice(0, last)
  const turnsBefore = functions ? turnsWithCalls(before, 0) : before.map(spoken)
  const after = functions ? turnsWithCalls(messages.slice(last + 1), last + 1) : []
  const { turns, images, dropped } = imagesAmong(messages, last, turnsBefore, after)
  const ignored = warningsOf(input, { honours, dropped, last, asText: messages !== input.messages })
  return {
    prompt: textOf(messages[last]!),
    mode: engine?.mode ?? 'auto',
    engine: engine?.id ?? null,
    overrides: {},
    voice: {
      persona: persona ? { system_prompt: persona } : 'svc',
      personality: null,
      style: null,
      branding: true,
      componentLibrary: 'svc',
    },
    usesSoul: true,
    context: turns,
    ...conversationContinuedBy(input.messages),
    after: present(after),
    conversation: input.conversation_id == null ? 'none' : { attach: input.conversation_id },
    images,
    paths: new Origins(input.messages, last),
    temperature: input.temperature ?? undefined,
    ...parameters,
    clientFormat: 'chat',
    ...(forClients ? { forClients } : NOTHING),
    skills: input.skills ?? [],
    tools: [],
    ...serversIn(input),
    ...(customs.size ? { customs } : NOTHING),
    ...(modern ? { callsFunction: true } : NOTHING),
    maxIterations: DEFAULT_ITERATIONS,
    functions,
    json,
    checkJson,
    metadata: input.metadata ?? null,
    cache: 'off',
    wantsFollowUps: false,
    shownId: chatIdOf,
    present: toChatCompletion,
    shape: null,
    warnings: warnings.length ? [...ignored, ...warnings] : ignored,
  }
}

/** The order of a client from before there were tools, with its functions as tools. Null for any other. */
function withTools(sent: ChatInput): ChatInput | null {
  if (!('functions' in sent) || sent.tools?.length || !(sent.functions as unknown[] | null)?.length) return null
  assertFits(OlderChat, sent)
  const { functions, function_call: choice, ...rest } = sent as ChatInput & Static<typeof OlderChat>
  let id = ''
  const messages = sent.messages.map((message, place) => {
    const { function_call: called, ...others } = message as Static<typeof OlderChat>['messages'][number] &
      typeof message
    if (called) id = `call_${place}`
    if (called) return { ...others, tool_calls: [{ id, function: called }] }
    return message.role === 'function' && id ? { ...others, role: 'tool' as const, tool_call_id: id } : message
  })
  const tools = functions.map((one) => ({ type: 'function' as const, function: one }))
  const tool_choice = typeof choice === 'object' && choice ? { type: 'function' as const, function: choice } : choice
  return { ...rest, messages, tools, tool_choice, parallel_tool_calls: false }
}

/**
 * The messages with each tool result as text of the turn before it, or of the question if the result comes after it
 * (docs/api.md 33.1). The same list when there are no results.
 */
function resultsAsText(messages: readonly ChatMessage[], last: number): readonly ChatMessage[] {
  if (!messages.some(({ role }) => RESULTS.has(role))) return messages
  const names = new Map(
    messages.flatMap(({ tool_calls: calls }) => (calls ?? []).map(({ id, function: { name } }) => [id, name] as const)),
  )
  const texts = new Map<number, { type: 'text'; text: string }[]>()
  let turn = last
  for (const [at, message] of messages.entries()) {
    if (!RESULTS.has(message.role)) turn = at < last && /^(user|assistant)$/.test(message.role) ? at : last
    else {
      const name = names.get(message.tool_call_id ?? '') ?? 'a tool'
      if (!texts.has(turn)) texts.set(turn, [])
      texts.get(turn)!.push({ type: 'text', text: `Result of ${name}: ${textOf(message)}` })
    }
  }
  return messages.map((message, at) => {
    const { content } = message
    const own = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : (content ?? [])
    return texts.has(at) ? { ...message, content: [...own, ...texts.get(at)!] } : message
  })
}

/** Tool results at the end continue an earlier run, even if their content is ignored because `tools` is missing. */
function conversationContinuedBy(messages: readonly ChatMessage[]): Pick<CompletionRequest, 'answeredCalls'> {
  if (!RESULTS.has(messages.at(-1)!.role)) return NOTHING
  const results = messages.slice(messages.findLastIndex(({ role }) => !RESULTS.has(role)) + 1)
  return { answeredCalls: results.flatMap(({ tool_call_id: id }) => id ?? []).slice(-MAX_CALLS) }
}

const NOTHING = {}

const RESULTS: ReadonlySet<ChatMessage['role']> = new Set(['tool', 'function'])
/** The maximum number of calls in one message. */
const MAX_CALLS = 128

/** Paths that errors and warnings name. Computed on first use. With several system messages, `persona` is the first. */
class Origins implements NonNullable<CompletionRequest['paths']> {
  readonly all = 'messages'

  constructor(
    private readonly messages: readonly ChatMessage[],
    private readonly last: number,
  ) {}

  get prompt() {
    return pathOf(this.last)
  }

  get persona() {
    return pathOf(this.messages.findIndex(isSystem))
  }

  get userTurns() {
    return this.messages.flatMap((message, index) =>
      index < this.last && spoken(message)?.role === 'user' ? [pathOf(index)] : [],
    )
  }

  ignoredImages(engineId: string) {
    return `The images were ignored: ${engineId} does not accept images. Use "svc-1-vision".`
  }
}

const pathOf = (index: number) => `messages[${index}].content`

/** Warnings about members that had no effect. None of them is an error (docs/api.md 4). */
function warningsOf(
  input: FunctionChat,
  { honours, dropped, last, asText }: { honours: boolean; dropped: number; last: number; asText: boolean },
): string[] {
  const { model, messages, tools, tool_choice: choice } = input
  const warnings = ignoredIn(input, honours)
  if (model && model !== 'auto' && !findEngine(model))
    warnings.unshift(
      `"model" is ${messageOf(model)}, which is not an engine of this server, so svc-1-auto was used. GET /models lists them.`,
    )
  if (dropped)
    warnings.push(
      `Only the newest ${MAX_IMAGES} images were used; ${dropped} before them ${dropped === 1 ? 'was' : 'were'} left out.`,
    )
  if (tools?.length) return warnings
  if (choice != null && choice !== 'none' && choice !== 'auto')
    warnings.push('"tool_choice" was ignored: there are no "tools".')
  let begun = last + 1
  while (begun < messages.length && spoken(messages[begun]!)?.role !== 'assistant') begun++
  if (begun < messages.length)
    warnings.push(`"messages[${begun}]" was ignored: you cannot start the answer for the engine.`)
  if (asText) warnings.push('Results of tools were read as text, because there are no "tools".')
  return warnings
}

/** The engine that a client names. Unknown names fall back to auto (docs/api.md 4). */
function engineOf(model: string | null | undefined): { id: string; mode: CompletionRequest['mode'] } | null {
  if (model === 'svc-1-embed' || model === LOCAL_EMBEDDING)
    throw invalidInput('model', `"${model}" makes vectors and answers no chat. Call POST /embeddings.`)
  const entry = model ? findEngine(model) : null
  return entry === null || entry.mode === 'auto'
    ? null
    : { id: entry.id, mode: entry.mode as CompletionRequest['mode'] }
}

/** Maximum number of images in one chat. A native request may have as many (docs/api.md 2.1). */
const MAX_IMAGES = 10

/**
 * The turns before the question, and the newest images of the conversation, from users and tool results. The indexes of
 * turns after the question follow those of the turns before. Throws 400 for an image that is too large.
 */
function imagesAmong(
  messages: readonly ChatMessage[],
  last: number,
  turnsBefore: readonly (Message | null)[],
  after: readonly (Message | null)[],
) {
  const sent: SentImage[] = []
  let place = 0
  for (let at = 0; at < messages.length; at++) {
    const turn = at < last ? turnsBefore[at] : after[at - last - 1]
    if (at !== last && !turn) continue
    if (turn?.role !== 'assistant') sent.push(...imagesOf(messages[at]!, at, at === last ? null : place))
    if (turn) place += 1
  }
  for (const { attachment, path } of sent) assertAttachment(attachment, path)
  return {
    turns: present(turnsBefore),
    images: sent.slice(-MAX_IMAGES),
    dropped: Math.max(0, sent.length - MAX_IMAGES),
  }
}

const present = (turns: readonly (Message | null)[]): Message[] => turns.filter((turn) => turn !== null)

/**
 * Each message as a turn for an engine, with tool calls and results. Null for messages that are not turns. `offset` is
 * the index of the first message in the order. Throws 400 `validation_error` when a result answers no call, a call has
 * no result, or two calls share an id. Engines reject these too, with less helpful messages.
 */
function turnsWithCalls(messages: readonly ChatMessage[], offset: number): (Message | null)[] {
  const open = new Map<string, { name: string; path: string }>()
  const turns: (Message | null)[] = []
  for (const [at, message] of messages.entries()) {
    const place = offset + at
    if (message.role === 'tool') turns.push(resultOf(message, place, open))
    else {
      assertAnswered(open)
      const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : []
      for (const [number, call] of calls.entries()) {
        const path = `messages[${place}].tool_calls[${number}]`
        if (open.has(call.id))
          throw invalidInput(`${path}.id`, `"${path}.id" is ${messageOf(call.id)}, which an earlier call already has.`)
        open.set(call.id, { name: call.function.name, path })
      }
      turns.push(calls.length ? called(message, calls) : spoken(message))
    }
  }
  assertAnswered(open)
  return turns
}

function resultOf(message: ChatMessage, place: number, open: Map<string, { name: string }>): Message {
  const id = message.tool_call_id ?? ''
  const call = open.get(id)
  if (!call)
    throw invalidInput(
      `messages[${place}].tool_call_id`,
      `"messages[${place}].tool_call_id" is ${messageOf(id)}, which is not the id of a tool call in the assistant message before it.`,
    )
  open.delete(id)
  return { role: 'tool', toolCallId: id, toolName: call.name, content: textOf(message) }
}

function called(message: ChatMessage, calls: readonly FunctionCall[]): Message {
  const reasoning = reasoningOf(message)
  const turn: Message = { role: 'assistant', content: textOf(message), toolCalls: calls.map(toCall) }
  return reasoning ? { ...turn, reasoning } : turn
}

const toCall = ({ id, function: { name, arguments: args }, extra_content: extra }: FunctionCall): ToolCall => ({
  id,
  name,
  arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
  ...(extra ? { extra: extraOf(extra) } : {}),
})

/** Extra content that an engine needs back with its call. Decoded if svc encoded it for the client. */
function extraOf(content: Record<string, unknown>): Record<string, unknown> {
  if (typeof content.svc !== 'string') return { extra_content: content }
  const extra = parsed(Buffer.from(content.svc, 'base64url'))
  return typeof extra === 'object' && extra !== null ? (extra as Record<string, unknown>) : {}
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseUntrustedJson(bytes)
  } catch {
    return null
  }
}

function assertAnswered(open: ReadonlyMap<string, { path: string }>): void {
  const [first] = open
  if (!first) return
  const [id, { path }] = first
  throw invalidInput(path, `"${path}" was not answered: add {"role":"tool","tool_call_id":${messageOf(id)}} after it.`)
}
