import type { EngineAnswer, EnginePart, Sink } from './engine'

/** Delivers a whole answer, in parts unless the sink takes it whole. Returns a promise if the reader is behind. */
export function giveAnswer(answer: EngineAnswer, sink: Sink): void | Promise<void> {
  if (sink.whole) return sink.whole(answer)
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
  }
}
