import { type EngineAnswer, EngineFailure, type EnginePart, type FinishReason, type StatedUsage } from '../../engine'
import { finishOf, finishWith } from '../calls'
import type { WireEvent } from '../events'
import { createCallJoiner } from './calls'

type WireText = {
  content?: unknown
  reasoning_content?: unknown
  reasoning?: unknown
  refusal?: unknown
  tool_calls?: unknown
}
type WireChoice = { delta?: WireText | null; message?: WireText | null; finish_reason?: unknown }
type WireAnswer = { choices?: WireChoice[] | null; usage?: WireUsage | null }
type WireUsage = { prompt_tokens?: unknown; completion_tokens?: unknown }

/** Turns an error that the upstream reported inside its answer into the failure that it names. */
export type ExplainError = (error: unknown) => EngineFailure

/** Reads the events of a stream: text, thoughts and pieces of calls at once, the rest at the end. */
export function createStreamReader(explain: ExplainError) {
  const joiner = createCallJoiner()
  let finish: FinishReason | null = null
  let usage: StatedUsage | null = null
  let isCounted = false
  let any = false

  return {
    /** The finish came, and with it or after it the usage: nothing is missing any more. */
    get isWhole() {
      return isCounted
    },
    /** The finish came; the usage may follow. */
    get isFinished() {
      return finish !== null
    },

    /** What some events add, each kind joined. Throws `malformed`, and what an event reports as an error. */
    read(events: readonly WireEvent[]): EnginePart[] {
      let text = ''
      let reasoning = ''
      let refusal = ''
      const calls: EnginePart[] = []
      for (const { value } of events) {
        const wire = readObject(value, explain)
        const choice = wire.choices?.[0]
        const said = choice?.delta ?? choice?.message
        any = true
        if (said) {
          text += textOf(said.content)
          reasoning += reasoningOf(said)
          refusal += textOf(said.refusal)
          if (said.tool_calls)
            for (const delta of joiner.add(said.tool_calls)) calls.push({ type: 'call-delta', ...delta })
        }
        if (choice?.finish_reason) finish = finishOf(String(choice.finish_reason))
        if (wire.usage && !(usage && isZero(wire.usage))) {
          usage = readUsage(wire.usage)
          isCounted = finish !== null
        }
      }
      const parts: EnginePart[] = reasoning ? [{ type: 'reasoning-delta', text: reasoning }] : []
      if (text) parts.push({ type: 'text-delta', text })
      if (refusal) parts.push({ type: 'refusal-delta', text: refusal })
      return parts.concat(calls)
    },

    /** The last parts of the stream. Throws `malformed` without any event, `truncated` without a finish. */
    *end(): Generator<EnginePart> {
      if (!any) throw new EngineFailure('malformed', 'the stream holds no event')
      if (!finish) throw new EngineFailure('truncated', 'the stream ended before its finish')
      const calls = joiner.calls()
      for (const call of calls) yield { type: 'tool-call', ...call }
      if (usage) yield { type: 'usage', ...usage }
      yield { type: 'finish', reason: finishWith(finish, calls) }
    },
  }
}

/** Reads the body of an answer that is not streamed. Throws `malformed` when it holds no message. */
export function readAnswer(body: unknown, explain: ExplainError): EngineAnswer {
  const wire = readObject(body, explain)
  const choice = wire.choices?.[0]
  const message = choice?.message
  if (!message) throw new EngineFailure('malformed', 'the answer holds no message')
  const joiner = createCallJoiner()
  joiner.add(message.tool_calls)
  const toolCalls = joiner.calls()
  const finish = choice.finish_reason ? finishOf(String(choice.finish_reason)) : 'stop'
  return {
    text: textOf(message.content),
    reasoning: reasoningOf(message),
    refusal: textOf(message.refusal),
    toolCalls,
    finish: finishWith(finish, toolCalls),
    usage: wire.usage ? readUsage(wire.usage) : null,
  }
}

/** Text, or the texts of a list of parts. Throws `malformed` for anything else. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (content === null || content === undefined) return ''
  if (Array.isArray(content)) return content.map((part) => textOfPart(part)).join('')
  throw new EngineFailure('malformed', 'the content of the answer is no text')
}

const textOfPart = (part: unknown): string => {
  if (typeof part === 'string') return part
  const { type, text } = (part ?? {}) as { type?: unknown; text?: unknown }
  return typeof text === 'string' && (type === undefined || type === 'text' || type === 'output_text') ? text : ''
}

/** Servers call it by one of two names, and some send both. */
const reasoningOf = ({ reasoning_content: long, reasoning: short }: WireText): string =>
  typeof long === 'string' ? long : typeof short === 'string' ? short : ''

function readObject(value: unknown, explain: ExplainError): WireAnswer {
  if (typeof value !== 'object' || value === null) throw new EngineFailure('malformed', 'the answer is not an object')
  if ('error' in value && value.error) throw explain(value)
  const { choices } = value as WireAnswer
  if (choices !== null && choices !== undefined && !Array.isArray(choices)) {
    throw new EngineFailure('malformed', 'the choices of the answer are not a list')
  }
  return value
}

const isZero = (usage: WireUsage): boolean => !usage.prompt_tokens && !usage.completion_tokens

const readUsage = (usage: WireUsage): StatedUsage => ({
  promptTokens: usage.prompt_tokens,
  completionTokens: usage.completion_tokens,
})
