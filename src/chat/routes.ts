import { Elysia } from 'elysia'
import { ChatCompletion } from '../completions/schema'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import type { Streams } from '../http/sse'
import { checked } from '../kernel/schema'
import { ChatOrder } from './schema'
import type { ChatService } from './service'

/** What chat clients call unless they are told otherwise, and what to call here. */
export const NOT_SERVED: Readonly<Record<string, string>> = {
  '/responses':
    'Call POST /api/v1/chat/completions: chat.completions.create() of a client, or provider.chat(model) where models default to responses.',
  '/messages': 'This server speaks chat completions: POST /api/v1/chat/completions takes the same key.',
  '/embeddings': 'It has no embeddings.',
}

export const chatRoutes = (chat: ChatService, streams: Streams, guard: Guard) =>
  new Elysia({ tags: ['Chat'] }).use(guard).post(
    '/chat/completions',
    ({ body, request, exchange, route }) => {
      const call = toCall({ exchange, request, route })
      if (body.stream) return streams.open({ ...chat.stream(call, body), exchange, request, route }) as never
      exchange.keepOpen()
      return chat.complete(call, body)
    },
    {
      scope: 'completions',
      idempotent: true,
      timeLimit: 'own',
      body: checked(ChatOrder),
      response: { 200: answer(ChatCompletion), ...errors(400, 401, 402, 403, 404, 413, 415, 429, 500, 503, 504) },
      detail: {
        summary: 'Answer chat messages in the chat-completions format',
        'x-streams': true,
      } as object,
    },
  )
