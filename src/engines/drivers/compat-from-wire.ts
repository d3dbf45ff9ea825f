import {
  type CallDelta,
  type EngineAnswer,
  EngineFailure,
  type EnginePart,
  type FinishReason,
  type StatedUsage,
  type TokenLogprob,
  type ToolCall,
} from '../engine'
import { isReport } from '../failures'
import {
  argumentsOf,
  createEventSplitter,
  createLinePattern,
  finishOf,
  finishWith,
  parsed,
  type WireEvent,
} from './compat-body'
import { createThoughtSplitter, splitText, withThoughts } from './upstream'

/** A call, or a piece of one. The upstream needs its other members back on the next turn. */
type WireCall = {
  index?: number | null
  id?: string | null
  type?: unknown
  function?: { name?: string | null; arguments?: unknown } | null
  /** Some servers write the function's members into the call itself. */
  name?: unknown
  arguments?: unknown
}

/** Arguments as text; some servers send the object itself instead of JSON text. */
const textOfCalls = (args: unknown): string =>
  typeof args === 'string' ? args : args === null || args === undefined ? '' : JSON.stringify(args)

type WireText = {
  content?: unknown
  reasoning_content?: unknown
  reasoning?: unknown
  refusal?: unknown
  reasoning_details?: unknown
  tool_calls?: unknown
  /** A single call, from servers without lists of calls. */
  function_call?: WireCall['function']
}
type WireChoice = {
  index?: unknown
  delta?: WireText | null
  message?: WireText | null
  /** The text of servers that answer in the format of text completions. */
  text?: unknown
  finish_reason?: unknown
  /** Some servers put the usage into the choice. */
  usage?: WireUsage | null
  /** Some servers name the text that ended the answer. */
  stop_reason?: unknown
  matched_stop?: unknown
  logprobs?: { content?: unknown } | null
}
type WireAnswer = {
  choices?: WireChoice[] | null
  usage?: WireUsage | null
  /** One vendor puts the usage of a stream here. */
  x_groq?: { usage?: WireUsage | null } | null
  system_fingerprint?: unknown
}
type WireUsage = {
  prompt_tokens?: unknown
  completion_tokens?: unknown
  /** The same counts in other formats. */
  input_tokens?: unknown
  output_tokens?: unknown
  prompt_tokens_details?: { cached_tokens?: unknown; cache_write_tokens?: unknown } | null
  completion_tokens_details?: { reasoning_tokens?: unknown } | null
  /** Cached tokens of servers that count them at the top level. */
  prompt_cache_hit_tokens?: unknown
}

/** Turns an error inside an answer into a failure. */
export type ExplainError = (error: unknown) => EngineFailure

/** Reads the events of a stream. Text, reasoning and pieces of calls are returned at once, the rest at the end. */
export function createStreamReader(explain: ExplainError) {
  const joiner = createCallJoiner()
  const pattern = createLinePattern()
  const splitter = createEventSplitter(takeEvent, (lines, from, end) => {
    const found = pattern.match(lines, from, end)
    if (found === null) return false
    text += found
    return true
  })
  let text = ''
  let reasoning = ''
  let refusal = ''
  let calls: EnginePart[] = []
  let finish: FinishReason | null = null
  let stoppedBy: string | undefined
  let usage: StatedUsage | null = null
  let logprobs: TokenLogprob[] = []
  const details: unknown[] = []
  let fingerprint: string | undefined
  let isCounted = false
  let any = false

  function takeEvent({ line, value }: WireEvent): void {
    const wire = readObject(value, explain)
    const choice = firstOf(wire)
    const message = choice && (choice.delta ?? messageIn(choice))
    any = true
    if (typeof wire.system_fingerprint === 'string') fingerprint = wire.system_fingerprint
    const likely = choice ? logprobsOf(choice) : []
    if (likely.length) logprobs.push(...likely)
    if (message) {
      const pieces = callsIn(message)
      const content = textOf(message.content)
      const thoughts = reasoningOf(message)
      const refused = textOf(message.refusal)
      details.push(...detailsIn(message))
      text += content
      reasoning += thoughts
      refusal += refused
      if (pieces) for (const delta of joiner.add(pieces)) calls.push({ type: 'call-delta', ...delta })
      // Learns only from lines that contain nothing but text.
      else if (
        content &&
        content === message.content &&
        !thoughts &&
        !refused &&
        !choice?.finish_reason &&
        !wire.usage &&
        !likely.length
      )
        pattern.learn(line, content)
    }
    if (choice?.finish_reason && choice.finish_reason !== 'null') {
      finish = finishOf(String(choice.finish_reason))
      stoppedBy = stopOf(choice)
    }
    const counted = usageIn(wire, choice)
    if (counted && !(usage && !counted.promptTokens && !counted.completionTokens)) {
      usage = counted
      isCounted = finish !== null
    }
  }

  return {
    /** Whether finish and usage came, so that nothing is missing. */
    get isWhole() {
      return isCounted
    },
    /** Whether the finish came. The usage may follow. */
    get isFinished() {
      return finish !== null
    },
    /** Whether the stream has ended itself. */
    get isDone() {
      return splitter.isDone
    },

    /**
     * The parts in a chunk of the stream, joined by kind; null ends the stream. Throws `malformed`, and the failure
     * that an error event reports.
     */
    read(piece: string | null): EnginePart[] {
      const alone = piece !== null && splitter.isEmpty ? pattern.alone(piece) : null
      if (alone !== null) return alone ? [{ type: 'text', text: alone }] : []
      text = ''
      reasoning = ''
      refusal = ''
      calls = []
      logprobs = []
      if (piece === null) splitter.end()
      else splitter.take(piece)
      const parts: EnginePart[] = reasoning ? [{ type: 'reasoning', text: reasoning }] : []
      if (text) parts.push({ type: 'text', text, ...(logprobs.length ? { logprobs } : {}) })
      if (refusal) parts.push({ type: 'refusal', text: refusal })
      return calls.length ? parts.concat(calls) : parts
    },

    /** The last parts of the stream. Throws `malformed` without any event, `truncated` without a finish. */
    *end(): Generator<EnginePart> {
      if (!any) throw new EngineFailure('malformed', 'the stream holds no event')
      if (!finish) throw new EngineFailure('truncated', 'the stream ended before its finish')
      const calls = withThoughts(joiner.calls(), details)
      for (const call of calls) yield { type: 'tool-call', ...call }
      if (usage) yield { type: 'usage', ...usage }
      yield { type: 'finish', reason: finishWith(finish, calls), stoppedBy, fingerprint }
    },
  }
}

/** Reads a stream that came as a whole body with another type. Throws like {@link createStreamReader}. */
export function* readEvents(text: string, explain: ExplainError, thinksFirst = false): Generator<EnginePart> {
  const reader = createStreamReader(explain)
  const head = createThoughtSplitter(thinksFirst)
  for (const part of [...reader.read(text), ...reader.read(null)])
    yield* part.type === 'text' ? head.take(part.text) : [part]
  const last = [...reader.end()]
  yield* head.end(last)
  yield* last
}

/** Reads the body of an answer that is not streamed. Throws `malformed` when it holds no message. */
export function readAnswer(body: unknown, explain: ExplainError, thinksFirst = false): EngineAnswer {
  const wire = readObject(body, explain)
  const choice = firstOf(wire)
  const message = choice && messageIn(choice)
  if (!message) throw new EngineFailure('malformed', 'the answer holds no message')
  const toolCalls = wholeCalls(callsIn(message), detailsIn(message))
  const likely = logprobsOf(choice)
  const finish = choice.finish_reason ? finishOf(String(choice.finish_reason)) : 'stop'
  const { text, reasoning } = splitText(textOf(message.content), reasoningOf(message), thinksFirst)
  const answer: EngineAnswer = {
    text,
    reasoning,
    refusal: textOf(message.refusal),
    toolCalls,
    finish: finishWith(finish, toolCalls),
    stoppedBy: stopOf(choice),
    usage: usageIn(wire, choice),
  }
  if (typeof wire.system_fingerprint === 'string') answer.fingerprint = wire.system_fingerprint
  if (likely.length) answer.logprobs = likely
  return answer
}

function wholeCalls(calls: unknown, details: unknown[]): ToolCall[] {
  // Most answers have none.
  if (calls === null) return []
  const joiner = createCallJoiner()
  joiner.add(calls)
  return withThoughts(joiner.calls(), details)
}

const logprobsOf = ({ logprobs }: WireChoice): TokenLogprob[] =>
  Array.isArray(logprobs?.content) ? logprobs.content : []

/** The choice with index 0. Choices may come in any order. */
const firstOf = ({ choices }: WireAnswer): WireChoice | undefined =>
  choices?.find((choice) => !choice?.index) ?? choices?.[0]

const messageIn = ({ message, text }: WireChoice): WireText | null =>
  message ?? (typeof text === 'string' ? { content: text } : null)

const callsIn = ({ tool_calls: calls, function_call: call }: WireText): unknown =>
  calls ?? (call ? [{ function: call }] : null)

/** Text, or the texts of a list of parts. Throws `malformed` for anything else. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (content === null || content === undefined) return ''
  if (Array.isArray(content)) return content.map((part) => textOfPart(part, TEXTS)).join('')
  if (typeof content === 'object') return textOfPart(content, TEXTS)
  throw new EngineFailure('malformed', 'the content of the answer is no text')
}

const TEXTS: ReadonlySet<unknown> = new Set([undefined, 'text', 'output_text'])
const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'reasoning'])

/** The text of a part of one of these types: its `text`, the text of nested parts, or the text in an object. */
function textOfPart(part: unknown, types: ReadonlySet<unknown>): string {
  if (typeof part === 'string') return types === TEXTS ? part : ''
  const { type, text, thinking } = (part ?? {}) as { type?: unknown; text?: unknown; thinking?: unknown }
  if (!types.has(type)) return ''
  const inner = thinking ?? text
  if (Array.isArray(inner)) return inner.map((one) => textOfPart(one, TEXTS)).join('')
  const value = (inner as { value?: unknown } | null | undefined)?.value ?? inner
  return typeof value === 'string' ? value : ''
}

/** Reasoning that one vendor needs back unchanged. */
const detailsIn = ({ reasoning_details: details }: WireText): unknown[] => (Array.isArray(details) ? details : [])

/** Servers use one of two names, or both. Others put the reasoning into parts of the content. */
const reasoningOf = ({ reasoning_content: long, reasoning: short, content }: WireText): string => {
  const stated = typeof long === 'string' ? long : short
  if (typeof stated === 'string') return stated
  return Array.isArray(content) ? content.map((part) => textOfPart(part, THOUGHTS)).join('') : ''
}

function readObject(value: unknown, explain: ExplainError): WireAnswer {
  if (typeof value !== 'object' || value === null) throw new EngineFailure('malformed', 'the answer is not an object')
  if (('error' in value && value.error) || isReport(value)) throw explain(value)
  const { choices } = value as WireAnswer
  if (choices !== null && choices !== undefined && !Array.isArray(choices)) {
    throw new EngineFailure('malformed', 'the choices of the answer are not a list')
  }
  return value
}

function usageIn(wire: WireAnswer, choice: WireChoice | undefined): StatedUsage | null {
  const usage = wire.usage ?? choice?.usage ?? wire.x_groq?.usage
  if (!usage) return null
  return {
    promptTokens: usage.prompt_tokens ?? usage.input_tokens,
    completionTokens: usage.completion_tokens ?? usage.output_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens,
    cacheWriteTokens: usage.prompt_tokens_details?.cache_write_tokens,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens,
  }
}

const stopOf = ({ stop_reason: reason, matched_stop: match }: WireChoice): string | undefined =>
  [reason, match].find((one) => typeof one === 'string')

/** The calls of a message or a delta. Throws `malformed` for anything but a list of objects, or nothing. */
function wireCalls(value: unknown): WireCall[] {
  if (value === null || value === undefined) return []
  const isCall = (item: unknown) => typeof item === 'object' && item !== null
  const isOne = typeof value === 'object' && ('function' in value || 'name' in value)
  const calls: unknown[] = Array.isArray(value) ? value : [isOne ? value : null]
  if (calls.every(isCall))
    return (calls as WireCall[]).map(({ name, arguments: args, ...call }) =>
      call.function || typeof name !== 'string' ? call : { ...call, function: { name, arguments: args } },
    )
  throw new EngineFailure('malformed', 'the tool calls of the answer are not a list of calls')
}

/**
 * Joins the pieces of calls by id, then by index, then by order. One id at several indexes is one call. Without ids,
 * one index can have several calls: a name begins a new call once the one before is complete. A piece without a name at
 * an unknown index belongs to the open call.
 */
export function createCallJoiner() {
  const calls: (ToolCall & { place: number })[] = []
  const byId = new Map<string, (typeof calls)[number]>()
  const byIndex = new Map<number, (typeof calls)[number]>()

  function callFor({ index, id, function: part }: WireCall): (typeof calls)[number] {
    const same = id ? byId.get(id) : undefined
    // Some servers give every call the same id. A name with other arguments after a complete call begins a new one.
    const isNext = same && part?.name && isWhole(same.arguments) && !repeats(same, part)
    if (same && !isNext) return same
    const known = typeof index === 'number' ? byIndex.get(index) : calls.at(-1)
    const open = known ?? (part?.name ? undefined : calls.at(-1))
    // Some servers give each piece of a call a new id, with the same name and index.
    const goesOn = open !== undefined && open === byIndex.get(index as number) && part?.name === open.name
    if (open && ((goesOn && !isWhole(open.arguments)) || !begins(id, part?.name, open))) return open
    const call = { id: '', name: '', arguments: '', place: calls.length }
    calls.push(call)
    return call
  }

  return {
    /** Adds pieces and returns the new deltas. Throws `malformed` if it is not a list of calls. */
    add(value: unknown): CallDelta[] {
      return wireCalls(value).map((piece) => {
        const call = callFor(piece)
        const { index, id, type: _type, function: part, ...extra } = piece
        if (typeof index === 'number') byIndex.set(index, call)
        call.id ||= id && !byId.has(id) ? id : ''
        if (id) byId.set(id, call)
        if (part?.name && call.name !== part.name) call.name += part.name
        // Some servers repeat the whole call at the end, and some repeat all earlier arguments with each piece.
        const sent = textOfCalls(part?.arguments)
        const isAll = call.arguments.length > 2 && call.arguments.startsWith('{') && sent.startsWith(call.arguments)
        const text = repeats(call, part) ? '' : isAll ? sent.slice(call.arguments.length) : sent
        // Some servers send an empty object before the real arguments.
        if (text.trimStart().startsWith('{') && call.arguments === NOTHING) call.arguments = ''
        call.arguments += text
        // An empty object may still be replaced, and JSON in a string is shown once it is complete.
        const shown = call.arguments === NOTHING || call.arguments.startsWith('"') ? '' : text
        if (Object.keys(extra).length) call.extra = { ...call.extra, ...extra }
        return { place: call.place, name: call.name, arguments: shown }
      })
    },

    /** The complete calls. Throws `malformed` for one without a name. */
    calls(): ToolCall[] {
      return calls.map(({ place, ...call }) => {
        if (!call.name) throw new EngineFailure('malformed', 'a tool call of the answer names no tool')
        return { ...call, id: call.id || `call_${place}`, arguments: argumentsOf(call.arguments) }
      })
    },
  }
}

/** Empty arguments. Some servers send them before the real ones. */
const NOTHING = '{}'

/** Whether a piece repeats a complete call. */
const repeats = (call: ToolCall, part: WireCall['function']): boolean =>
  Boolean(part?.name) && isWhole(call.arguments) && textOfCalls(part?.arguments) === call.arguments

/** Whether a piece begins a new call although `open` has its index. */
function begins(id: string | null | undefined, name: string | null | undefined, open: ToolCall): boolean {
  if (id && open.id && name) return true
  // A name may be split across pieces, before any arguments.
  return Boolean(name) && open.name !== '' && ((open.arguments !== '' && name !== open.name) || isWhole(open.arguments))
}

const isWhole = (text: string): boolean => text.trimEnd().endsWith('}') && parsed(text) !== undefined
