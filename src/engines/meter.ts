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
import weights from './token-weights.json'

/** Tokens that a call is charged for: the upstream's numbers if they are plausible, else our own count. */
export type CheckedUsage = { promptTokens: number; completionTokens: number; stated: boolean } & TokenDetails

/** The parts of a run: those of the engine, with checked usage before the finish. */
export type RunPart = Exclude<EnginePart, { type: 'usage' }> | ({ type: 'usage' } & CheckedUsage)

/**
 * Takes the parts of a stream. A returned promise is awaited before the next part (back pressure). If it throws, the
 * call ends. After {@link ENOUGH} it still gets the usage so far.
 */
export type TakePart = (part: RunPart) => void | Promise<void>

type Limits = Pick<EngineRequest, 'messages' | 'maxOutputTokens' | 'tools' | 'files'>

/** Characters of the arguments of all calls, at most: as many as one call of a history may have (docs/api.md 4). */
const MAX_CALL_CHARS = 1_000_000

/** Longer streams end with finish `length` (docs/attacks.md P13). */
const MAX_DURATION_MS = 10 * 60_000

/** The weight where an answer is cut: above the limit, as it is an estimate, unless its upstream states more itself. */
const cutAt = ({ maxOutputTokens: max }: Limits, used: StatedUsage | null = null): number =>
  (Number(used?.completionTokens) - Number(used?.reasoningTokens ?? 0) > max ? max : max * 1.25 + 16) * UNITS_PER_TOKEN

const isWithin = (value: unknown, low: number, high: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high

/**
 * Our own token count: an estimate within about 10 % for common languages, code and JSON. Used for reservations,
 * limits, and charges if an upstream states no usage or a false one (docs/attacks.md G7).
 *
 * The weight of a character depends on its class, on the class before it, and on the length of the run of its class.
 * The first letter of a word weighs most of a token, the next ones little. The weights were fitted to the counts of the
 * `o200k_base` vocabulary for texts of fifteen languages, code and JSON (tested by tests/engines/tokens.test.ts).
 */
export const UNITS_PER_TOKEN = 100

const [LOWER, UPPER, SPACE, LINE, TAB, DIGIT, ACCENTED] = [0, 1, 2, 3, 4, 5, 11]
/** The classes of ASCII characters. */
const SETS = [
  'a-z',
  'A-Z',
  ' ',
  '\\n\\r',
  '\\0-\\x1f',
  '\\d',
  '.,;:!?',
  '"\'`',
  '()[\\]{}<>',
  '=/\\\\*#_-',
  '\\0-\\x7f',
]
const EACH = new RegExp(SETS.map((set) => `([${set}])`).join('|'))
const ASCII = Uint8Array.from({ length: 128 }, (_, code) =>
  EACH.exec(String.fromCharCode(code))!.slice(1).findIndex(Boolean),
)

/**
 * Classes of other characters by blocks of 256 code units. The file has first block, last block and class of each
 * script.
 */
const PAGES = new Uint8Array(256).fill(21)
for (const [first, last, kind] of Object.values(weights.scripts)) PAGES.fill(kind!, first, last! + 1)

/**
 * Weights by class. `again`: weights of the second character of a run, the third, and so on; the last number applies to
 * the rest. `after`: weights of the first character at the start, after a space, a Latin letter, a digit, the five
 * classes of punctuation, a letter with a mark or of a script like Greek, and anything else.
 */
const { again: AGAIN, after: AFTER } = weights
const MAX_WEIGHT = 150

/** The index in `after` by the class of the character before. */
const FOLLOWED = [2, 2, 1, 0, 0, 3, 4, 5, 6, 7, 8, 9, 9]
const KINDS = AGAIN.length
const LONGEST = 12
/** The state at the beginning of a text. */
const BEGIN = KINDS * LONGEST
/** By state and class of the next character: the weight of the character, and the next state. */
const [WEIGHT, NEXT] = [new Uint8Array((BEGIN + 1) * KINDS), new Uint16Array((BEGIN + 1) * KINDS)]

for (let place = 0; place <= BEGIN; place++)
  for (let kind = 0; kind < KINDS; kind++) {
    const [before, run, again] = [Math.floor(place / LONGEST), (place % LONGEST) + 1, AGAIN[kind]!]
    const after = place === BEGIN ? 0 : (FOLLOWED[before] ?? 10)
    let next = kind !== before ? 1 : kind === DIGIT ? (run % 3) + 1 : Math.min(run + 1, again.length)
    // Accented and plain letters continue each other's run, because they form one word.
    if (kind === LOWER && before === UPPER) next = 2
    else if (kind === LOWER && before === ACCENTED) next = Math.min(run + 1, LONGEST)
    else if (kind === ACCENTED && before === LOWER) next = run
    else if (kind === SPACE && (before === LINE || before === TAB)) next = 2
    const at = place * KINDS + kind
    WEIGHT[at] = kind === before ? again[Math.min(run, again.length) - 1]! : AFTER[kind]![after]!
    NEXT[at] = kind * LONGEST + next - 1
  }

/** The counting state between two pieces of a text. */
export type Place = { at: number }
export const newPlace = (): Place => ({ at: BEGIN })

/** The weight of a text in hundredths of a token; with `place`, of the next piece of a longer text. */
export function weigh(text: string, place?: Place): number {
  let at = place ? place.at : BEGIN
  let units = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const step = at * KINDS + (code < 128 ? ASCII[code]! : PAGES[code >> 8]!)
    units += WEIGHT[step]!
    at = NEXT[step]!
  }
  if (place) place.at = at
  return units
}

const tokensIn = (units: number): number => Math.round(units / UNITS_PER_TOKEN)

/** Tokens of a text; 0 only when it is empty. */
export const countTokens = (text: string): number => (text ? Math.max(1, tokensIn(weigh(text))) : 0)

const TOKENS_PER_MESSAGE = 4
const TOKENS_PER_ANSWER_START = 3
/** Tokens that most engines count for an image of usual size. */
const TOKENS_PER_IMAGE = 800

/** The weight of the names and arguments of calls. */
const weighCalls = (calls: readonly ToolCall[]): number =>
  calls.reduce((units, call) => units + weigh(call.name) + weigh(call.arguments), 0)

/** Bytes per token for files without extracted text. Counts more tokens than engines do. */
const BYTES_PER_TOKEN = 100

/** Tokens of files whose text is not in the messages. */
export const countFiles = (files: readonly GivenFile[] = []): number =>
  files.reduce((sum, { whole, base64 }) => sum + (whole ? Math.ceil((base64.length * 3) / 4 / BYTES_PER_TOKEN) : 0), 0)

/** Tokens of a whole prompt: texts, calls, images, tool definitions, and a fixed number per message. */
export function countPrompt(messages: readonly Message[], tools?: readonly EngineTool[]): number {
  let units = tools?.length ? weigh(JSON.stringify(tools)) : 0
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
  return tokens + tokensIn(units)
}

/** The beginning of a text, or of its piece at `place`, that weighs at most `units`; never half a surrogate pair. */
export function cutToWeight(text: string, units: number, place: Place = newPlace()): string {
  const moving = { ...place }
  let left = units
  let index = 0
  for (; index < text.length; index++) {
    left -= weigh(text[index]!, moving)
    if (left < 0) break
  }
  const code = text.charCodeAt(index - 1)
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? index - 1 : index)
}

/**
 * Checks the usage that an upstream states. Accepts whole numbers that are possible for this prompt and an answer
 * within the limit. Otherwise uses our own count, which never exceeds the limit that credit was held for.
 */
export function checkUsage(stated: StatedUsage | null, limits: Limits, answerUnits: number): CheckedUsage {
  const own = Math.min(answerUnits && Math.max(1, tokensIn(answerUnits)), limits.maxOutputTokens)
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
  const { promptTokens, completionTokens } = stated as { promptTokens: number; completionTokens: number }
  const cachedTokens = part(stated.cachedTokens, promptTokens)
  return addDetails(
    { promptTokens, completionTokens, stated: true },
    {
      cachedTokens,
      cacheWriteTokens: part(stated.cacheWriteTokens, promptTokens - cachedTokens),
      reasoningTokens: part(stated.reasoningTokens, completionTokens),
    },
  )
}

/** A stated part of a count, at most that count; 0 if it is invalid. */
const part = (value: unknown, max: number): number =>
  isWithin(value, 1, Infinity) ? Math.min(value as number, max) : 0

/** Adds the details of an answer to `sum`, and returns it. Most answers have none. */
export function addDetails<Sum extends object>(
  sum: Sum & TokenDetails,
  { cachedTokens, cacheWriteTokens, reasoningTokens }: TokenDetails,
): Sum & TokenDetails {
  if (cachedTokens) sum.cachedTokens = (sum.cachedTokens ?? 0) + cachedTokens
  if (cacheWriteTokens) sum.cacheWriteTokens = (sum.cacheWriteTokens ?? 0) + cacheWriteTokens
  if (reasoningTokens) sum.reasoningTokens = (sum.reasoningTokens ?? 0) + reasoningTokens
  return sum
}

/** An upper bound for any tokenizer: four tokens a character, and room for images, tools and templates. */
function maxPromptTokens({ messages, tools, files }: Limits): number {
  // A file costs more than its text, because engines also read its pages as pictures.
  let max =
    10_000 +
    (files?.length ? 2 * countFiles(files.map((file) => ({ ...file, whole: true }))) : 0) +
    (tools?.length ? 4 * JSON.stringify(tools).length : 0)
  for (const message of messages) {
    const { content } = message
    if (message.role === 'assistant' && message.toolCalls) max += 4 * JSON.stringify(message.toolCalls).length
    if (typeof content === 'string') max += 4 * content.length + 100
    else for (const part of content) max += part.type === 'text' ? 4 * part.text.length + 100 : 20_000
  }
  return max
}

/** Cuts a plain answer at the limit and checks its usage. */
export function meterAnswer(
  answer: EngineAnswer,
  limits: Limits,
): Omit<EngineAnswer, 'usage'> & { usage: CheckedUsage } {
  const max = cutAt(limits, answer.usage)
  // The length alone shows that most answers are short enough.
  const long = answer.text.length * MAX_WEIGHT > max && weigh(answer.text) > max
  const text = long ? cutToWeight(answer.text, max) : answer.text
  const stated = long ? null : answer.usage
  const more = weigh(answer.reasoning) + weigh(answer.refusal) + weighCalls(answer.toolCalls)
  const usage = checkUsage(stated, limits, weigh(text) + more)
  if (long) Object.assign(answer, { text, finish: 'length' })
  return Object.assign(answer, { usage })
}

/** Thrown by a reader that needs no more of an answer. */
export const ENOUGH = new Error('the reader has enough')

/** Thrown to end an upstream call whose answer is over. */
const OVER = new Error('the answer is over')

/**
 * Counts a stream on its way to `take`, and ends it at the token limit or after ten minutes. Delivers exactly one
 * `usage`, calls `finished`, and then delivers one `finish`. If the driver sends more after that, `take` ends the call.
 */
export function createMeter(
  limits: Limits,
  clock: Pick<Clock, 'after'>,
  take: TakePart,
  finished: () => void = () => undefined,
) {
  const max = cutAt(limits)
  let units = 0
  const place = newPlace()
  let callChars = 0
  let stated: StatedUsage | null = null
  let isLate = false
  let isOver = false
  let thrown: unknown
  const stop = clock.after(MAX_DURATION_MS, () => {
    isLate = true
  })

  return {
    /** Stops the timer. */
    stop,
    /** Whether the finish was delivered. */
    isOver: () => isOver,
    /** Our own count so far. */
    soFar: () => checkUsage(null, limits, units),
    /** What the reader threw. A stopped driver may throw its own error instead. */
    thrown: () => thrown,

    take(part: EnginePart): void | Promise<void> {
      if (isOver) throw OVER
      if (part.type === 'finish') return end(stated, part)
      if (part.type === 'usage') {
        stated = part
        return
      }
      const before = { ...place }
      const weight =
        part.type === 'call-delta' ? 0 : part.type === 'tool-call' ? weighCalls([part]) : weigh(part.text, place)
      const isBeyond = exceeds(part, weight)
      if (isBeyond || isLate) return cut(part, isBeyond, before)
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

  /** Calls are weighed when they are complete, and never cut. Their limit is the size that a client can send back. */
  function exceeds(part: Exclude<EnginePart, { type: 'usage' | 'finish' }>, weight: number): boolean {
    if (part.type === 'tool-call') return false
    if (part.type !== 'call-delta') return units + weight > max
    callChars += part.arguments.length
    return callChars > MAX_CALL_CHARS
  }

  /** Ends the answer with this part, and cuts its text at the limit. */
  async function cut(
    part: Exclude<EnginePart, { type: 'usage' | 'finish' }>,
    isBeyond: boolean,
    before: Place,
  ): Promise<void> {
    const last =
      isBeyond && part.type === 'text' ? { ...part, text: cutToWeight(part.text, max - units, before) } : part
    units += 'text' in last ? weigh(last.text, before) : last.type === 'tool-call' ? weighCalls([last]) : 0
    if (!('text' in last) || last.text) await give(last)
    await end(null, { type: 'finish', reason: 'length' })
    throw OVER
  }

  async function end(usage: StatedUsage | null, finish: Extract<EnginePart, { type: 'finish' }>): Promise<void> {
    isOver = true
    finished()
    await give({ type: 'usage', ...checkUsage(usage, limits, units) })
    await give(finish.reason === 'stop' && units > cutAt(limits, usage) ? { ...finish, reason: 'length' } : finish)
  }
}

/** Delivers a whole answer, in parts unless the sink takes it whole. Returns a promise if the reader is behind. */
export function giveAnswer(answer: EngineAnswer, sink: Sink): void | Promise<void> {
  if (sink.whole && !sink.streams) return sink.whole(answer)
  const { text, logprobs, reasoning, refusal, toolCalls, usage, finish, stoppedBy, fingerprint } = answer
  const parts: EnginePart[] = []
  if (reasoning) parts.push({ type: 'reasoning', text: reasoning })
  if (text) parts.push({ type: 'text', text, ...(logprobs ? { logprobs } : {}) })
  if (refusal) parts.push({ type: 'refusal', text: refusal })
  for (const call of toolCalls) parts.push({ type: 'tool-call', ...call })
  if (usage) parts.push({ type: 'usage', ...usage })
  parts.push({ type: 'finish', reason: finish, stoppedBy, fingerprint })
  let behind = sink.take(parts[0]!)
  for (const part of parts.slice(1)) behind = behind ? behind.then(() => sink.take(part)) : sink.take(part)
  return behind
}

/** Joins parts into one answer. Ignores pieces of calls, because the whole calls follow. */
export class Collector implements Sink {
  answer: EngineAnswer = { text: '', reasoning: '', refusal: '', toolCalls: [], finish: 'stop', usage: null }

  constructor(readonly streams = false) {}

  whole(answer: EngineAnswer): void {
    this.answer = answer
  }

  take(part: EnginePart): void {
    const { answer } = this
    if (part.type === 'text') {
      answer.text += part.text
      if (part.logprobs) answer.logprobs = [...(answer.logprobs ?? []), ...part.logprobs]
    } else if (part.type === 'reasoning') answer.reasoning += part.text
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
  }
}
