import type { Clock } from '../kernel/clock'
import type {
  EngineAnswer,
  EnginePart,
  EngineRequest,
  EngineTool,
  Message,
  Sink,
  StatedUsage,
  TokenDetails,
  ToolCall,
} from './engine'
import type { GivenFile } from './schema'

/** Tokens a call is charged for: the upstream's numbers where they are plausible, else our own count (G7). */
export type CheckedUsage = { promptTokens: number; completionTokens: number; stated: boolean } & TokenDetails

/** The parts of a run: those of the engine, with checked usage always before the finish. */
export type RunPart = Exclude<EnginePart, { type: 'usage' }> | ({ type: 'usage' } & CheckedUsage)

/**
 * Takes the parts of a stream. A promise is awaited before the next: the reader is behind. What it throws ends the call;
 * after {@link ENOUGH} it gets the usage so far.
 */
export type TakePart = (part: RunPart) => void | Promise<void>

type Limits = Pick<EngineRequest, 'messages' | 'maxOutputTokens' | 'tools' | 'files'>

/** Characters of the arguments of all calls; as many as one call of a history may have (contract 4). */
const MAX_CALL_CHARS = 1_000_000

/** A stream that runs longer is ended with finish `length` (P13). */
const MAX_DURATION_MS = 10 * 60_000

/** The weight at which an answer is cut. Above the limit, so that our estimate never cuts an upstream that keeps it. */
const cutAt = (maxOutputTokens: number): number => (maxOutputTokens * 1.25 + 16) * UNITS_PER_TOKEN

const isWithin = (value: unknown, low: number, high: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high

/**
 * Our own token count: an estimate within about 20 %, for reservations, for limits, and for charging when an
 * upstream states no usage or a false one (G7). One table look-up a character, no dictionary.
 *
 * Additive: the weights of two halves add up to the weight of the whole, so a stream can be counted piece
 * by piece.
 */
export const UNITS_PER_TOKEN = 100

const LETTER = 22
const DIGIT = 38
const PUNCTUATION = 55
const NEWLINE = 45

const ASCII = new Uint8Array(128).fill(PUNCTUATION)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  if (/[A-Za-z ]/.test(char)) ASCII[code] = LETTER
  else if (/\d/.test(char)) ASCII[code] = DIGIT
  else if (/\s/.test(char)) ASCII[code] = NEWLINE
}

/** Scripts by their blocks of 256 code units: the first page, the last page, the weight of one code unit. */
const SCRIPTS: [number, number, number][] = [
  [0x00, 0x02, 48], // Latin with marks
  [0x03, 0x05, 42], // Greek, Cyrillic, Armenian, Hebrew
  [0x06, 0x08, 45], // Arabic, Syriac
  [0x09, 0x0d, 60], // scripts of India
  [0x0e, 0x0f, 60], // Thai, Lao, Tibetan
  [0x11, 0x11, 90], // Hangul parts
  [0x20, 0x2f, 75], // symbols
  [0x30, 0x31, 80], // kana
  [0x32, 0x9f, 95], // Han
  [0xac, 0xd7, 85], // Hangul syllables
  [0xd8, 0xdf, 110], // halves of pairs: emoji, rare Han
]

const PAGES = new Uint8Array(256).fill(70)
for (const [first, last, weight] of SCRIPTS) PAGES.fill(weight, first, last + 1)

/** The weight of a text in hundredths of a token. */
export function weigh(text: string): number {
  let units = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    units += code < 128 ? ASCII[code]! : PAGES[code >> 8]!
  }
  return units
}

/** Tokens of a text; 0 only when it is empty. */
export const countTokens = (text: string): number => Math.ceil(weigh(text) / UNITS_PER_TOKEN)

const TOKENS_PER_MESSAGE = 4
const TOKENS_PER_ANSWER_START = 3
/** Tokens that most engines count for an image of usual size. */
const TOKENS_PER_IMAGE = 800

/** The weight of calls: their names and arguments. */
const weighCalls = (calls: readonly ToolCall[]): number =>
  calls.reduce((units, call) => units + weigh(call.name) + weigh(call.arguments), 0)

/** Bytes of a file that are counted as one token, where no text says what it holds: more than engines count. */
const BYTES_PER_TOKEN = 100

/** Tokens of files whose text stands not in the messages. */
export const countFiles = (files: readonly GivenFile[] = []): number =>
  files.reduce((sum, { whole, base64 }) => sum + (whole ? Math.ceil((base64.length * 3) / 4 / BYTES_PER_TOKEN) : 0), 0)

/** Tokens of a whole prompt: texts, calls, images, tool definitions, and a fixed number per message. */
export function countPrompt(messages: readonly Message[], tools: readonly EngineTool[] = []): number {
  let units = tools.length ? weigh(JSON.stringify(tools)) : 0
  let tokens = TOKENS_PER_ANSWER_START
  for (const message of messages) {
    tokens += TOKENS_PER_MESSAGE
    if (message.role === 'assistant' && message.toolCalls) units += weighCalls(message.toolCalls)
    if (typeof message.content === 'string') {
      units += weigh(message.content)
      continue
    }
    for (const part of message.content) {
      if (part.type === 'text') units += weigh(part.text)
      else tokens += TOKENS_PER_IMAGE
    }
  }
  return tokens + Math.ceil(units / UNITS_PER_TOKEN)
}

/** The beginning of a text that weighs at most `units`, never half a surrogate pair. */
export function cutToWeight(text: string, units: number): string {
  let left = units
  let at = 0
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    left -= code < 128 ? ASCII[code]! : PAGES[code >> 8]!
    if (left < 0) break
  }
  const code = text.charCodeAt(at - 1)
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? at - 1 : at)
}

/**
 * Checks the usage that an upstream states. Whole numbers that are possible for this prompt and an answer
 * within the limit are accepted. Anything else is replaced by our own count, which never exceeds the limit
 * that money was held for.
 */
export function checkUsage(stated: StatedUsage | null, limits: Limits, answerUnits: number): CheckedUsage {
  const own = Math.min(Math.ceil(answerUnits / UNITS_PER_TOKEN), limits.maxOutputTokens)
  const believed =
    stated !== null &&
    isWithin(stated.promptTokens, 1, maxPromptTokens(limits)) &&
    isWithin(stated.completionTokens, answerUnits > 0 ? 1 : 0, Math.max(limits.maxOutputTokens, own))
  if (!believed)
    return {
      promptTokens: countPrompt(limits.messages, limits.tools) + countFiles(limits.files),
      completionTokens: own,
      stated: false,
    }
  const [promptTokens, completionTokens] = [stated.promptTokens as number, stated.completionTokens as number]
  return { promptTokens, completionTokens, stated: true, ...detailsOf(stated, promptTokens, completionTokens) }
}

/** The stated parts of two counts, none larger than its count; parts that are no counts are left out. */
function detailsOf(stated: StatedUsage, promptTokens: number, completionTokens: number): TokenDetails {
  const part = (value: unknown, max: number) => (isWithin(value, 1, Infinity) ? Math.min(value as number, max) : 0)
  const cachedTokens = part(stated.cachedTokens, promptTokens)
  const cacheWriteTokens = part(stated.cacheWriteTokens, promptTokens - cachedTokens)
  const reasoningTokens = part(stated.reasoningTokens, completionTokens)
  return {
    ...(cachedTokens ? { cachedTokens } : {}),
    ...(cacheWriteTokens ? { cacheWriteTokens } : {}),
    ...(reasoningTokens ? { reasoningTokens } : {}),
  }
}

/** The parts of several counts together. */
export function sumDetails(all: readonly TokenDetails[]): TokenDetails {
  const sum: TokenDetails = {}
  // One by one, because each answer is summed three times and most have none.
  for (const { cachedTokens, cacheWriteTokens, reasoningTokens } of all) {
    if (cachedTokens) sum.cachedTokens = (sum.cachedTokens ?? 0) + cachedTokens
    if (cacheWriteTokens) sum.cacheWriteTokens = (sum.cacheWriteTokens ?? 0) + cacheWriteTokens
    if (reasoningTokens) sum.reasoningTokens = (sum.reasoningTokens ?? 0) + reasoningTokens
  }
  return sum
}

/** No tokenizer counts more for this prompt: four tokens a character, and room for images, tools and templates. */
function maxPromptTokens({ messages, tools, files = [] }: Limits): number {
  // A file as it is costs more than its text: its pages are read as pictures too.
  let max =
    10_000 +
    2 * countFiles(files.map((file) => ({ ...file, whole: true }))) +
    (tools?.length ? 4 * JSON.stringify(tools).length : 0)
  for (const message of messages) {
    const { content } = message
    if (message.role === 'assistant' && message.toolCalls) max += 4 * JSON.stringify(message.toolCalls).length
    if (typeof content === 'string') max += 4 * content.length + 100
    else for (const part of content) max += part.type === 'text' ? 4 * part.text.length + 100 : 20_000
  }
  return max
}

/** A plain answer, cut at the limit and with its usage checked. */
export function meterAnswer(
  answer: EngineAnswer,
  limits: Limits,
): Omit<EngineAnswer, 'usage'> & { usage: CheckedUsage } {
  const max = cutAt(limits.maxOutputTokens)
  // No character weighs more than 1.1 tokens, so the length alone shows that most answers are short enough.
  const long = answer.text.length * 1.1 * UNITS_PER_TOKEN > max && weigh(answer.text) > max
  const text = long ? cutToWeight(answer.text, max) : answer.text
  const stated = long ? null : answer.usage
  const more = weigh(answer.reasoning) + weigh(answer.refusal) + weighCalls(answer.toolCalls)
  const usage = checkUsage(stated, limits, weigh(text) + more)
  return { ...answer, text, finish: long ? 'length' : answer.finish, usage }
}

/** Thrown by a reader that wants no more of an answer. */
export const ENOUGH = new Error('the reader has enough')

/** Thrown to end an upstream call whose answer is over. */
const OVER = new Error('the answer is over')

/**
 * Watches one stream on its way to `take`: counts it and ends it at the token limit or after ten minutes. Gives exactly
 * one `usage`, then one `finish`, before which it calls `finished`. Then its `take` ends the call that gives more.
 */
export function createMeter(
  limits: Limits,
  clock: Pick<Clock, 'after'>,
  take: TakePart,
  finished: () => void = () => undefined,
) {
  const max = cutAt(limits.maxOutputTokens)
  let units = 0
  let callChars = 0
  let stated: StatedUsage | null = null
  let isLate = false
  let isOver = false
  let thrown: unknown
  const stop = clock.after(MAX_DURATION_MS, () => {
    isLate = true
  })

  return {
    /** No more timers. */
    stop,
    /** The finish was given. */
    isOver: () => isOver,
    /** Our own count so far. */
    soFar: () => checkUsage(null, limits, units),
    /** What the reader threw, because a driver that is stopped throws something of its own. */
    thrown: () => thrown,

    take(part: EnginePart): void | Promise<void> {
      if (isOver) throw OVER
      if (part.type === 'finish') return end(stated, part)
      if (part.type === 'usage') {
        stated = part
        return
      }
      const weight = part.type === 'call-delta' ? 0 : part.type === 'tool-call' ? weighCalls([part]) : weigh(part.text)
      const isBeyond = exceeds(part, weight)
      if (isBeyond || isLate) return cut(part, isBeyond)
      units += weight
      return give(part)
    },
  }

  function give(part: RunPart): void | Promise<void> {
    try {
      return take(part)?.catch(note)
    } catch (error) {
      note(error)
    }
  }

  function note(error: unknown): never {
    thrown ??= error
    throw error
  }

  /** A call is weighed when it is whole, and never cut: it ends at the size that a client can send back. */
  function exceeds(part: Exclude<EnginePart, { type: 'usage' | 'finish' }>, weight: number): boolean {
    if (part.type === 'tool-call') return false
    if (part.type !== 'call-delta') return units + weight > max
    callChars += part.arguments.length
    return callChars > MAX_CALL_CHARS
  }

  /** Ends the answer with this part, of which text is cut where the limit is. */
  async function cut(part: Exclude<EnginePart, { type: 'usage' | 'finish' }>, isBeyond: boolean): Promise<void> {
    const last = isBeyond && part.type === 'text' ? { ...part, text: cutToWeight(part.text, max - units) } : part
    units += 'text' in last ? weigh(last.text) : last.type === 'tool-call' ? weighCalls([last]) : 0
    if (!('text' in last) || last.text) await give(last)
    await end(null, { type: 'finish', reason: 'length' })
    throw OVER
  }

  async function end(usage: StatedUsage | null, finish: Extract<EnginePart, { type: 'finish' }>): Promise<void> {
    isOver = true
    finished()
    await give({ type: 'usage', ...checkUsage(usage, limits, units) })
    await give(finish)
  }
}

/** Gives a whole answer, in parts unless it is wanted whole; a promise where its reader is behind. */
export function giveAnswer(answer: EngineAnswer, sink: Sink): void | Promise<void> {
  if (sink.whole) return sink.whole(answer)
  const { take } = sink
  const { text, logprobs, reasoning, refusal, toolCalls, usage, finish, stoppedBy, fingerprint } = answer
  const parts: EnginePart[] = []
  if (reasoning) parts.push({ type: 'reasoning', text: reasoning })
  if (text) parts.push({ type: 'text', text, ...(logprobs ? { logprobs } : {}) })
  if (refusal) parts.push({ type: 'refusal', text: refusal })
  for (const call of toolCalls) parts.push({ type: 'tool-call', ...call })
  if (usage) parts.push({ type: 'usage', ...usage })
  parts.push({ type: 'finish', reason: finish, stoppedBy, fingerprint })
  let behind = take(parts[0]!)
  for (const part of parts.slice(1)) behind = behind ? behind.then(() => take(part)) : take(part)
  return behind
}

/** Joins parts to one answer. Pieces of calls are left out, because whole calls follow. */
export function createCollector() {
  const answer: EngineAnswer = { text: '', reasoning: '', refusal: '', toolCalls: [], finish: 'stop', usage: null }
  return {
    answer,
    whole(came: EngineAnswer): void {
      this.answer = came
    },
    take(part: EnginePart): void {
      if (part.type === 'text') {
        answer.text += part.text
        if (part.logprobs) answer.logprobs = [...(answer.logprobs ?? []), ...part.logprobs]
      }
      if (part.type === 'reasoning') answer.reasoning += part.text
      else if (part.type === 'refusal') answer.refusal += part.text
      else if (part.type === 'finish') {
        const { type: _, reason: finish, ...ending } = part
        Object.assign(answer, { finish, ...ending })
      } else if (part.type === 'tool-call') {
        const { type: _, ...call } = part
        answer.toolCalls.push(call)
      } else if (part.type === 'usage') {
        const { type: _, ...usage } = part
        answer.usage = usage
      }
    },
  }
}
