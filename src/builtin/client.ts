import { type Driver, type EngineAnswer, EngineFailure, type EnginePart, type EngineRequest } from '../engines'
import type { Clock } from '../kernel/clock'
import { randomFraction } from '../kernel/crypto'
import { browsingCall } from './acting/browse'
import { callsFor, nextStep, stillCalls } from './acting/choose'
import type { BuiltinSettings } from './config'
import { readQuestion } from './question'
import { answerQuestion } from './skills'

type Deps = { clock: Pick<Clock, 'now' | 'sleep'>; habits?: Partial<BuiltinSettings> }

/**
 * The built-in engine: deterministic, in process, free. It does what ordinary code can do, says so when a request
 * needs a language model, and is never presented as one (design 5).
 */
export function createBuiltinDriver({ clock, habits = {} }: Deps): Driver {
  const { builtinDelayMs = 0, builtinFailRate = 0, builtinChunk = 1 } = habits

  async function take(request: EngineRequest): Promise<EngineAnswer> {
    if (builtinDelayMs) await clock.sleep(builtinDelayMs, request.signal)
    if (builtinFailRate && randomFraction() < builtinFailRate)
      throw new EngineFailure('server', 'failed on purpose, because SVC_BUILTIN_FAIL_RATE is set')
    return answer(request)
  }

  function answer(request: EngineRequest): EngineAnswer {
    request.signal.throwIfAborted()
    const question = readQuestion(request, clock.now())
    const goesOn = question.findings.length > 0 && !stillCalls(question.choice)
    const browsing = browsingCall(question)
    const wanted = browsing ?? (goesOn ? nextStep(question) : callsFor(question))
    const toolCalls = question.oneCallATurn ? wanted.slice(0, 1) : wanted
    const plain = { reasoning: '', refusal: '', toolCalls, usage: null }
    if (toolCalls.length) return { ...plain, text: '', finish: 'tool-calls' }
    return { ...plain, text: answerQuestion(question), finish: 'stop' }
  }

  return {
    complete: take,

    /** Streams word by word unless told otherwise, because clients expect several parts; the whole text is ready at once. */
    async *stream(request): AsyncGenerator<EnginePart> {
      const { text, toolCalls, finish } = await take(request)
      const words = [...text.matchAll(/\s+\S*|\S+/g)].map(([word]) => word)
      for (let at = 0; at < words.length; at += builtinChunk) {
        request.signal.throwIfAborted()
        yield { type: 'text-delta', text: words.slice(at, at + builtinChunk).join('') }
      }
      for (const call of toolCalls) yield { type: 'tool-call', ...call }
      yield { type: 'finish', reason: finish }
    },

    probe: async () => [],
  }
}
