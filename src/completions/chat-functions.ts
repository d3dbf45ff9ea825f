import type { EngineTool, Message, ToolCall } from '../engines'
import { invalidInput, messageOf, quoted } from '../kernel/errors'
import { parseUntrustedJson } from '../kernel/json'
import { isBlank } from '../kernel/text'
import { newAllowance, problemsOf, sizeIfWritten } from '../tools'
import type { McpServer } from '../tools/schema'
import type { Offered } from './agent-schema'
import type { CompletionRequest, SentImage } from './run'
import type { ChatInput, ChatMessage, FunctionCall, FunctionTool } from './schema'

/** The text of a message; text parts are joined by line breaks, a refusal is text. */
export const textOf = ({ content, refusal }: ChatMessage): string => {
  if (typeof content === 'string') return content
  const texts = (content ?? []).flatMap((part) =>
    part.type === 'text' ? [part.text] : part.type === 'refusal' ? [part.refusal] : [],
  )
  return texts.length ? texts.join('\n') : (refusal ?? '')
}

/** What the assistant thought before this message, as its client sends it back; empty for none. */
const reasoningOf = ({ content, reasoning_content: reasoning }: ChatMessage): string => {
  if (reasoning || !Array.isArray(content)) return reasoning ?? ''
  return content
    .map((part) => (part.type === 'thinking' ? part.thinking : part.type === 'reasoning' ? (part.text ?? '') : ''))
    .join('')
}

/** The images of a message, which is `messages[place]` in the order and `context[turn]` in the request. */
export const imagesOf = ({ content }: ChatMessage, index: number, turn: number | null): SentImage[] =>
  Array.isArray(content)
    ? content.flatMap((part, at) =>
        part.type === 'image_url'
          ? {
              attachment: { type: 'image_url' as const, url: part.image_url.url },
              path: `messages[${index}].content[${at}].image_url.url`,
              turn,
            }
          : [],
      )
    : []

const hasImages = ({ content }: ChatMessage): boolean =>
  Array.isArray(content) && content.some(({ type }) => type === 'image_url')

/** Parts of answers, which clients send back. */
const OF_ASSISTANTS: ReadonlySet<string> = new Set(['refusal', 'thinking', 'reasoning'])

/** An image without text counts as a question, too. */
export const asks = (message: ChatMessage): boolean => !isBlank(textOf(message)) || hasImages(message)

type Spoken = { role: 'user' | 'assistant'; content: string; reasoning?: string }

const NO_PARAMETERS = { type: 'object', properties: {} }

type ChatTool = NonNullable<ChatInput['tools']>[number]

/** The MCP servers among the tools of a chat (contract 28.2). */
export const serversIn = ({ tools }: ChatInput): McpServer[] => (tools ?? []).filter(isServer)

const isServer = (tool: ChatTool): tool is McpServer => tool.type === 'mcp'

/**
 * The functions a chat client offers, none beside MCP servers (contract 4); null without tools. Throws 400
 * `validation_error` on a name used twice, on parameters that are not a schema, and on a `tool_choice` that is not among
 * them. What a choice names of an MCP server is looked for when its tools are known.
 */
export function functionsOf({
  tools,
  tool_choice: choice,
  parallel_tool_calls: parallel,
}: ChatInput): CompletionRequest['functions'] {
  if (!tools?.length) return null
  const names = new Set<string>()
  const allowance = newAllowance()
  const functions: FunctionTool[] = []
  for (const [place, tool] of tools.entries()) {
    if (isServer(tool)) continue
    const offered = tool.function
    functions.push(tool)
    if (names.has(offered.name))
      throw invalidInput(`tools[${place}].function.name`, `"tools" has two functions named ${messageOf(offered.name)}.`)
    names.add(offered.name)
    const path = `tools[${place}].function.parameters`
    // Engines refuse an invalid schema. Patterns are not run here, since the client checks the arguments itself.
    if (offered.parameters) assertSchema(offered.parameters, path, allowance, sizeIfWritten)
  }
  const labels = tools.filter(isServer).map(({ server_label }) => `${server_label}__`)
  const isKnown = (name: string) => names.has(name) || labels.some((label) => name.startsWith(label))
  return { ...choose(functions.map(toEngineTool), choice ?? 'auto', isKnown), oneCallATurn: parallel === false }
}

type Choice = NonNullable<ChatInput['tool_choice']>

/** Applies `tool_choice`: a mode, one named function, or a list of allowed functions with a mode. */
function choose(
  tools: EngineTool[],
  choice: Choice,
  isKnown: (name: string) => boolean,
): Omit<Offered, 'oneCallATurn'> {
  if (typeof choice === 'string') return { tools, choice }
  const listed = 'function' in choice ? [choice.function.name] : choice.allowed_tools.tools.map(nameOf)
  const missing = listed.find((name) => !isKnown(name))
  if (missing !== undefined)
    throw invalidInput('tool_choice', `"tool_choice" names ${messageOf(missing)}, which is not among "tools".`)
  if ('function' in choice) return { tools, choice: { name: choice.function.name } }
  return { tools: tools.filter(({ name }) => listed.includes(name)), choice: choice.allowed_tools.mode, only: listed }
}

const nameOf = (named: { function: { name: string } }): string => named.function.name

const toEngineTool = ({ function: { name, description, parameters, strict } }: FunctionTool): EngineTool => ({
  name,
  description: description ?? '',
  parameters: parameters ?? NO_PARAMETERS,
  ...(strict == null ? {} : { strict }),
})

/**
 * Each message as a turn for an engine, with tool calls and results, null for those that are none; `offset` is the
 * index of the first message in the order. Throws 400 `validation_error` when a result answers no call, a call has no result, or two
 * calls share an id: engines refuse these as well, with less helpful messages.
 */
export function turnsWithCalls(messages: readonly ChatMessage[], offset: number): (Message | null)[] {
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
  if (!call) throw orphan(place, id)
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
  arguments: args,
  ...(extra ? { extra: extraOf(extra) } : {}),
})

/** What an engine wants back with its call: as svc sent it to the client, else in the client's own words. */
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

const orphan = (place: number, id: string) =>
  invalidInput(
    `messages[${place}].tool_call_id`,
    `"messages[${place}].tool_call_id" is ${messageOf(id)}, which is not the id of a tool call in the assistant message before it.`,
  )

/** Throws 400 `validation_error` with the first problem of a client's schema, if it has any. */
export function assertSchema(...about: Parameters<typeof problemsOf>): void {
  const [problem] = problemsOf(...about)
  if (problem) throw invalidInput(problem.path, `"${quoted(problem.path)}" ${problem.message}.`)
}

/**
 * Throws 400 `validation_error` for a message without content, and for parts that only an assistant has. An assistant's
 * may be empty: such a turn is left out (contract 4).
 */
export function assertContent(messages: readonly ChatMessage[]): void {
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}].content`
    const { role, content } = message
    if (role === 'assistant') continue
    if (content == null) {
      const what = content === null ? 'null' : 'missing'
      throw invalidInput(path, `"${path}" is ${what}; only an assistant message can be without it.`)
    }
    const foreign = Array.isArray(content) ? content.findIndex(({ type }) => OF_ASSISTANTS.has(type)) : -1
    if (foreign >= 0) {
      const at = `${path}[${foreign}].type`
      throw invalidInput(at, `"${at}" is for assistant messages only. Use text or image_url.`)
    }
  }
}

/** What a user or an assistant said as a turn for an engine; null for a message without content. */
export function spoken(message: ChatMessage): Spoken | null {
  const { role } = message
  if (role !== 'user' && role !== 'assistant') return null
  const content = textOf(message)
  const reasoning = role === 'assistant' ? reasoningOf(message) : ''
  if (!content && !(role === 'user' && hasImages(message))) return null
  return { role, content, ...(reasoning ? { reasoning } : {}) }
}
