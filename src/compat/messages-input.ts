import {
  type CompletionRequest,
  cacheMarksOf,
  endUserOf,
  ignoredWarning,
  requestFromChat,
  samplingOf,
} from '../completions'
import type { ChatMessage, Part } from '../completions/chat-schema'
import type { ChatInput } from '../completions/schema'
import { type AppError, invalidInput, messageOf } from '../kernel/errors'
import { isBlank, wordOf } from '../kernel/text'
import type { Block, MessageInput } from './messages-schema'
import { serverNames, toolsIn } from './messages-tools'
import { atOwnPaths, originsOf } from './responses-input'
import { textIn } from './responses-items'

/** A message order as the pipeline reads it. */
export type MessageRequest = {
  request: CompletionRequest
  /** Thoughts are shown as blocks without their text. */
  omitsThoughts: boolean
  /** Names of members that have no effect here, for `X-Svc-Ignored`. */
  ignored: readonly string[]
}

type Place = { block: Block; path: string }
/** The blocks of one speaker, up to the next speaker. */
type Turn = { role: 'user' | 'assistant'; blocks: Place[]; path: string }
type Entry = { message: ChatMessage; path: string }

/** Members that would change an answer of the original service (docs/api.md 30.1). */
const IGNORED = ['container', 'context_management'] as const

const OWN_CALL = /^toolu_([0-9A-Za-z]{24})$/

/** The id of an answer in this format. */
export const messageIdOf = (id: string): string => id.replace(/^[a-z]+_/, 'msg_')

/** The id of a call in this format. Only the prefix changes, because the rest encodes the mode of the run. */
export const toolUseId = (id: string): string => id.replace(/^call_/, 'toolu_')

/**
 * Translates a request (docs/api.md 30.1) to the one completion request. Throws 400 `empty_prompt`, 400
 * `validation_error` with the path in the body.
 */
export function readMessage(input: MessageInput, warnings: string[]): MessageRequest {
  const { tools, choice, places, hosted } = toolsIn(input, warnings)
  const turns = turnsOf(input.messages)
  dropPrefill(turns, warnings)
  assertPairs(turns)
  const entries = tools.length ? turns.flatMap((turn) => entriesOf(turn, warnings)) : turnsOfText(turns, warnings)
  const system = systemOf(input)
  const whole = system
    ? [{ message: { role: 'system' as const, content: system }, path: 'system' }, ...entries]
    : entries
  const rename = renamer(whole, places)
  const request = atOwnPaths(rename, () =>
    requestFromChat(
      {
        model: input.model || null,
        messages: whole.map(({ message }) => message),
        temperature: input.temperature,
        conversation_id: input.conversation_id,
        skills: input.skills,
        ...metadataOf(input),
        ...(tools.length
          ? {
              tools,
              tool_choice: choice,
              parallel_tool_calls: input.tool_choice?.disable_parallel_tool_use ? false : null,
            }
          : {}),
        response_format: formatOf(input),
      },
      false,
    ),
  )
  const ignored = IGNORED.filter((name) => (input as Record<string, unknown>)[name] != null)
  warnings.push(...ignoredWarning(ignored))
  const userId = input.metadata?.user_id
  return {
    ignored,
    omitsThoughts: input.thinking?.display === 'omitted',
    request: {
      ...request,
      shownId: messageIdOf,
      clientFormat: 'messages',
      ...(input.conversation_id == null ? { tooLong: 'refuse' as const } : {}),
      ...(hosted ? { hosted } : {}),
      maxOutputTokens: input.max_tokens,
      ...samplingOf({ topP: input.top_p, topK: input.top_k, stop: stopsOf(input), cacheMarks: marksIn(input, turns) }),
      reasoning: reasoningOf(input),
      ...endUserOf(typeof userId === 'string' ? userId : null),
      images: request.images.map((image) => ({ ...image, path: rename(image.path) })),
      ...(request.serversAt ? { serversAt: request.serversAt.map(rename), serverNames } : {}),
      paths: originsOf(request.paths!, rename),
      warnings: [...request.warnings.map(rename), ...warnings],
    },
  }
}

/** How far the client wants the prompt cached. A mark on the whole order counts as at its end. */
function marksIn({ tools, system, ...own }: MessageInput & Block, turns: readonly Turn[]) {
  const isMarked = (part?: Place[]) => part?.some(({ block }) => block.cache_control != null)
  const isAny = own.cache_control || turns.some(({ blocks }) => isMarked(blocks))
  // Content after tool results is a separate message.
  const isResult = ({ block }: Place) => `${block.type === 'tool_result'}`
  const all = isAny ? turns.flatMap(({ blocks }) => Object.values(Object.groupBy(blocks, isResult))) : []
  const at = own.cache_control ? all.length - 1 : all.findLastIndex(isMarked)
  const messages = own.cache_control ? [own] : (all[at] ?? []).map(({ block }) => block)
  return cacheMarksOf({ tools, system: Array.isArray(system) ? system : [], messages }, all.length - 1 - at)
}

function stopsOf({ stop_sequences: stops }: MessageInput): readonly string[] | null | undefined {
  const blank = stops?.findIndex(isBlank) ?? -1
  if (blank >= 0) {
    const path = `stop_sequences[${blank}]`
    throw invalidInput(path, `"${path}" is only white space. Send a text that is not blank.`)
  }
  return stops
}

/** The client's names of its user are only stored as a hash. Its other texts about the request go into the record. */
function metadataOf({ metadata }: MessageInput): Pick<ChatInput, 'metadata'> {
  const { user_id: _, ...rest } = metadata ?? {}
  const texts = Object.fromEntries(Object.entries(rest).filter(([, value]) => typeof value === 'string'))
  return Object.keys(texts).length ? { metadata: texts } : {}
}

function formatOf({ output_config: config, output_format: old }: MessageInput): ChatInput['response_format'] {
  const format = config?.format ?? old
  return format ? { type: 'json_schema', json_schema: { schema: format.schema } } : null
}

/** The reasoning effort: the request's word for it, or else derived from the budget for thoughts. */
function reasoningOf({ thinking, output_config: config, max_tokens: limit }: MessageInput) {
  const budget = thinking?.budget_tokens ?? null
  const thinks = thinking != null && thinking.type !== 'disabled'
  if (thinks && budget !== null && budget >= limit)
    throw invalidInput(
      'thinking.budget_tokens',
      `"thinking.budget_tokens" is ${budget} and must be less than "max_tokens", which is ${limit}.`,
    )
  const byBudget = budget === null ? 'medium' : budget <= 2_048 ? 'low' : budget <= 8_192 ? 'medium' : 'high'
  const effort = config?.effort === 'max' ? 'xhigh' : (config?.effort ?? (thinks ? byBudget : undefined))
  return { ...(effort ? { effort } : {}), shows: thinks } as const
}

/** The system text. Leaves out a line that differs in every request and would make every prefix cache useless. */
function systemOf({ system, messages }: MessageInput): string {
  const blocks = [system, ...messages.filter(({ role }) => role === 'system').map(({ content }) => content)]
  return blocks
    .flatMap((one) => (typeof one === 'string' ? [one] : (one ?? []).map(({ text }) => wordOf(text))))
    .map((text) => text.replace(/^x-anthropic-[^\n]*(?:\n|$)/gm, ''))
    .filter((text) => !isBlank(text))
    .join('\n\n')
}

/** Messages as turns. Consecutive messages of one speaker form one turn. */
function turnsOf(messages: MessageInput['messages']): Turn[] {
  const turns: Turn[] = []
  for (const [at, { role, content }] of messages.entries()) {
    if (role === 'system') continue
    const path = `messages[${at}].content`
    const blocks =
      typeof content === 'string'
        ? [{ block: { type: 'text', text: content }, path }]
        : (content ?? []).map((block, place) => ({ block, path: `${path}[${place}]` }))
    const last = turns.at(-1)
    if (last?.role === role) last.blocks.push(...blocks)
    else turns.push({ role, blocks: [...blocks], path })
  }
  return turns
}

const blocksOf = (turn: Turn | undefined, type: string): Place[] =>
  turn?.blocks.filter(({ block }) => block.type === type) ?? []

/** Drops an answer that the client began for the engine. */
function dropPrefill(turns: Turn[], warnings: string[]): void {
  const last = turns.at(-1)
  if (last?.role !== 'assistant' || blocksOf(last, 'tool_use').length || turns.length === 1) return
  turns.pop()
  warnings.push(`"${last.path.replace('.content', '')}" was ignored: you cannot start the answer for the engine.`)
}

/** Throws 400 for a call without its result in the next message, or a result without its call. */
function assertPairs(turns: readonly Turn[]): void {
  for (const [at, turn] of turns.entries()) {
    const calls = blocksOf(turn, 'tool_use')
    const results = new Set(blocksOf(turns[at + 1], 'tool_result').map(({ block }) => block.tool_use_id))
    for (const { block, path } of calls) {
      if (!results.has(block.id))
        throw invalidInput(
          path,
          `"${path}" is a call without its result: add {"type":"tool_result","tool_use_id":${messageOf(block.id)},"content":"…"} to the next message.`,
        )
    }
    const before = new Set(blocksOf(turns[at - 1], 'tool_use').map(({ block }) => block.id))
    for (const { block, path } of blocksOf(turn, 'tool_result')) {
      if (!before.has(block.tool_use_id))
        throw invalidInput(
          `${path}.tool_use_id`,
          `"${path}.tool_use_id" is ${messageOf(block.tool_use_id)}, which is not the id of a tool_use in the message before it.`,
        )
    }
  }
}

/** A turn as messages of a chat. Tool results come first, as in every format. */
function entriesOf({ role, blocks, path }: Turn, warnings: string[]): Entry[] {
  const parts = partsOf(blocks, warnings)
  if (role === 'assistant') {
    const calls = blocks.filter(({ block }) => block.type === 'tool_use').map(callOf)
    return [{ path, message: { role, content: parts, ...(calls.length ? { tool_calls: calls } : {}) } }]
  }
  const results = blocks
    .filter(({ block }) => block.type === 'tool_result')
    .map((place): Entry => ({ path: place.path, message: resultOf(place, warnings) }))
  return parts.length || !results.length ? [...results, { path, message: { role, content: parts } }] : results
}

function callOf({ block, path }: Place): NonNullable<ChatMessage['tool_calls']>[number] {
  const args = typeof block.input === 'string' ? block.input : JSON.stringify(block.input ?? {})
  return {
    id: callId(textIn(block, 'id', path)),
    function: { name: textIn(block, 'name', path), arguments: args },
  }
}

const callId = (id: string): string => id.replace(OWN_CALL, 'call_$1')

function resultOf({ block, path }: Place, warnings: string[]): ChatMessage {
  // Some clients send the value itself instead of its text.
  const { content: sent } = block
  const content = sent == null || Array.isArray(sent) ? sent : wordOf(sent, JSON.stringify(sent))
  const blocks = blocksIn(content, `${path}.content`)
  const parts: Part[] =
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : partsOf(
          blocks.map((one, at) => ({ block: one, path: `${path}.content[${at}]` })),
          warnings,
        )
  const one = block.is_error === true && parts[0]?.type === 'text' ? parts.shift() : null
  if (block.is_error === true) parts.unshift({ type: 'text', text: `Error: ${one && 'text' in one ? one.text : ''}` })
  return { role: 'tool', tool_call_id: callId(textIn(block, 'tool_use_id', path)), content: parts }
}

/** The blocks in a result, of which some may be texts. Throws 400 for a value that is neither. */
function blocksIn(sent: unknown, path: string): Block[] {
  if (!Array.isArray(sent)) return []
  const content = sent.map((one) => (typeof one === 'string' ? { type: 'text', text: one } : one))
  const wrong = content.findIndex((one) => typeof one !== 'object' || !one || Array.isArray(one))
  if (wrong < 0) return content
  throw invalidInput(`${path}[${wrong}]`, `"${path}[${wrong}]" is ${messageOf(content[wrong])}; it must be a block.`)
}

/** Without tools, calls and their results are read as text of the turn before them (docs/api.md 33.1). */
function turnsOfText(turns: readonly Turn[], warnings: string[]): Entry[] {
  const entries: Entry[] = []
  let hasCalls = false
  for (const turn of turns) {
    const results = blocksOf(turn, 'tool_result')
    const calls = blocksOf(turn, 'tool_use')
    hasCalls ||= calls.length > 0
    const lines = results.map((place) => `The tool answered: ${textOf(resultOf(place, warnings).content)}`)
    const parts = partsOf(turn.blocks, warnings)
    const callTexts = calls.map(
      ({ block }) => `Called ${wordOf(block.name)} with ${JSON.stringify(block.input ?? {})}.`,
    )
    const texts = [...callTexts, ...lines].map((text): Part => ({ type: 'text', text }))
    const content = turn.role === 'user' ? [...texts, ...parts] : [...parts, ...texts]
    entries.push({ path: turn.path, message: { role: turn.role, content } })
  }
  if (hasCalls) warnings.push('Calls of tools and their results were read as text, because there are no "tools".')
  return entries
}

const textOf = (content: ChatMessage['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => ('text' in part ? part.text : '')).join('\n')

/** Types of blocks that are calls and results, which are read separately. */
const PAIRED: ReadonlySet<unknown> = new Set(['tool_use', 'tool_result'])

function partsOf(blocks: readonly Place[], warnings: string[]): Part[] {
  return blocks.flatMap((place) => {
    if (PAIRED.has(place.block.type)) return []
    const parts = partOf(place, warnings)
    for (const part of parts) placeOf.set(part, place.path)
    return parts
  })
}

/** Path of each part's block in the body. The indexes differ, because some blocks have no part. */
const placeOf = new WeakMap<Part, string>()

function partOf({ block, path }: Place, warnings: string[]): Part[] {
  switch (block.type) {
    case 'text':
      return saying(textIn(block, 'text', path, true))
    case 'image':
      return [{ type: 'image_url', image_url: { url: imageUrl(block, path) } }]
    case 'document':
      if ((block.citations as Block | undefined)?.enabled === true)
        warnings.push(`"${path}.citations" was ignored: this server does not cite documents.`)
      return saying(titled(block.title, documentText(block, path)))
    case 'search_result':
      return saying(titled(`${wordOf(block.title)} (${wordOf(block.source)})`, textsIn(block.content)))
    case 'tool_reference':
      return saying(`The tool ${wordOf(block.tool_name)} can be called.`)
    case 'thinking':
      return [{ type: 'thinking', thinking: wordOf(block.thinking) }]
    case 'redacted_thinking':
      return []
    case 'server_tool_use':
    case 'mcp_tool_use':
      return saying(`Called ${wordOf(block.name)} with ${JSON.stringify(block.input ?? {})}.`)
    case 'web_search_tool_result':
    case 'web_fetch_tool_result':
    case 'mcp_tool_result':
      return saying(`The tool answered: ${textsIn(block.content) || JSON.stringify(block.content ?? null)}`)
    default:
      warnings.push(`"${path}" was left out: this server does not read blocks of type ${messageOf(block.type)}.`)
      return []
  }
}

const saying = (text: string): Part[] => (isBlank(text) ? [] : [{ type: 'text', text }])

const titled = (title: unknown, text: string): string =>
  typeof title === 'string' && title ? `${title}:\n${text}` : text

/** The texts of blocks, one per line. */
const textsIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content
          .flatMap((block: Block) =>
            block?.type === 'web_search_result'
              ? [`${wordOf(block.title)} (${wordOf(block.url)}): ${wordOf(block.encrypted_content)}`]
              : typeof block?.text === 'string'
                ? [block.text]
                : [],
          )
          .join('\n')
      : ''

function imageUrl(block: Block, path: string): string {
  const source = sourceOf(block, path)
  if (source.type === 'url') return textIn(source, 'url', `${path}.source`)
  if (source.type === 'base64') {
    const data = textIn(source, 'data', `${path}.source`)
    // The bytes tell the type.
    return data.startsWith('data:') ? data : `data:${wordOf(source.media_type, 'image/png')};base64,${data}`
  }
  throw unreadable(path, source, 'base64 or url')
}

/** The text of a document. Throws 400 if this server cannot read its text. */
function documentText(block: Block, path: string): string {
  const source = sourceOf(block, path)
  if (source.type === 'text') return textIn(source, 'data', `${path}.source`, true)
  if (source.type === 'content') return textsIn(source.content)
  const type = typeof source.media_type === 'string' ? source.media_type : ''
  if (source.type === 'base64' && /^(?:text\/|application\/(?:json|xml|x-yaml)\b)/.test(type))
    return Buffer.from(textIn(source, 'data', `${path}.source`), 'base64').toString()
  if (source.type === 'base64') {
    const at = `${path}.source.media_type`
    throw invalidInput(at, `"${at}" is ${messageOf(type)}, whose text this server cannot read. Send its text instead.`)
  }
  throw unreadable(path, source, 'text, content, or base64 of a text')
}

function sourceOf({ source }: Block, path: string): Block {
  if (typeof source === 'object' && source !== null) return source as Block
  throw invalidInput(`${path}.source`, `"${path}.source" is missing.`)
}

const unreadable = (path: string, { type }: Block, known: string): AppError =>
  invalidInput(`${path}.source.type`, `"${path}.source.type" is ${messageOf(type)}. Send ${known}.`)

/** Rewrites the chat format's paths to the paths of this body. */
function renamer(entries: readonly Entry[], places: readonly string[]) {
  return (text: string): string =>
    text
      .replace(/\bmessages\[(\d{1,5})\](?:\.content(?:\[(\d{1,5})\])?)?/g, (_, at: string, number?: string) => {
        const { message, path = 'messages' } = entries[Number(at)] ?? {}
        const part = number === undefined ? undefined : (message?.content as Part[] | undefined)?.[Number(number)]
        return (part && placeOf.get(part)) ?? path
      })
      .replace(/\btools\[(\d{1,3})\](?:\.function\b)?/g, (_, at: string) => places[Number(at)] ?? 'tools')
      .replaceAll('.image_url.url', '.source')
      .replaceAll('.parameters', '.input_schema')
      .replaceAll('response_format.json_schema', 'output_config.format')
}
