import { Elysia } from 'elysia'
import { ignoredHeader } from '../completions'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import type { Streams } from '../http/sse'
import { checked, checkedQuery, t } from '../kernel/schema'
import { type EmbeddingDeps, EmbeddingInput, EmbeddingList, embed } from './embeddings'
import {
  answerResponse,
  type BackgroundDeps,
  beginResponse,
  cancelResponse,
  countInput,
  openResponse,
  removeResponse,
  streamBegun,
  streamResponse,
  streamStored,
} from './responses'
import { InputTokens, ItemPage, ItemQuery, ResponseBody, ResponseDeleted, ResponseInput } from './responses-schema'
import { doorOf } from './routes-bases'
import { getResponse, listInputItems } from './stored'

const ById = checkedQuery(t.Object({ id: t.String() }))

type Write = (frames: string) => void | Promise<void>

const AS_FRAMES = { frame: (frames: string) => frames, endsWithDone: false, openingMs: 10_000 }

const ReadQuery = t.Object({
  stream: t.Optional(t.Boolean()),
  starting_after: t.Optional(t.Integer({ minimum: 0, description: 'Leaves out events up to this number' })),
})

export const responseRoutes = (deps: BackgroundDeps, streams: Streams, guard: Guard) =>
  new Elysia({ tags: ['Responses'] })
    .use(guard)
    .post(
      '/responses',
      async ({ body, request, set, exchange, route }) => {
        const call = toCall({ exchange, request, route })
        const response = await openResponse(deps, call, body)
        Object.assign(set.headers, ignoredHeader(response.ignored))
        if (body.background && body.stream)
          return streams.open({
            source: (write: Write) => streamBegun(deps, call, body, response, write),
            ...AS_FRAMES,
            exchange,
            request,
            route,
          }) as never
        if (body.background) return beginResponse(deps, call, body, response)
        if (body.stream)
          return streams.open({ ...streamResponse(deps, call, response), exchange, request, route }) as never
        exchange.keepOpen()
        return answerResponse(deps, call, response)
      },
      {
        scope: 'completions',
        idempotent: true,
        timeLimit: 'own',
        native: true,
        body: checked(ResponseInput),
        response: { 200: answer(ResponseBody), ...errors(400, 401, 402, 403, 404, 409, 413, 415, 429, 500, 503, 504) },
        detail: { summary: 'Answer in the Responses format', 'x-streams': true } as object,
      },
    )
    .post(
      '/responses/input_tokens',
      ({ body, request, exchange, route }) => countInput(deps, toCall({ exchange, request, route }), body),
      {
        scope: 'completions',
        body: checked(ResponseInput),
        response: { 200: answer(InputTokens), ...errors(400, 401, 403, 404, 409, 413, 415, 429) },
        detail: { summary: 'Count the input tokens of a response' },
      },
    )
    .get(
      '/responses/:id',
      async ({ params, query, request, exchange, route }) => {
        const call = toCall({ exchange, request, route })
        if (!query.stream) return (await getResponse(deps, call, params.id)).body
        const source = streamStored(deps, call, params.id, query.starting_after ?? -1)
        return streams.open({ source, ...AS_FRAMES, exchange, request, route }) as never
      },
      {
        scope: 'completions',
        params: ById,
        query: checkedQuery(ReadQuery),
        response: { 200: answer(ResponseBody), ...errors(401, 403, 404, 429) },
        detail: { summary: 'Read a stored response', 'x-streams': true } as object,
      },
    )
    .delete(
      '/responses/:id',
      ({ params, request, exchange, route }) => removeResponse(deps, toCall({ exchange, request, route }), params.id),
      {
        scope: 'completions',
        params: ById,
        response: { 200: answer(ResponseDeleted), ...errors(401, 403, 404, 429) },
        detail: { summary: 'Delete a stored response' },
      },
    )
    .post(
      '/responses/:id/cancel',
      ({ params, request, exchange, route }) => cancelResponse(deps, toCall({ exchange, request, route }), params.id),
      {
        scope: 'completions',
        params: ById,
        response: { 200: answer(ResponseBody), ...errors(400, 401, 403, 404, 429) },
        detail: { summary: 'Cancel a response that runs in the background' },
      },
    )
    .get(
      '/responses/:id/input_items',
      ({ params, query, request, exchange, route }) =>
        listInputItems(deps, toCall({ exchange, request, route }), params.id, query),
      {
        scope: 'completions',
        params: ById,
        query: checkedQuery(ItemQuery),
        response: { 200: answer(ItemPage), ...errors(401, 403, 404, 429) },
        detail: { summary: 'List the input items of a stored response' },
      },
    )

/** `POST /embeddings` (contract 31). */
export const embeddingRoutes = (deps: EmbeddingDeps, guard: Guard) =>
  new Elysia({ tags: ['Embeddings'] })
    .use(guard)
    .post('/embeddings', (context) => embed(deps, toCall(context), context.body, doorOf(context.request).model), {
      scope: 'completions',
      idempotent: true,
      timeLimit: 'own',
      native: true,
      body: checked(EmbeddingInput),
      response: { 200: answer(EmbeddingList), ...errors(400, 401, 402, 403, 404, 409, 413, 415, 429, 500, 503, 504) },
      detail: {
        summary: 'Turn texts into vectors',
        description:
          'Without an upstream, dev mode answers with `svc-1-embed-local`, which compares spelling and not meaning; ' +
          'production answers 503 `embeddings_unavailable`.',
      },
    })
