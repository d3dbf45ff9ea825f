import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import type { Streams } from '../http/sse'
import { checked, t } from '../kernel/schema'
import { ChatCompletion, Completion, CompletionInput } from './schema'
import type { CompletionService } from './service'

/** `Cache-Control: no-cache` skips the look-up and refreshes the entry (contract 22.1). */
const wantsFresh = (request: Request) => /\bno-cache\b|\bno-store\b/i.test(request.headers.get('cache-control') ?? '')

export const completionRoutes = (completions: CompletionService, streams: Streams, guard: Guard) =>
  new Elysia({ tags: ['Completions'] }).use(guard).post(
    '/completions',
    async ({ body, request, set, exchange, route }) => {
      const call = toCall({ exchange, request, route })
      const fresh = wantsFresh(request)
      if (body.stream) {
        const stream = await completions.stream(call, body, fresh)
        return streams.open({ ...stream, exchange, request, route }) as never
      }
      exchange.keepOpen()
      const completion = await completions.complete(call, body, fresh)
      set.headers['x-cache'] = '_cached' in completion ? 'HIT' : 'MISS'
      return completion
    },
    {
      scope: 'completions',
      idempotent: true,
      timeLimit: 'own',
      body: checked(CompletionInput),
      response: {
        200: answer(t.Union([Completion, ChatCompletion])),
        ...errors(400, 401, 402, 403, 404, 413, 415, 429, 500, 503, 504),
      },
      detail: {
        summary: 'Answer a prompt',
        description:
          'With `stream: true` the answer is `text/event-stream`; with `format: "compat"` it is a chat completion object.',
        'x-streams': true,
      } as object,
    },
  )
