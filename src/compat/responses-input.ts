import { type CompletionRequest, ignoredWarning, requestFromChat } from '../completions'
import type { ChatCompletion, ChatInput } from '../completions/schema'
import { AppError, invalidInput, renamed } from '../kernel/errors'
import type { Thread } from './conversations'
import { asText, type Entry, entriesOf, withResults } from './responses-items'
import type { Item, ResponseInput } from './responses-schema'
import { unaskedOf } from './responses-servers'
import { readTools, type ToolKinds, toolsAmong } from './responses-tools'

/** A response order as the pipeline reads it. `kinds`: how calls of its tools are returned. */
export type ResponseRequest = {
  request: CompletionRequest<ChatCompletion>
  kinds: ToolKinds
  /** Names of accepted members that have no effect here, for `X-Svc-Ignored`. */
  ignored: readonly string[]
}

/** Members that would change an answer of the original service and have no effect here. */
const IGNORED = ['context_management', 'moderation']

/** Values of `reasoning.summary` that show no reasoning. */
const NO_SUMMARY: ReadonlySet<unknown> = new Set([undefined, null, 'none'])

/** Values of `include`. Some of them have no effect here. */
const INCLUDES = new Set([
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'message.output_text.logprobs',
  'message.input_image.image_url',
  'file_search_call.results',
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
])

/** Items of a request. A text is one message. */
export const itemsOf = ({ input }: Pick<ResponseInput, 'input'>): Item[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : [...(input ?? [])]

/**
 * Translates a response (docs/api.md 29.4) to the one completion request. `earlier` are the items that it continues,
 * `own` those of its own input. Throws 400 `empty_prompt`, 400 `validation_error` with the path in the body.
 */
export function readResponse(
  input: ResponseInput,
  own: readonly Item[],
  { earlier, inContext }: Pick<Thread, 'earlier' | 'inContext'>,
): ResponseRequest {
  const items = [...earlier, ...own]
  const pathOf = (at: number) =>
    at < earlier.length
      ? input.previous_response_id == null
        ? 'conversation'
        : 'previous_response_id'
      : typeof input.input === 'string'
        ? 'input'
        : `input[${at - earlier.length}]`
  const { tools, choice, hosted, kinds, places, warnings } = readTools(input, toolsAmong(items, pathOf))
  const entries = entriesOf(items, pathOf, warnings)
  const allowed = [...unaskedOf(input.tools ?? []), ...entries.allowed]
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
  // Changed in place without a copy, because the request belongs to this call only.
  request.clientFormat = 'responses'
  if (typeof request.conversation === 'object')
    request.conversation = { ...request.conversation, inContext, stored: true }
  if (hosted) request.hosted = hosted
  // A conversation of this server is summarised if it is too long, like everywhere.
  if (input.truncation === 'auto') request.tooLong = 'leave-out'
  else if (input.previous_response_id == null && conversationIn(input) === null) request.tooLong = 'refuse'
  if (allowed.length) request.allowed = allowed
  if (input.max_tool_calls) request.maxToolCalls = input.max_tool_calls
  request.reasoning = { ...request.reasoning, shows: !NO_SUMMARY.has(input.reasoning?.summary) }
  request.images = request.images.map((image) => ({ ...image, path: rename(image.path) }))
  if (request.serversAt) request.serversAt = request.serversAt.map(rename)
  request.paths = originsOf(request.paths!, rename)
  request.warnings = [...request.warnings.map(rename), ...warnings]
  return { kinds, ignored, request }
}

/** Throws 400 `validation_error` for members that contradict each other. */
export function assertInput(sent: ResponseInput): void {
  const { input, previous_response_id: previous, background, store } = sent
  const conversation = sent.conversation ?? sent.conversation_id
  if ('prompt' in sent && sent.prompt != null)
    throw invalidInput('prompt', '"prompt" names a stored template, which this server does not have. Use "skills".')
  if (previous != null && conversation != null)
    throw invalidInput('previous_response_id', 'Send "previous_response_id" or "conversation", not both.')
  if (background && store === false)
    throw invalidInput('background', '"background" needs "store": true, because its answer is read later.')
  if (input == null && previous == null && conversation == null)
    throw invalidInput('input', '"input" is missing. Send a text, or a list of items.')
}

/** The id of the conversation that a response continues. Null for none. */
export const conversationIn = ({ conversation, conversation_id: id }: ResponseInput): string | null =>
  (typeof conversation === 'string' ? conversation : conversation?.id) ?? id ?? null

/** Engine parameters under their names in the chat format. */
const parametersIn = ({ max_output_tokens: limit, reasoning, text, include, ...same }: ResponseInput) => {
  const { top_p, presence_penalty, frequency_penalty, top_logprobs, user, safety_identifier } = same
  const { prompt_cache_key, prompt_cache_retention } = same
  return {
    max_completion_tokens: limit,
    reasoning_effort: reasoning?.effort,
    verbosity: text?.verbosity,
    logprobs: include?.includes('message.output_text.logprobs'),
    ...{ top_p, presence_penalty, frequency_penalty, top_logprobs, user, safety_identifier },
    ...{ prompt_cache_key, prompt_cache_retention },
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

/** Rewrites the chat format's paths to the paths of this body. */
function renamer(entries: readonly Entry[], places: readonly string[]) {
  return (text: string): string =>
    text
      .replace(/\bmessages\[(\d{1,5})\](\.content)?/g, (_, at: string, tail = '') => {
        const { path = 'input', message } = entries[Number(at)] ?? {}
        return path.includes('[') ? path + (tail && message?.role === 'tool' ? '.output' : tail) : path
      })
      .replace(/\btools\[(\d{1,3})\](?:\.function\b)?/g, (_, at: string) => places[Number(at)] ?? 'tools')
      .replaceAll('.image_url.url', '.image_url')
      .replaceAll('response_format.json_schema', 'text.format')
      .replaceAll('"messages"', '"input"')
      .replace(/^messages$/, 'input')
}

/** Reads a body in the chat format. Errors use the paths of the original body. */
export function atOwnPaths<T>(rename: (text: string) => string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof AppError ? renamed(error, rename) : error
  }
}

/** Paths that errors and warnings name, in the original body. */
export function originsOf(from: NonNullable<CompletionRequest['paths']>, rename: (text: string) => string) {
  return {
    get prompt() {
      return rename(from.prompt)
    },
    get persona() {
      return rename(from.persona)
    },
    get userTurns() {
      return from.userTurns.map(rename)
    },
    get all() {
      return rename(from.all)
    },
    ignoredImages: from.ignoredImages,
  }
}
