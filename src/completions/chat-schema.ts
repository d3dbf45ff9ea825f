import { EFFORTS } from '../engines'
import { invalidInput, messageOf } from '../kernel/errors'
import { form } from '../kernel/form'
import { parsedJson } from '../kernel/json'
import { JsonObject, nullable, oneOf, type Static, t } from '../kernel/schema'
import { wordOf } from '../kernel/text'
import type { ChatInput } from './schema'

const TextPart = t.Object({ type: oneOf(['text', 'input_text', 'output_text'] as const), text: t.String() })

export const ImageUrl = t.String({ maxLength: 21 * 1024 * 1024 })
const ImagePart = t.Object({
  type: oneOf(['image_url', 'input_image'] as const),
  image_url: t.Union([t.Object({ url: ImageUrl, detail: t.Optional(nullable(t.String())) }), ImageUrl]),
  detail: t.Optional(t.Unknown()),
})

const MaybeImage = t.Optional(nullable(ImageUrl))
/** An image in other formats: `image`, `data` or `source` holds a URL or Base64. */
const OtherImagePart = t.Object({
  type: oneOf(['image'] as const),
  image: MaybeImage,
  data: MaybeImage,
  source: t.Optional(nullable(t.Object({ data: MaybeImage, url: MaybeImage }))),
})

/** Replaced by texts before a chat is read (docs/api.md 33.3). */
const FilePart = t.Object({ type: oneOf(['file'] as const), file: JsonObject })
const OtherFilePart = t.Object({ type: oneOf(['input_file', 'document'] as const) })
const AudioPart = t.Object({ type: oneOf(['input_audio'] as const), input_audio: JsonObject })

/** Parts of an assistant's message that clients send back. Thoughts go to engines that need them. */
const RefusalPart = t.Object({ type: oneOf(['refusal'] as const), refusal: t.String() })
const ThinkingPart = t.Object({ type: oneOf(['thinking'] as const), thinking: t.String() })
const ReasoningPart = t.Object({
  type: oneOf(['reasoning', 'redacted_thinking'] as const),
  text: t.Optional(nullable(t.String())),
})

/** Calls and results in the words of another format, which some clients send to any address. */
const CallPart = t.Object({
  type: oneOf(['tool_use'] as const),
  id: t.String(),
  name: t.String({ maxLength: 256 }),
  input: t.Optional(nullable(JsonObject)),
})
const ResultPart = t.Object({
  type: oneOf(['tool_result'] as const),
  tool_use_id: t.String(),
  content: t.Optional(nullable(t.Union([t.String(), t.Array(t.Union([TextPart, ImagePart, OtherImagePart]))]))),
})

const Part = t.Union([
  TextPart,
  ImagePart,
  OtherImagePart,
  FilePart,
  OtherFilePart,
  AudioPart,
  RefusalPart,
  ThinkingPart,
  ReasoningPart,
  CallPart,
  ResultPart,
])
export type Part = Static<typeof Part>

const FUNCTION_NAME = form('^[A-Za-z0-9_-]{1,64}$', 'at most 64 letters, digits, hyphens and underscores')

/** Names and ids of calls in a history may come from other services, which allow longer ones. */
const Name = t.String({ maxLength: 256 })
const CallId = t.Optional(nullable(t.Union([t.String({ maxLength: 8_192 }), t.Integer()])))
const ArgumentsText = t.String({ maxLength: 1_000_000 })
/** A call of a function, or of a custom tool, whose input is one text. */
const SentCall = t.Object({
  id: CallId,
  type: t.Optional(nullable(oneOf(['function', 'custom'] as const))),
  function: t.Optional(
    nullable(t.Object({ name: Name, arguments: t.Optional(nullable(t.Union([ArgumentsText, JsonObject]))) })),
  ),
  custom: t.Optional(nullable(t.Object({ name: Name, input: ArgumentsText }))),
  extra_content: t.Optional(nullable(JsonObject)),
})
type SentCall = Static<typeof SentCall>
export type FunctionCall = Omit<SentCall, 'id' | 'function' | 'custom'> & {
  id: string
  function: NonNullable<SentCall['function']>
}

/** `developer` is read as `system`. `tool` and `function` are accepted and ignored without tools (docs/api.md 4). */
export const ChatMessage = t.Object({
  role: oneOf(['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const),
  content: t.Optional(nullable(t.Union([t.String(), t.Array(Part)]))),
  tool_calls: t.Optional(nullable(t.Array(SentCall, { maxItems: 128 }))),
  refusal: t.Optional(nullable(t.String())),
  reasoning_content: t.Optional(nullable(t.Union([t.String({ maxLength: 1_000_000 }), t.Array(JsonObject)]))),
  tool_call_id: CallId,
})

/** A message. Some clients send the reasoning under other names. */
export type SentMessage = Static<typeof ChatMessage> & { reasoning?: unknown; reasoning_details?: unknown }
/** A message with function calls only. */
export type ChatMessage = Omit<SentMessage, 'tool_calls' | 'tool_call_id'> & {
  tool_calls?: FunctionCall[] | null
  tool_call_id?: string | null
}

const Signature = t.Object({
  name: t.String({ pattern: FUNCTION_NAME }),
  description: t.Optional(nullable(t.String({ maxLength: 32_768 }))),
  parameters: t.Optional(nullable(JsonObject)),
  strict: t.Optional(nullable(t.Boolean())),
})

/** A function that the client runs itself. */
export type FunctionTool = { type: 'function'; function: Static<typeof Signature> }

const Custom = t.Object({
  name: t.String({ pattern: FUNCTION_NAME }),
  description: t.Optional(nullable(t.String({ maxLength: 32_768 }))),
  format: t.Optional(nullable(JsonObject)),
})

/**
 * A tool as clients send it. Some omit the type, some put the members of the function beside it. A custom tool takes
 * one text instead of arguments.
 */
export const GivenTool = t.Object({
  type: t.Optional(nullable(oneOf(['function', 'custom'] as const))),
  function: t.Optional(nullable(Signature)),
  custom: t.Optional(nullable(Custom)),
  ...t.Partial(Custom).properties,
  ...t.Partial(Signature).properties,
})

const NamedFunction = t.Object({
  type: oneOf(['function'] as const),
  function: t.Object({ name: t.String({ pattern: FUNCTION_NAME }) }),
})

const Called = t.Optional(nullable(t.Object({ name: Name, arguments: ArgumentsText })))

/** The members of clients from before there were tools. */
export const OlderChat = t.Object({
  functions: t.Array(Signature, { minItems: 1, maxItems: 128 }),
  function_call: t.Optional(nullable(t.Union([oneOf(['none', 'auto'] as const), t.Object({ name: Name })]))),
  messages: t.Array(t.Object({ function_call: Called })),
})

/** Two vendors have a word more: the most, and the engine's own effort. */
export const Effort = t.Optional(nullable(oneOf([...EFFORTS, 'max', 'default'] as const)))

export const ToolChoice = t.Union([
  NamedFunction,
  t.Object({
    type: oneOf(['allowed_tools'] as const),
    allowed_tools: t.Object({
      mode: oneOf(['auto', 'required'] as const),
      tools: t.Array(NamedFunction, { minItems: 1, maxItems: 128 }),
    }),
  }),
  oneOf(['none', 'auto', 'required', 'any'] as const),
])

type GivenCustom = {
  name?: unknown
  description?: string | null | undefined
  format?: Record<string, unknown> | null | undefined
}

const MAX_DESCRIPTION = 32_768

/**
 * A custom tool, which takes one text instead of arguments, as a function with this text as its only argument
 * (docs/api.md 4, 29.5). The description contains its grammar.
 */
export function functionOfCustom(name: string, { description, format }: GivenCustom): FunctionTool {
  const grammar = grammarIn(format)
  const sentences = [
    description,
    grammar && `The input follows this ${wordOf(grammar.syntax)} grammar: ${wordOf(grammar.definition)}`,
  ]
  return {
    type: 'function',
    function: {
      name,
      description: sentences.filter(Boolean).join('\n').slice(0, MAX_DESCRIPTION),
      parameters: { type: 'object', required: ['input'], properties: { input: { type: 'string' } } },
    },
  }
}

/** A warning for the client if the custom tool has a grammar. */
export const grammarWarning = ({ name, format }: GivenCustom): string[] =>
  grammarIn(format) ? [`The grammar of ${messageOf(name)} was described to the engine; it is not enforced.`] : []

/** Chats put the grammar in its own member, responses beside its type. */
function grammarIn(format: GivenCustom['format']): { syntax?: unknown; definition?: unknown } | null {
  if (format?.type !== 'grammar') return null
  return typeof format.grammar === 'object' && format.grammar !== null ? format.grammar : format
}

export const argumentsOfInput = (input: string): string => JSON.stringify({ input })

/** The input of a custom tool in its function's arguments, or the arguments if they contain no such text. */
export function inputOf(args: string): string {
  const { input } = (parsedJson(args) ?? {}) as { input?: unknown }
  return typeof input === 'string' ? input : args
}

/** A chat without custom tools: all tools and calls are functions or MCP servers. */
export type FunctionChat = Omit<ChatInput, 'messages'> & { messages: ChatMessage[] }

/**
 * A chat with its custom tools and their calls as functions (docs/api.md 4). `customs` are the names of those tools.
 * Throws 400 `validation_error` for a tool or a call without a name.
 */
export function withoutCustoms(sent: ChatInput): {
  input: FunctionChat
  customs: ReadonlySet<string>
  warnings: string[]
} {
  const customs = new Set<string>()
  const warnings: string[] = []
  const hasCalls = sent.messages.some((message) => message.tool_calls?.length || hasBlocks(message))
  if (!sent.tools?.length && !hasCalls) return { input: sent as FunctionChat, customs, warnings }
  const tools = sent.tools?.map((tool, place) => {
    if (tool.type !== 'custom') return tool
    const custom: GivenCustom = tool.custom ?? tool
    const path = `tools[${place}]${tool.name === undefined ? '.custom' : ''}`
    if (typeof custom.name !== 'string') throw invalidInput(path, `"${path}" is missing.`)
    customs.add(custom.name)
    warnings.push(...grammarWarning(custom))
    return functionOfCustom(custom.name, custom)
  })
  const messages = hasCalls
    ? withIds(sent.messages.flatMap(withoutBlocks)).map(withFunctionCalls)
    : (sent.messages as ChatMessage[])
  return { input: { ...sent, ...(customs.size ? { tools } : {}), messages }, customs, warnings }
}

const isBlock = ({ type }: Part): boolean => type === 'tool_use' || type === 'tool_result'

const hasBlocks = ({ content }: SentMessage): boolean => Array.isArray(content) && content.some(isBlock)

/** A message whose calls are in their member, after the messages of its results. */
function withoutBlocks(message: SentMessage): SentMessage[] {
  if (!hasBlocks(message)) return [message]
  const parts = message.content as Part[]
  const content = parts.filter((part) => !isBlock(part))
  const calls = parts.flatMap((part) =>
    part.type === 'tool_use' ? [{ id: part.id, function: { name: part.name, arguments: part.input } }] : [],
  )
  const results = parts.flatMap((part): SentMessage[] =>
    part.type === 'tool_result' ? [{ role: 'tool', tool_call_id: part.tool_use_id, content: part.content ?? '' }] : [],
  )
  if (calls.length) return [...results, { ...message, content, tool_calls: calls }]
  return content.length ? [...results, { ...message, content }] : results
}

type NamedCall = NonNullable<SentMessage['tool_calls']>[number] & { id: string }
type NamedMessage = Omit<ChatMessage, 'tool_calls'> & { tool_calls?: NamedCall[] | null }

/** Some clients leave out the ids of calls. Their results are then in the order of the calls. */
function withIds(messages: readonly SentMessage[]): NamedMessage[] {
  const unnamed: string[] = []
  let answered = 0
  return messages.map((message, place) => {
    const { role, tool_calls: calls, tool_call_id: id } = message
    const named = message as NamedMessage
    if (calls)
      return {
        ...named,
        tool_calls: calls.map((call, number): NamedCall => {
          if (call.id || call.id === 0) return { ...call, id: `${call.id}` }
          const made = `call_${place}_${number}`
          unnamed.push(made)
          return { ...call, id: made }
        }),
      }
    if (role !== 'tool') return named
    return { ...named, tool_call_id: id || id === 0 ? `${id}` : (unnamed[answered++] ?? '') }
  })
}

function withFunctionCalls({ tool_calls: calls, ...message }: NamedMessage, place: number): ChatMessage {
  if (!calls) return message
  return {
    ...message,
    tool_calls: calls.map((call, number): FunctionCall => {
      const { function: called, custom, ...rest } = call
      if (custom && !called)
        return { ...rest, function: { name: custom.name, arguments: argumentsOfInput(custom.input) } }
      const path = `messages[${place}].tool_calls[${number}].${call.type ?? 'function'}`
      if (!called) throw invalidInput(path, `"${path}" is missing.`)
      return { ...rest, function: called }
    }),
  }
}
