import type { Clock } from '../../../kernel/clock'
import type { Driver, EngineAnswer, EnginePart, EngineRequest } from '../../engine'
import { readQuestion } from './question'
import { answerQuestion } from './skills'

/**
 * The built-in engine: deterministic, embedded, free. It does what plain code can honestly do and says
 * so when something needs a language model; it is never presented as one (design 5).
 */
export function createBuiltinDriver({ clock }: { clock: Pick<Clock, 'now'> }): Driver {
  const say = (request: EngineRequest): string => {
    request.signal.throwIfAborted()
    return answerQuestion(readQuestion(request, clock.now()))
  }

  return {
    complete: async (request): Promise<EngineAnswer> => ({
      text: say(request),
      toolCalls: [],
      finish: 'stop',
      usage: null,
    }),

    /** Word by word, as a reader expects of a stream; each word is ready at once. */
    async *stream(request): AsyncGenerator<EnginePart> {
      for (const [word] of say(request).matchAll(/\s*\S+/g)) {
        request.signal.throwIfAborted()
        yield { type: 'text-delta', text: word }
      }
      yield { type: 'finish', reason: 'stop' }
    },

    probe: async () => undefined,
  }
}
