import { parsedJson } from '../../kernel/json'
import {
  type EngineAnswer,
  EngineFailure,
  type EnginePart,
  type FinishReason,
  type StatedUsage,
  type TokenLogprob,
  type ToolCall,
} from '../engine'
import { isReport } from '../failures'
import { createEventSplitter, createLinePattern, finishOf, finishWith, type WireEvent } from './compat-body'
import { createCallJoiner, type WireCall } from './compat-calls'
import { createThoughtSplitter, splitText, withThoughts } from './upstream'

type WireText = {
  content?: unknown
  /** Names of the reasoning. */
  reasoning_content?: unknown
  reasoning?: unknown
  reasoning_text?: unknown
  thinking?: unknown
  refusal?: unknown
  reasoning_details?: unknown
  thinking_blocks?: unknown
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
  response?: unknown
  finish_reason?: unknown
  /** Other names of the finish. */
  finishReason?: unknown
  done_reason?: unknown
  done?: unknown
  /** Some servers put the usage into the choice. */
  usage?: WireUsage | null
  /** Some servers name the text that ended the answer. */
  stop_reason?: unknown
  matched_stop?: unknown
  logprobs?: { content?: unknown } | null
}
/** Some servers answer with a choice alone. */
type WireAnswer = Omit<WireChoice, 'usage'> & {
  choices?: WireChoice[] | null
  usage?: WireUsage | null
  /** Other places of the usage. */
  x_groq?: { usage?: WireUsage | null } | null
  usageMetadata?: WireUsage | null
  prompt_eval_count?: unknown
  eval_count?: unknown
  system_fingerprint?: unknown
}
type WireUsage = {
  prompt_tokens?: unknown
  completion_tokens?: unknown
  total_tokens?: unknown
  tokens?: WireUsage | null
  prompt_tokens_details?: { cached_tokens?: unknown; cache_write_tokens?: unknown } | null
  input_tokens_details?: { cached_tokens?: unknown } | null
  completion_tokens_details?: { reasoning_tokens?: unknown } | null
  /** Cached tokens of servers that count them at the top level. */
  prompt_cache_hit_tokens?: unknown
  num_cached_tokens?: unknown
  cached_tokens?: unknown
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
  let hasDeltas = false

  function takeEvent({ line, value }: WireEvent): void {
    const wire = readEvent(value)
    if (!wire) return
    const choice = firstOf(wire)
    const stated = choice && messageIn(choice)
    // After deltas, a message repeats the whole answer, so only its calls are read.
    const message = choice?.delta ?? (stated && hasDeltas ? { tool_calls: stated.tool_calls } : stated)
    hasDeltas ||= Boolean(choice?.delta && hasContent(choice.delta))
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
        !finishIn(choice!) &&
        !wire.usage &&
        !likely.length
      )
        pattern.learn(line, content)
    }
    const word = choice && finishIn(choice)
    if (word) {
      finish = finishOf(word)
      stoppedBy = stopOf(choice)
    }
    const counted = usageIn(wire, choice)
    if (counted && !(usage && !counted.promptTokens && !counted.completionTokens)) usage = counted
    // A finish beside text is perhaps in every event of the stream, so another event may follow.
    if (counted || isCounted) isCounted = finish !== null && !(message && hasContent(message))
  }

  /** Null for an error after the finish, because the answer was over by then. */
  function readEvent(value: unknown): WireAnswer | null {
    try {
      return readObject(value, explain)
    } catch (error) {
      if (finish) return null
      throw error
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
  const finish = finishOf(finishIn(choice) ?? 'stop')
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
function firstOf(wire: WireAnswer): WireChoice | undefined {
  const { choices } = wire
  if (!choices) return messageIn(wire) ? { ...wire, usage: null } : undefined
  return choices[0]?.index ? (choices.find((choice) => !choice?.index) ?? choices[0]) : choices[0]
}

function messageIn({ message, text, response }: WireChoice): WireText | null {
  if (typeof message === 'object' && message) return message
  const content = text ?? response
  return typeof content === 'string' ? { content } : null
}

const callsIn = ({ tool_calls: calls, function_call: call }: WireText): unknown => {
  // Some servers write an empty value of another type if there are none.
  const hasNone = !calls || (typeof calls === 'object' && !Object.keys(calls).length)
  return hasNone ? (call ? [{ function: call }] : null) : calls
}

/** Text, or the texts of a list of parts. Some servers give an answer in JSON as the value itself. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (content === null || content === undefined) return ''
  if (Array.isArray(content)) return content.map((part) => textOfPart(part, TEXTS)).join('')
  return typeof content === 'object' && ('text' in content || 'type' in content)
    ? textOfPart(content, TEXTS)
    : JSON.stringify(content)
}

const TEXTS: ReadonlySet<unknown> = new Set([undefined, 'text', 'output_text'])
const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'reasoning'])
const DETAILS: ReadonlySet<unknown> = new Set(['reasoning.text', 'reasoning.summary', 'thinking'])

/** The text of a part of one of these types: its `text`, the text of nested parts, or the text in an object. */
function textOfPart(part: unknown, types: ReadonlySet<unknown>): string {
  if (typeof part === 'string') return types === TEXTS ? part : ''
  const { type, text, thinking, summary } = (part ?? {}) as Record<string, unknown>
  if (!types.has(type)) return ''
  const inner = thinking ?? text ?? summary
  if (Array.isArray(inner)) return inner.map((one) => textOfPart(one, TEXTS)).join('')
  const value = (inner as { value?: unknown } | null | undefined)?.value ?? inner
  return typeof value === 'string' ? value : ''
}

/** The finish reason of a choice. Some servers send empty ones before, and one the word `null`. */
function finishIn({ finish_reason, finishReason, done_reason, done }: WireChoice): string | null {
  const word = finish_reason || finishReason || done_reason || (done === true && 'stop')
  return word && word !== 'null' ? String(word) : null
}

const hasContent = (message: WireText): boolean =>
  Boolean(message.content || reasoningOf(message) || (Array.isArray(message.tool_calls) && message.tool_calls.length))

/** Reasoning that one vendor needs back unchanged. */
const detailsIn = ({ reasoning_details: details, thinking_blocks: blocks }: WireText): unknown[] =>
  [details, blocks].find(Array.isArray) ?? []

/** Servers use one of several names, or two. Others put the reasoning into parts of the content, or into details. */
function reasoningOf(message: WireText): string {
  const { reasoning_content: long, reasoning: short, reasoning_text: text, thinking, content } = message
  const stated = long || short || text || thinking
  if (typeof stated === 'string') return stated
  const parts = Array.isArray(content) ? content.map((part) => textOfPart(part, THOUGHTS)).join('') : ''
  return (
    parts ||
    detailsIn(message)
      .map((part) => textOfPart(part, DETAILS))
      .join('')
  )
}

function readObject(given: unknown, explain: ExplainError): WireAnswer {
  // Some servers put the answer into a text, a list, or an object with more members.
  const whole = typeof given === 'string' ? parsedJson(given) : Array.isArray(given) ? given[0] : given
  const { choices: own, data, result } = (whole ?? {}) as Record<string, unknown>
  const inner = own ? null : (data ?? result)
  const isInside = typeof inner === 'object' && inner !== null && ('choices' in inner || 'response' in inner)
  const value = isInside ? inner : whole
  if (typeof value !== 'object' || value === null) throw new EngineFailure('malformed', 'the answer is not an object')
  if (('error' in value && value.error) || isReport(value)) throw explain(value)
  const { choices } = value as WireAnswer
  if (choices !== null && choices !== undefined && !Array.isArray(choices)) {
    throw new EngineFailure('malformed', 'the choices of the answer are not a list')
  }
  return value
}

/** Names of the counts in all formats, in lower case without `_`. */
const PROMPT = /^(?:prompt|input)tokens?(?:count)?$/
const WRITTEN = /^(?:completion|output|generated|candidates)tokens?(?:count)?$/

function usageIn(wire: WireAnswer, choice: WireChoice | undefined): StatedUsage | null {
  const stated = wire.usage ?? choice?.usage ?? wire.x_groq?.usage ?? wire.usageMetadata
  const usage = stated?.tokens ?? stated
  if (!usage) {
    const { prompt_eval_count: promptTokens, eval_count: completionTokens } = wire
    return completionTokens === undefined ? null : { promptTokens, completionTokens }
  }
  const count = (usual: unknown, names: RegExp): unknown => {
    const [, other] =
      usual === undefined
        ? (Object.entries(usage).find(([name]) => names.test(name.toLowerCase().replaceAll('_', ''))) ?? [])
        : []
    const found = usual ?? other
    return typeof found === 'string' && found !== '' ? Number(found) : found
  }
  const prompt = count(usage.prompt_tokens, PROMPT)
  const written = count(usage.completion_tokens, WRITTEN)
  const details = usage.prompt_tokens_details ?? usage.input_tokens_details
  const cached =
    details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.num_cached_tokens ?? usage.cached_tokens
  const reasoning = usage.completion_tokens_details?.reasoning_tokens
  // One vendor counts reasoning tokens beside the others, which its sum shows.
  const sum = Number(prompt) + Number(written)
  const isBeside = Number(reasoning) > 0 && Number(usage.total_tokens) === sum + Number(reasoning)
  return {
    promptTokens: prompt,
    completionTokens: isBeside ? Number(written) + Number(reasoning) : written,
    cachedTokens: cached,
    cacheWriteTokens: usage.prompt_tokens_details?.cache_write_tokens,
    reasoningTokens: reasoning,
  }
}

const stopOf = ({ stop_reason: reason, matched_stop: match }: WireChoice): string | undefined =>
  typeof reason === 'string' ? reason : typeof match === 'string' ? match : undefined
