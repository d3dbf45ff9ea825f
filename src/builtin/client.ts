import type { Driver, EngineAnswer, EnginePart, EngineRequest } from '../engines'
import type { Clock } from '../kernel/clock'
import { browsingCall } from './acting/browse'
import { callsFor, nextStep, stillCalls } from './acting/choose'
import { readQuestion } from './question'
import { answerQuestion } from './skills'

/**
 * The built-in engine: deterministic, in process, free. It does what ordinary code can do, says so when a request
 * needs a language model, and is never presented as one (design 5).
 */
export function createBuiltinDriver({ clock }: { clock: Pick<Clock, 'now'> }): Driver {
  const take = (request: EngineRequest): EngineAnswer => {
    request.signal.throwIfAborted()
    const question = readQuestion(request, clock.now())
    const goesOn = question.findings.length > 0 && !stillCalls(question.choice)
    const browsing = browsingCall(question)
    const wanted = browsing ?? (goesOn ? nextStep(question) : callsFor(question))
    const toolCalls = question.oneCallATurn ? wanted.slice(0, 1) : wanted
    if (toolCalls.length) return { text: '', toolCalls, finish: 'tool-calls', usage: null }
    return { text: answerQuestion(question), toolCalls, finish: 'stop', usage: null }
  }

  return {
    complete: async (request) => take(request),

    /** Streams word by word, because clients expect several parts; the whole text is ready at once. */
    async *stream(request): AsyncGenerator<EnginePart> {
      const { text, toolCalls, finish } = take(request)
      for (const [word] of text.matchAll(/\s*\S+/g)) {
        request.signal.throwIfAborted()
        yield { type: 'text-delta', text: word }
      }
      for (const call of toolCalls) yield { type: 'tool-call', ...call }
      yield { type: 'finish', reason: finish }
    },

    probe: async () => [],
  }
}
