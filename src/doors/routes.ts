import { Elysia } from 'elysia'
import { ignoredHeader } from '../completions'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import type { Streams } from '../http/sse'
import { checked } from '../kernel/schema'
import { answerResponse, openResponse, type ResponseDeps, streamResponse } from './responses'
import { ResponseBody, ResponseInput } from './responses-schema'

export const responseRoutes = (deps: ResponseDeps, streams: Streams, guard: Guard) =>
  new Elysia({ tags: ['Responses'] }).use(guard).post(
    '/responses',
    ({ body, request, set, exchange, route }) => {
      const call = toCall({ exchange, request, route })
      const response = openResponse(deps, call, body)
      Object.assign(set.headers, ignoredHeader(response.ignored))
      if (body.stream)
        return streams.open({ ...streamResponse(deps, call, response), exchange, request, route }) as never
      exchange.keepOpen()
      return answerResponse(deps, call, response)
    },
    {
      scope: 'completions',
      idempotent: true,
      timeLimit: 'own',
      body: checked(ResponseInput),
      response: { 200: answer(ResponseBody), ...errors(400, 401, 402, 403, 404, 413, 415, 429, 500, 503, 504) },
      detail: { summary: 'Answer in the Responses format', 'x-streams': true } as object,
    },
  )
