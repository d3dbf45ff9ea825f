import { argumentsOfInput, type CompletionRequest } from '../completions'
import type { ChatMessage } from '../completions/chat-schema'
import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { open, seal } from '../kernel/crypto'
import { invalidInput, messageOf } from '../kernel/errors'
import { parsedJson } from '../kernel/json'
import { wordOf } from '../kernel/text'
import type { Item } from './responses-schema'

type Part = Exclude<NonNullable<ChatMessage['content']>, string>[number]

type AllowedCall = NonNullable<CompletionRequest['allowed']>[number]

/** A turn, with its path in the body and the paths of its calls. */
export type Entry = { message: ChatMessage; path: string; callsAt?: string[] }

/** The items that a message of the chat format stands for: a result, or what the assistant says and then its calls. */
function fromChat(item: Item): Item[] {
  const { role, tool_call_id, tool_calls, content } = item
  if (role === 'tool') return [{ type: 'function_call_output', call_id: tool_call_id, output: content }]
  if (role !== 'assistant' || !Array.isArray(tool_calls)) return [item]
  const calls = tool_calls.map((call: Item) => ({
    type: 'function_call',
    call_id: call?.id,
    ...(call?.function as Item),
  }))
  return [{ ...item, content: content ?? '' }, ...calls]
}

/** Throws 400 `validation_error` for items that a response could not use. */
export const assertItems = (items: readonly Item[]): void => {
  entriesOf(items, (at) => `items[${at}]`, [])
}

/** The turns of items, and the results of calls by the id of their call. */
export function entriesOf(items: readonly Item[], pathOf: (at: number) => string, warnings: string[]) {
  const turns: Entry[] = []
  const results = new Map<string, Entry>()
  const leftOut = new Set<string>()
  const requests = new Map<unknown, Item>()
  /** Ids of calls of tools that this server does not have. Some clients answer them as functions. */
  const hosted = new Set<unknown>()
  /** Calls of MCP tools that the user has allowed. */
  const allowed: AllowedCall[] = []
  let reasoning = ''
  /** The assistant's turn that a call joins. A result or a message of another role ends it. */
  let turn: ChatMessage | null = null

  const begin = (message: ChatMessage, path: string): ChatMessage => {
    if (message.role === 'assistant' && reasoning) message.reasoning_content = reasoning
    reasoning = ''
    turns.push({ message, path })
    return message
  }
  for (const [item, path] of items.flatMap((one, at) => fromChat(one).map((own) => [own, pathOf(at)] as const))) {
    const type = item.type ?? (item.role === undefined ? undefined : 'message')
    switch (type) {
      case 'message': {
        const message = begin(messageIn(item, path), path)
        turn = message.role === 'assistant' ? message : null
        break
      }
      case 'function_call':
      case 'custom_tool_call': {
        turn ??= begin({ role: 'assistant', content: '' }, path)
        const entry = turns.at(-1)!
        turn.tool_calls ??= []
        turn.tool_calls.push(callIn(item, path))
        entry.callsAt ??= []
        entry.callsAt.push(path)
        break
      }
      case 'function_call_output':
      case 'custom_tool_call_output': {
        const id = textIn(item, 'call_id', path)
        const { output } = item
        // Some clients send the value itself instead of its text.
        const isText = Array.isArray(output) || typeof output === 'string'
        const given = isText ? output : output == null ? '' : JSON.stringify(output)
        // Only the service that made it can read it.
        const readable = Array.isArray(given) ? given.filter((part) => part?.type !== 'encrypted_content') : given
        const content = contentIn(readable, `${path}.output`)
        turn = null
        if (hosted.has(id)) begin({ role: 'user', content }, path)
        else results.set(id, { message: { role: 'tool', tool_call_id: id, content }, path })
        break
      }
      case 'reasoning':
        reasoning = reasoningIn(item)
        turn = null
        break
      case 'input_text':
      case 'input_image':
        turn = null
        begin({ role: 'user', content: [partIn(item, path)] }, path)
        break
      case undefined:
        throw invalidInput(path, `"${path}" has neither "type" nor "role". Send {"role":"user","content":"Hello"}.`)
      case 'mcp_approval_request':
        requests.set(item.id, item)
        turn = begin({ role: 'assistant', content: `May I call ${calledIn(item)}?` }, path)
        break
      case 'mcp_approval_response': {
        const id = textIn(item, 'approval_request_id', path)
        const request = requests.get(id)
        if (!request)
          throw invalidInput(
            `${path}.approval_request_id`,
            `"${path}.approval_request_id" is ${messageOf(id)}, which is not the id of a mcp_approval_request before it.`,
          )
        if (item.approve === true) {
          const { server_label: label, name, arguments: args } = request
          const given = parsedJson(wordOf(args, '{}')) ?? null
          allowed.push({ name: `${wordOf(label)}__${wordOf(name)}`, arguments: given })
        }
        begin({ role: 'user', content: answerTo(request, item) }, path)
        turn = null
        break
      }
      // The tools of these items are read with those of the request.
      case 'additional_tools':
      case 'tool_search_output':
        break
      default: {
        const text = textOfHosted(item)
        if (item.call_id) hosted.add(item.call_id)
        if (!text) leftOut.add(wordOf(type, 'unknown').slice(0, 64))
        else if (wordOf(type).endsWith('_output')) {
          begin({ role: 'user', content: text }, path)
          turn = null
        } else turn = begin({ role: 'assistant', content: text }, path)
      }
    }
  }
  if (leftOut.size) warnings.push(`Items of these types were left out: ${[...leftOut].join(', ')}.`)
  return { turns, results, allowed }
}

const calledIn = ({ server_label: label, name, arguments: args }: Item): string =>
  `${wordOf(label)}__${wordOf(name)}(${wordOf(args, '{}')})`

function answerTo(request: Item, { approve, reason }: Item): string {
  if (approve === true) return `Yes: call ${calledIn(request)} now, with exactly these arguments.`
  return `No, do not call ${calledIn(request)}.${typeof reason === 'string' ? ` ${reason}` : ''}`
}

/** The text of an item of a tool that a server ran. Empty if it has none (docs/api.md 29.4). */
function textOfHosted(item: Item): string {
  const { type, action, output, code, query } = item
  const wordsIn = (value: unknown): string =>
    typeof value === 'string'
      ? value
      : Array.isArray(value)
        ? value.map(wordsIn).filter(Boolean).join('\n')
        : partsIn(value)
  const partsIn = (value: unknown): string => {
    const { text, logs, stdout, stderr, name, command, url } = (value ?? {}) as Item
    return [text, logs, stdout, stderr, command, url, name]
      .map((one) => wordsIn(one ?? ''))
      .filter(Boolean)
      .join('\n')
  }
  const does = (action ?? {}) as Item
  switch (type) {
    case 'mcp_call':
      return `${wordOf(item.name)}(${wordOf(item.arguments)}) returned: ${wordOf(output)}`
    case 'mcp_list_tools':
      return wordsIn(item.tools) && `The server ${wordOf(item.server_label)} has these tools:\n${wordsIn(item.tools)}`
    case 'web_search_call':
      return does.query || does.queries
        ? `Searched the web for: ${wordOf(does.query) || wordsIn(does.queries)}`
        : typeof does.url === 'string'
          ? `Opened ${does.url}`
          : ''
    case 'file_search_call':
      return `Searched the files for: ${wordsIn(item.queries ?? query)}\n${wordsIn(item.results)}`.trim()
    case 'code_interpreter_call':
      return `Ran this code:\n${wordOf(code)}\n${wordsIn(item.outputs)}`.trim()
    case 'image_generation_call':
      return `Made a picture. ${wordOf(item.revised_prompt)}`.trim()
    case 'local_shell_call':
    case 'shell_call':
      return wordsIn(action) && `Ran: ${wordsIn(does.command ?? does.commands)}`
    case 'local_shell_call_output':
    case 'shell_call_output':
    case 'apply_patch_call_output':
    case 'mcp_call_output':
      return wordsIn(output) && `The output was: ${wordsIn(output)}`
    default:
      return wordsIn(item.content ?? item.text ?? '')
  }
}

/** A member that is a text. Throws 400 `validation_error`. */
export function textIn(item: Item, name: string, path: string, mayBeEmpty = false): string {
  const value = item[name]
  if (typeof value === 'string' && (mayBeEmpty || value.length > 0)) return value
  throw invalidInput(
    `${path}.${name}`,
    `"${path}.${name}" is ${value === undefined ? 'missing' : messageOf(value)}; it must be a text.`,
  )
}

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer'])

function messageIn({ role, content }: Item, path: string): ChatMessage {
  if (!ROLES.has(role))
    throw invalidInput(
      `${path}.role`,
      `"${path}.role" is ${messageOf(role)}. Use user, assistant, system or developer.`,
    )
  // An assistant's turn may be empty.
  const stated = content === null && role === 'assistant' ? '' : content
  return { role: role as ChatMessage['role'], content: contentIn(stated, `${path}.content`) }
}

function callIn(item: Item, path: string): NonNullable<ChatMessage['tool_calls']>[number] {
  const isCustom = item.type === 'custom_tool_call'
  const given = item[isCustom ? 'input' : 'arguments'] ?? ''
  const args = typeof given === 'string' ? given : JSON.stringify(given)
  return {
    id: textIn(item, item.call_id == null && item.id ? 'id' : 'call_id', path),
    function: {
      name: textIn(item, 'name', path),
      arguments: isCustom ? argumentsOfInput(args) : args,
    },
  }
}

/** The reasoning as it was shown. Hidden reasoning cannot be sent back. */
const reasoningIn = ({ summary, content }: Item): string =>
  [content, summary]
    .map((parts) =>
      Array.isArray(parts) ? parts.map((part: Item) => (typeof part?.text === 'string' ? part.text : '')).join('') : '',
    )
    .find((text) => text !== '') ?? ''

function contentIn(content: unknown, path: string): string | Part[] {
  if (typeof content === 'string') return content
  if (!Array.isArray(content))
    throw invalidInput(path, `"${path}" is ${messageOf(content)}; it must be a text or a list of parts.`)
  return content.map((part: Item, at) => partIn(part ?? {}, `${path}[${at}]`))
}

function partIn(part: Item, path: string): Part {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
    case 'reasoning_text':
      if (typeof part.text !== 'string') throw invalidInput(`${path}.text`, `"${path}.text" is missing.`)
      return { type: 'text', text: part.text }
    case 'refusal':
      return { type: 'text', text: textIn(part, 'refusal', path) }
    case 'input_image':
    case 'image_url': {
      const { image_url: image } = part
      // Some clients send the object of the chat format.
      const from = typeof image === 'object' && image ? { image_url: (image as Item).url } : part
      return { type: 'image_url', image_url: { url: textIn(from, 'image_url', path), detail: wordOf(part.detail) } }
    }
    default:
      throw invalidInput(`${path}.type`, `"${path}.type" is ${messageOf(part.type)}. Use input_text or input_image.`)
  }
}

/** The turns, each call followed by its result. Throws 400 for a call or a result without the other. */
export function withResults(turns: readonly Entry[], results: ReadonlyMap<string, Entry>): Entry[] {
  const unused = new Map(results)
  const whole = turns.flatMap((entry) => [
    entry,
    ...(entry.message.tool_calls ?? []).map(({ id }, at) => {
      const result = unused.get(id)
      const path = entry.callsAt?.[at] ?? entry.path
      if (!result)
        throw invalidInput(
          path,
          `The call ${messageOf(id)} at "${path}" has no result: add {"type":"function_call_output","call_id":${messageOf(id)},"output":"…"}.`,
        )
      unused.delete(id)
      return result
    }),
  ])
  for (const [id, { path }] of unused)
    throw invalidInput(
      `${path}.call_id`,
      `"${path}.call_id" is ${messageOf(id)}, which is not the call_id of a call in "input".`,
    )
  return whole
}

/** Without tools, calls and results become text of the turn before them, if there is one. */
export function asText({ turns, results }: ReturnType<typeof entriesOf>, warnings: string[]): Entry[] {
  if (!results.size && !turns.some(({ message }) => message.tool_calls)) return [...turns]
  warnings.push('Calls and their results were read as text, because there are no "tools".')
  const lastUser = turns.findLastIndex(({ message }) => message.role === 'user')
  const turnsOfText: Entry[] = []
  for (const [at, entry] of turns.entries()) {
    const calls = entry.message.tool_calls ?? []
    const lines = calls.map(({ id, function: called }) => {
      const result = results.get(id)?.message.content ?? ''
      const text =
        typeof result === 'string' ? result : result.map((part) => ('text' in part ? part.text : '')).join('\n')
      return `${called.name}(${called.arguments}) returned: ${text}`
    })
    const target =
      calls.length && at > lastUser ? turnsOfText.findLast(({ message }) => message.role === 'user') : undefined
    if (!target) turnsOfText.push(lines.length ? withText(entry, lines) : entry)
    else turnsOfText[turnsOfText.indexOf(target)] = withText(target, lines)
  }
  return turnsOfText
}

function withText({ message, path }: Entry, lines: readonly string[]): Entry {
  const { tool_calls: _, content, ...rest } = message
  const before: Part[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  return { message: { ...rest, content: [...before, ...lines.map((text): Part => ({ type: 'text', text }))] }, path }
}

type Opening = { masterKey: Uint8Array; clock: Clock }

const SEALED_MS = 30 * 86_400_000

/** Encrypts thoughts for their owner. */
export const sealer =
  ({ masterKey, clock }: Opening, owner: OwnerScope) =>
  (thoughts: string): string =>
    seal(masterKey, `reasoning ${owner}`, JSON.stringify({ thoughts, until: clock.now() + SEALED_MS }))

/** An item with its encrypted thoughts as text. Content of other servers is left out with a warning. */
export function opened({ masterKey, clock }: Opening, owner: OwnerScope, item: Item, warnings: string[]): Item {
  const { type, encrypted_content: content, ...rest } = item
  if (type !== 'reasoning' || typeof content !== 'string') return item
  try {
    const { thoughts, until } = JSON.parse(open(masterKey, `reasoning ${owner}`, content))
    if (until > clock.now()) return { type, ...rest, content: [{ type: 'reasoning_text', text: thoughts }] }
  } catch {
    // The warning is added below.
  }
  const words = '"encrypted_content" of an item was left out: this server did not make it, or more than 30 days ago.'
  if (!warnings.includes(words)) warnings.push(words)
  return { type, ...rest }
}
