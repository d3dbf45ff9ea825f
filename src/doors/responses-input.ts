import { type CompletionRequest, ignoredWarning, requestFromChat } from '../completions'
import type { ChatCompletion, ChatInput, ChatMessage } from '../completions/schema'
import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { open } from '../kernel/crypto'
import { AppError, invalidInput, messageOf, renamed } from '../kernel/errors'
import type { Thread } from './conversations'
import type { Item, ResponseInput } from './responses-schema'
import { readTools, type ToolKinds } from './responses-tools'

/** A response to make, as the pipeline reads it. `kinds`: what its tools are called back as. */
export type ResponseRequest = {
  request: CompletionRequest<ChatCompletion>
  kinds: ToolKinds
  /** Names of members that were accepted and do nothing here, for `X-Svc-Ignored`. */
  ignored: readonly string[]
}

type Part = Exclude<NonNullable<ChatMessage['content']>, string>[number]
type Entry = { message: ChatMessage; path: string }

/** Members that would change an answer elsewhere and do nothing here. */
const IGNORED = ['context_management', 'moderation']

/** What `include` may name; the others of this list do nothing here. */
const INCLUDES = new Set([
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'message.output_text.logprobs',
  'message.input_image.image_url',
  'file_search_call.results',
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
])

/** Items of a request: a text is one message. */
export const itemsOf = ({ input }: Pick<ResponseInput, 'input'>): Item[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : [...(input ?? [])]

/**
 * Translates a response (contract 29.4) to the one completion request. `earlier` are the items that it continues from,
 * `own` those of its own input. Throws 400 `empty_prompt`, 400 `validation_error` with the path in the body.
 */
export function readResponse(
  input: ResponseInput,
  own: readonly Item[],
  { earlier, inContext }: Pick<Thread, 'earlier' | 'inContext'>,
): ResponseRequest {
  const { tools, choice, hosted, kinds, places, warnings } = readTools(input)
  const items = [...earlier, ...own]
  const pathOf = (at: number) =>
    at < earlier.length
      ? input.previous_response_id == null
        ? 'conversation'
        : 'previous_response_id'
      : typeof input.input === 'string'
        ? 'input'
        : `input[${at - earlier.length}]`
  const entries = entriesOf(items, pathOf, warnings)
  const turns = tools.length ? withResults(entries.turns, entries.results) : asText(entries, warnings)
  const whole = input.instructions
    ? [{ message: { role: 'system' as const, content: input.instructions }, path: 'instructions' }, ...turns]
    : turns
  const rename = renamer(whole, places)
  const request = atOwnPaths(rename, () =>
    requestFromChat(
      {
        model: input.model || null,
        messages: whole.map(({ message }) => message),
        temperature: input.temperature,
        conversation_id: conversationIn(input),
        skills: input.skills,
        metadata: input.metadata,
        ...(tools.length ? { tools, tool_choice: choice, parallel_tool_calls: input.parallel_tool_calls } : {}),
        response_format: formatOf(input),
        ...parametersIn(input),
      },
      true,
    ),
  )
  const ignored = ignoredIn(input)
  warnings.push(...ignoredWarning(ignored))
  return {
    kinds,
    ignored,
    request: {
      ...request,
      isChat: false,
      door: 'responses',
      ...(typeof request.conversation === 'object'
        ? { conversation: { ...request.conversation, inContext, kept: true } }
        : {}),
      ...(hosted ? { hosted } : {}),
      // A conversation of this server is summarised where it is too long, as everywhere.
      ...(input.truncation === 'auto'
        ? { tooLong: 'leave-out' }
        : input.previous_response_id == null && conversationIn(input) === null
          ? { tooLong: 'refuse' }
          : {}),
      maxToolCalls: input.max_tool_calls ?? undefined,
      reasoning: { ...request.reasoning, shows: Boolean(input.reasoning?.summary) },
      images: request.images.map((image) => ({ ...image, path: rename(image.path) })),
      cameFrom: originsOf(request.cameFrom!, rename),
      warnings: [...request.warnings.map(rename), ...warnings],
    },
  }
}

/** Throws 400 `validation_error` for members that contradict each other. */
export function assertInput({
  input,
  previous_response_id: previous,
  conversation,
  metadata: _,
  ...rest
}: ResponseInput): void {
  if ('prompt' in rest && rest.prompt != null)
    throw invalidInput('prompt', '"prompt" names a stored template, which this server does not have. Use "skills".')
  if (previous != null && (conversation ?? rest.conversation_id) != null)
    throw invalidInput('previous_response_id', 'Send "previous_response_id" or "conversation", not both.')
  if (rest.background && rest.store === false)
    throw invalidInput('background', '"background" needs "store": true, because its answer is read later.')
  if (input == null && previous == null && (conversation ?? rest.conversation_id) == null)
    throw invalidInput('input', '"input" is missing. Send a text, or a list of items.')
}

/** The id of the conversation that a response continues with; null for none. */
export const conversationIn = ({ conversation, conversation_id: id }: ResponseInput): string | null =>
  (typeof conversation === 'string' ? conversation : conversation?.id) ?? id ?? null

/** What tunes the engine, by its names in the chat format. */
const parametersIn = ({ max_output_tokens: limit, reasoning, text, include, ...same }: ResponseInput) => {
  const { top_p, presence_penalty, frequency_penalty, top_logprobs, prompt_cache_key, user, safety_identifier } = same
  return {
    max_completion_tokens: limit,
    reasoning_effort: reasoning?.effort,
    verbosity: text?.verbosity,
    logprobs: include?.includes('message.output_text.logprobs'),
    ...{ top_p, presence_penalty, frequency_penalty, top_logprobs, prompt_cache_key, user, safety_identifier },
  }
}

function ignoredIn(input: ResponseInput): string[] {
  const sent = input as Record<string, unknown>
  return [
    ...IGNORED.filter((name) => sent[name] != null && sent[name] !== 0 && sent[name] !== false),
    ...(input.include ?? []).filter((one) => !INCLUDES.has(one)).map((one) => `include ${one.slice(0, 64)}`),
  ]
}

function formatOf({ text }: ResponseInput): ChatInput['response_format'] {
  const format = text?.format
  if (!format || !('schema' in format)) return format as ChatInput['response_format']
  const { name, schema, strict } = format
  return { type: 'json_schema', json_schema: { name, schema, strict } }
}

/** Throws 400 `validation_error` for items of which a response could not be made. */
export const assertItems = (items: readonly Item[]): void => {
  entriesOf(items, (at) => `items[${at}]`, [])
}

/** The turns of items, and the results of calls by the id of their call. */
function entriesOf(items: readonly Item[], pathOf: (at: number) => string, warnings: string[]) {
  const turns: Entry[] = []
  const results = new Map<string, Entry>()
  const leftOut = new Set<string>()
  let reasoning = ''
  /** The assistant's turn that a call joins; a result or a message of somebody else ends it. */
  let turn: ChatMessage | null = null

  const begin = (message: ChatMessage, path: string): ChatMessage => {
    if (message.role === 'assistant' && reasoning) message.reasoning_content = reasoning
    reasoning = ''
    turns.push({ message, path })
    return message
  }
  for (const [at, item] of items.entries()) {
    const path = pathOf(at)
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
        turn.tool_calls = [...(turn.tool_calls ?? []), callIn(item, path)]
        break
      }
      case 'function_call_output':
      case 'custom_tool_call_output': {
        const id = textIn(item, 'call_id', path)
        results.set(id, {
          message: { role: 'tool', tool_call_id: id, content: contentIn(item.output, `${path}.output`) },
          path,
        })
        turn = null
        break
      }
      case 'reasoning':
        reasoning = reasoningIn(item)
        turn = null
        break
      case undefined:
        throw invalidInput(path, `"${path}" has neither "type" nor "role". Send {"role":"user","content":"Hello"}.`)
      default: {
        const query = (item.action as Item | null | undefined)?.query
        const text =
          type === 'mcp_call'
            ? `${String(item.name)}(${String(item.arguments)}) returned: ${String(item.output ?? '')}`
            : type === 'web_search_call' && typeof query === 'string' && `Searched the web for: ${query}`
        if (text) turn = begin({ role: 'assistant', content: text }, path)
        else leftOut.add(String(type).slice(0, 64))
      }
    }
  }
  if (leftOut.size) warnings.push(`Items of these types were left out: ${[...leftOut].join(', ')}.`)
  return { turns, results }
}

function textIn(item: Item, name: string, path: string): string {
  const value = item[name]
  if (typeof value === 'string' && value.length > 0) return value
  throw invalidInput(`${path}.${name}`, `"${path}.${name}" is ${messageOf(value)}; it must be a text.`)
}

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer'])

function messageIn({ role, content }: Item, path: string): ChatMessage {
  if (!ROLES.has(role))
    throw invalidInput(
      `${path}.role`,
      `"${path}.role" is ${messageOf(role)}. Use user, assistant, system or developer.`,
    )
  return { role: role as ChatMessage['role'], content: contentIn(content, `${path}.content`) }
}

function callIn(item: Item, path: string): NonNullable<ChatMessage['tool_calls']>[number] {
  const isCustom = item.type === 'custom_tool_call'
  const args = item[isCustom ? 'input' : 'arguments']
  if (typeof args !== 'string') throw invalidInput(path, `"${path}" has no text "${isCustom ? 'input' : 'arguments'}".`)
  return {
    id: textIn(item, 'call_id', path),
    function: {
      name: textIn(item, 'name', path),
      arguments: isCustom ? JSON.stringify({ input: args }) : args,
    },
  }
}

/** The reasoning as it was shown; what this server did not show cannot be given back. */
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
    case 'input_image': {
      if (part.file_id != null)
        throw invalidInput(
          `${path}.file_id`,
          `"${path}.file_id" is not supported. Send "image_url", also as a data: URL.`,
        )
      return { type: 'image_url', image_url: { url: textIn(part, 'image_url', path) } }
    }
    default:
      throw invalidInput(`${path}.type`, `"${path}.type" is ${messageOf(part.type)}. Use input_text or input_image.`)
  }
}

/** The turns with the result of each call behind it. Throws 400 for a call without its result, or the reverse. */
function withResults(turns: readonly Entry[], results: ReadonlyMap<string, Entry>): Entry[] {
  const left = new Map(results)
  const whole = turns.flatMap((entry) => [
    entry,
    ...(entry.message.tool_calls ?? []).map(({ id }) => {
      const result = left.get(id)
      if (!result)
        throw invalidInput(
          entry.path,
          `The call ${messageOf(id)} at "${entry.path}" has no result: add {"type":"function_call_output","call_id":${messageOf(id)},"output":"…"}.`,
        )
      left.delete(id)
      return result
    }),
  ])
  for (const [id, { path }] of left)
    throw invalidInput(
      `${path}.call_id`,
      `"${path}.call_id" is ${messageOf(id)}, which is not the call_id of a call in "input".`,
    )
  return whole
}

/** Without tools, calls and results are text of the turn before them, as far as there is one. */
function asText({ turns, results }: ReturnType<typeof entriesOf>, warnings: string[]): Entry[] {
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

/** Renames what the chat format calls the members of a body to what they are called in this one. */
function renamer(entries: readonly Entry[], places: readonly string[]) {
  return (text: string): string =>
    text
      .replace(/\bmessages\[(\d{1,5})\](\.content)?/g, (_, at: string, tail = '') => {
        const path = entries[Number(at)]?.path ?? 'input'
        return path.includes('[') ? path + tail : path
      })
      .replace(/\btools\[(\d{1,3})\]\.function\b/g, (_, at: string) => places[Number(at)] ?? 'tools')
      .replaceAll('.image_url.url', '.image_url')
      .replaceAll('response_format.json_schema', 'text.format')
      .replaceAll('"messages"', '"input"')
      .replace(/^messages$/, 'input')
}

/** Reads a body in the form of a chat; what is wrong with it is told in the words of the body that came. */
export function atOwnPaths<T>(rename: (text: string) => string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof AppError ? renamed(error, rename) : error
  }
}

/** What refusals and warnings name, in the words of the body that came. */
export function originsOf(from: NonNullable<CompletionRequest['cameFrom']>, rename: (text: string) => string) {
  return {
    prompt: rename(from.prompt),
    get persona() {
      return rename(from.persona)
    },
    get said() {
      return from.said.map(rename)
    },
    whole: rename(from.whole),
    unseen: from.unseen,
  }
}

type Opening = { masterKey: Uint8Array; clock: Clock }

/** An item of thoughts with what this server sealed in it, as text. What others sealed is left out with a warning. */
export function opened({ masterKey, clock }: Opening, owner: OwnerScope, item: Item, warnings: string[]): Item {
  const { type, encrypted_content: content, ...rest } = item
  if (type !== 'reasoning' || typeof content !== 'string') return item
  try {
    const { thoughts, until } = JSON.parse(open(masterKey, `reasoning ${owner}`, content))
    if (until > clock.now()) return { type, ...rest, content: [{ type: 'reasoning_text', text: thoughts }] }
  } catch {
    // Told below.
  }
  const words = '"encrypted_content" of an item was left out: this server did not make it, or more than 30 days ago.'
  if (!warnings.includes(words)) warnings.push(words)
  return { type, ...rest }
}
