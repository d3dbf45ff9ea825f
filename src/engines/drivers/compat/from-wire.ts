import { type EngineAnswer, EngineFailure, type EnginePart, type FinishReason, type StatedUsage } from '../../engine'
import { finishWith } from '../calls'
import { readCalls, type WireCall, wireCalls } from './calls'

type WireText = { content?: unknown; tool_calls?: unknown }
type WireChoice = { delta?: WireText | null; message?: WireText | null; finish_reason?: unknown }
type WireAnswer = { choices?: WireChoice[] | null; usage?: WireUsage | null; error?: unknown }
type WireUsage = { prompt_tokens?: unknown; completion_tokens?: unknown }

/** Reads the events of a stream: text is returned at once, tool calls, usage and finish at the end. */
export function createStreamReader() {
  const pieces: WireCall[] = []
  let finish: FinishReason | null = null
  let usage: StatedUsage | null = null
  let any = false

  return {
    /** The text of some `data:` lines, without `[DONE]`. Throws `malformed`. */
    read(events: readonly string[]): string {
      let text = ''
      for (const data of events) {
        const wire = readObject(data)
        const choice = wire.choices?.[0]
        any = true
        if (typeof choice?.delta?.content === 'string') text += choice.delta.content
        if (choice?.delta?.tool_calls) pieces.push(...wireCalls(choice.delta.tool_calls))
        if (choice?.finish_reason) finish = readFinish(choice.finish_reason)
        if (wire.usage) usage = readUsage(wire.usage)
      }
      return text
    },

    /** The last parts of the stream. Throws `malformed` without any event, `truncated` without a finish. */
    *end(): Generator<EnginePart> {
      if (!any) throw new EngineFailure('malformed', 'the stream holds no event')
      if (!finish) throw new EngineFailure('truncated', 'the stream ended before its finish')
      const calls = readCalls(pieces)
      for (const call of calls) yield { type: 'tool-call', ...call }
      if (usage) yield { type: 'usage', ...(usage as StatedUsage) }
      yield { type: 'finish', reason: finishWith(finish, calls) }
    },
  }
}

/** Reads the body of an answer that is not streamed. Throws `malformed` when it holds no message. */
export function readAnswer(body: string): EngineAnswer {
  const wire = readObject(body)
  const choice = wire.choices?.[0]
  const content = choice?.message?.content
  const toolCalls = readCalls(wireCalls(choice?.message?.tool_calls))
  if (!choice?.message || (typeof content !== 'string' && content !== null && !toolCalls.length)) {
    throw new EngineFailure('malformed', 'the answer holds no message')
  }
  return {
    text: typeof content === 'string' ? content : '',
    toolCalls,
    finish: finishWith(readFinish(choice.finish_reason) ?? 'stop', toolCalls),
    usage: readUsage(wire.usage),
  }
}

function readObject(text: string): WireAnswer {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new EngineFailure('malformed', 'the answer is not JSON', { cause })
  }
  if (typeof value !== 'object' || value === null) throw new EngineFailure('malformed', 'the answer is not an object')
  if ('error' in value && value.error) throw new EngineFailure('server', 'the upstream reported an error in its answer')
  const { choices } = value as WireAnswer
  if (choices !== null && choices !== undefined && !Array.isArray(choices)) {
    throw new EngineFailure('malformed', 'the choices of the answer are not a list')
  }
  return value
}

const FINISHES = new Map<unknown, FinishReason>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['content_filter', 'content-filter'],
])

/** Null while the answer goes on; an unknown reason counts as `stop`. */
const readFinish = (reason: unknown): FinishReason | null =>
  typeof reason === 'string' ? (FINISHES.get(reason) ?? 'stop') : null

const readUsage = (usage: WireUsage | null | undefined): StatedUsage | null =>
  usage ? { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens } : null
