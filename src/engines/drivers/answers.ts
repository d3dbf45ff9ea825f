import type { EngineAnswer, EnginePart } from '../engine'

const typeOf = (response: Response): string => response.headers.get('content-type') ?? ''

export const isEventStream = (response: Response): boolean => /^text\/event-stream\b/i.test(typeOf(response))
export const isJson = (response: Response): boolean => /^application\/json\b/i.test(typeOf(response))

/** Reads a stream to its end as one answer. Pieces of calls are left out, because whole calls follow. */
export async function collect(parts: AsyncIterable<EnginePart>): Promise<EngineAnswer> {
  const answer: EngineAnswer = { text: '', reasoning: '', refusal: '', toolCalls: [], finish: 'stop', usage: null }
  for await (const part of parts) {
    if (part.type === 'text-delta') answer.text += part.text
    else if (part.type === 'reasoning-delta') answer.reasoning += part.text
    else if (part.type === 'refusal-delta') answer.refusal += part.text
    else if (part.type === 'tool-call') answer.toolCalls.push(callOf(part))
    else if (part.type === 'usage') answer.usage = part
    else if (part.type === 'finish') answer.finish = part.reason
  }
  return answer
}

const callOf = ({ type: _, ...call }: Extract<EnginePart, { type: 'tool-call' }>) => call

/** A whole answer as the parts of a stream. */
export function* partsOfAnswer(answer: EngineAnswer): Generator<EnginePart> {
  if (answer.reasoning) yield { type: 'reasoning-delta', text: answer.reasoning }
  if (answer.text) yield { type: 'text-delta', text: answer.text }
  if (answer.refusal) yield { type: 'refusal-delta', text: answer.refusal }
  for (const call of answer.toolCalls) yield { type: 'tool-call', ...call }
  if (answer.usage) yield { type: 'usage', ...answer.usage }
  yield { type: 'finish', reason: answer.finish }
}

/** Waits for a promise at most `ms`; null when it comes too late or fails. */
export async function atMost<T>(ms: number, something: Promise<T>): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), ms)
  const result = await Promise.race([something, late]).catch(() => null)
  clearTimeout(timer)
  return result
}
