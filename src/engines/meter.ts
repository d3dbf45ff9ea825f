import type { Clock } from '../kernel/clock'
import {
  type EngineAnswer,
  EngineFailure,
  type EnginePart,
  type EngineRequest,
  type FinishReason,
  type StatedUsage,
} from './engine'
import { countPrompt, cutToWeight, UNITS_PER_TOKEN, weigh, weighCalls } from './tokens'

/** Tokens a call is charged for: the upstream's numbers where they are plausible, else our own count (G7). */
export type CheckedUsage = { promptTokens: number; completionTokens: number; stated: boolean }

/** The parts of a run: those of the engine, with checked usage always before the finish. */
export type RunPart = Exclude<EnginePart, { type: 'usage' }> | ({ type: 'usage' } & CheckedUsage)

type Limits = Pick<EngineRequest, 'messages' | 'maxOutputTokens' | 'tools'>

/** Characters of the arguments of all calls; as many as one call of a history may have (contract 4). */
const MAX_CALL_CHARS = 1_000_000

/** A stream that runs longer is ended with finish `length` (P13). */
const MAX_DURATION_MS = 10 * 60_000

/** The weight at which an answer is cut. Above the limit, so that our estimate never cuts an upstream that keeps it. */
const cutAt = (maxOutputTokens: number): number => (maxOutputTokens * 1.25 + 16) * UNITS_PER_TOKEN

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
    return { promptTokens: countPrompt(limits.messages, limits.tools), completionTokens: own, stated: false }
  return {
    promptTokens: stated.promptTokens as number,
    completionTokens: stated.completionTokens as number,
    stated: true,
  }
}

const isWithin = (value: unknown, low: number, high: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high

/** No tokenizer counts more for this prompt: four tokens a character, and room for images, tools and templates. */
function maxPromptTokens({ messages, tools }: Limits): number {
  let max = 10_000 + (tools?.length ? 4 * JSON.stringify(tools).length : 0)
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

/** Called at the end of a stream: `finished` or `broke`, neither when the reader left, and `over` always. */
export type StreamEnd = {
  finished(): void
  /** Turns the driver's exception into the one to throw. */
  broke(error: unknown): unknown
  over(): void
}

const UNWATCHED: StreamEnd = { finished: () => undefined, broke: (error) => error, over: () => undefined }

export type Meter = {
  /** Parts with the limits enforced: exactly one `usage`, then one `finish`. Throws what `end.broke` returns. */
  parts(source: AsyncGenerator<EnginePart>, first: EnginePart, end?: StreamEnd): AsyncGenerator<RunPart>
  /** Our own count so far, to charge an answer that was not read to its end. */
  soFar(): CheckedUsage
}

/** Watches one stream: counts it as it passes and ends it at the token limit or after ten minutes. */
export function createMeter(limits: Limits, clock: Pick<Clock, 'monotonic'>): Meter {
  const max = cutAt(limits.maxOutputTokens)
  const endsAt = clock.monotonic() + MAX_DURATION_MS
  let units = 0
  let callChars = 0
  let stated: StatedUsage | null = null

  async function* parts(
    source: AsyncGenerator<EnginePart>,
    first: EnginePart,
    end: StreamEnd = UNWATCHED,
  ): AsyncGenerator<RunPart> {
    try {
      for (let part: EnginePart | undefined = first; part; part = (await source.next()).value ?? undefined) {
        if (part.type === 'finish') {
          end.finished()
          return yield* ending(stated, part.reason)
        }
        if (part.type === 'usage') {
          stated = part
          continue
        }
        const weight =
          part.type === 'call-delta' ? 0 : part.type === 'tool-call' ? weighCalls([part]) : weigh(part.text)
        const over = isOver(part, weight)
        if (over && part.type === 'text-delta') {
          const text = cutToWeight(part.text, max - units)
          units += weigh(text)
          if (text) yield { type: 'text-delta', text }
        } else {
          units += weight
          yield part
        }
        if (over || clock.monotonic() > endsAt) {
          end.finished()
          return yield* ending(null, 'length')
        }
      }
      throw new EngineFailure('truncated', 'the stream ended before its finish')
    } catch (error) {
      throw end.broke(error)
    } finally {
      end.over()
      await source.return(undefined)
    }
  }

  /** A call is weighed when it is whole, and never cut: it ends at the size that a client can send back. */
  function isOver(part: Exclude<EnginePart, { type: 'usage' | 'finish' }>, weight: number): boolean {
    if (part.type === 'tool-call') return false
    if (part.type !== 'call-delta') return units + weight > max
    callChars += part.arguments.length
    return callChars > MAX_CALL_CHARS
  }

  function* ending(usage: StatedUsage | null, reason: FinishReason): Generator<RunPart> {
    yield { type: 'usage', ...checkUsage(usage, limits, units) }
    yield { type: 'finish', reason }
  }

  return { parts, soFar: () => checkUsage(null, limits, units) }
}
