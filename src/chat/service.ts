import { type AnswerStream, type CompletionService, chatFramer, OPENING_MS } from '../completions'
import type { ChatCompletion } from '../completions/schema'
import type { Call } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import { requestFromChat } from './from-wire'
import type { ChatOrder } from './schema'

type Deps = { completions: CompletionService; clock: Clock }

export type ChatService = ReturnType<typeof createChat>

/** `POST /chat/completions`: translates chat orders and answers; the completion pipeline does the work. */
export function createChat({ completions, clock }: Deps) {
  return {
    /** Throws 400 `empty_prompt`, and whatever the pipeline throws. */
    complete(call: Call, order: ChatOrder): Promise<ChatCompletion> {
      return completions.pipeline.complete(call, requestFromChat(order))
    },

    stream(call: Call, order: ChatOrder): AnswerStream {
      const request = requestFromChat(order)
      const source: AnswerStream['source'] = (write) => completions.pipeline.stream(call, request, write)
      const includeUsage = order.stream_options?.include_usage === true
      return { source, frame: chatFramer(clock, includeUsage), endsWithDone: true, openingMs: OPENING_MS }
    },
  }
}
