import { Elysia } from 'elysia'
import type { ChargingService } from '../charging'
import { type CompletionService, nameIgnored, requestFromChat, wantsFresh } from '../completions'
import { ChatInput } from '../completions/schema'
import { answer, errors, statusOf, toEnvelope } from '../http/envelope'
import { toAppError } from '../http/faults'
import { type Guard, toCall } from '../http/guard'
import { MAX_JSON_BYTES, payloadTooLarge } from '../http/intake'
import type { Streams } from '../http/sse'
import { operator, tenant, tenantRoutes } from '../http/verbs'
import { type Call, type ChatParameters, ownerOf, requireScope } from '../kernel/caller'
import { invalidInput } from '../kernel/errors'
import { checked, checkedQuery, type Standard, type TSchema, t } from '../kernel/schema'
import { readAs } from '../kernel/validation'
import { NotedConversation } from '../skills/conversations/schema'
import { cancelBatch, createBatch, getBatch, listBatches, overseeBatch, overseeBatches, stopBatch } from './batches'
import type { LineHandlers } from './batches-job'
import { objectIn } from './batches-lines'
import {
  Batch,
  type BatchEndpoint,
  BatchInput,
  BatchList,
  BatchQuery,
  OverseenBatch,
  OverseenBatches,
  OverseenBatchesQuery,
} from './batches-schema'
import { itemIn, pageOf, readItems } from './conversations'
import { type EmbeddingDeps, EmbeddingInput, EmbeddingList, embed } from './embeddings'
import { type FileDeps, filesRead, givenFiles } from './files'
import { readMessage } from './messages-input'
import { MessageInput } from './messages-schema'
import {
  answerResponse,
  type BackgroundDeps,
  beginResponse,
  cancelResponse,
  countInput,
  openResponse,
  type ResponseDeps,
  removeResponse,
  streamBegun,
  streamResponse,
  streamStored,
} from './responses'
import {
  InputTokens,
  ItemPage,
  ItemQuery,
  Metadata,
  NewItems,
  ResponseBody,
  ResponseDeleted,
  ResponseInput,
} from './responses-schema'
import { baseRulesOf, honoursParameters } from './routes-bases'
import { errorFormatOf, presented } from './routes-messages'
import { getResponse, listInputItems } from './stored'

const ById = checkedQuery(t.Object({ id: t.String() }))

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
        Object.assign(response.request, nameIgnored(set.headers, response.ignored))
        if (body.background && body.stream)
          return streams.open({
            source: (write: (frames: string) => void | Promise<void>) => streamBegun(deps, call, body, response, write),
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
        body: checked(ResponseInput, { undeclared: 'kept' }),
        response: { 200: answer(ResponseBody), ...errors(400, 401, 402, 403, 404, 409, 413, 415, 429, 500, 503, 504) },
        detail: { summary: 'Answer in the Responses format', 'x-streams': true } as object,
      },
    )
    .post(
      '/responses/input_tokens',
      ({ body, request, exchange, route }) => countInput(deps, toCall({ exchange, request, route }), body),
      {
        scope: 'completions',
        body: checked(ResponseInput, { undeclared: 'kept' }),
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

const OneItem = t.Object({}, { additionalProperties: true, description: 'The item' })

/** `/conversations` in the format of other services (docs/api.md 29.8). */
export const itemRoutes = (deps: FileDeps & Pick<ResponseDeps, 'conversations'>, guard: Guard) => {
  const { store, conversations } = deps
  return tenantRoutes(
    [
      tenant.post(
        '/conversations',
        {
          body: t.Object({ items: t.Optional(NewItems), metadata: Metadata }),
          reply: NotedConversation,
          idempotent: true,
          summary: 'Begin a conversation, with items or without',
        },
        async (call, { body: { items = [], metadata } }) => {
          const messages = await readItems(deps, call, items)
          return conversations.create(call, { messages, metadata: metadata ?? null })
        },
      ),
      tenant.post(
        '/conversations/:id',
        {
          body: t.Object({ metadata: Metadata }),
          reply: NotedConversation,
          errors: [404],
          idempotent: true,
          summary: 'Replace the metadata of a conversation',
        },
        (call, { id, body }) => conversations.note(call, id, body.metadata ?? null),
      ),
      tenant.get(
        '/conversations/:id/items',
        { query: ItemQuery, reply: ItemPage, errors: [404], summary: 'List the items of a conversation, newest first' },
        async (call, { id, query }) => {
          const wanted = { ...query, limit: query.limit + 1 }
          const rows = await conversations.messagesOf(store.read, ownerOf(call.caller), id, wanted)
          return pageOf(rows.slice(0, query.limit), rows.length > query.limit)
        },
      ),
      tenant.post(
        '/conversations/:id/items',
        {
          reply: ItemPage,
          errors: [404],
          body: t.Object({ items: NewItems }),
          idempotent: true,
          summary: 'Add items to a conversation',
        },
        async (call, { id, body: { items } }) =>
          conversations.addTo(call, id, await readItems(deps, call, items), (rows) => pageOf(rows, false)),
      ),
      tenant.get(
        '/conversations/:id/items/:item',
        { reply: OneItem, errors: [404], summary: 'Read one item of a conversation' },
        async (call, { ids }) => itemIn(await conversations.messageOf(ownerOf(call.caller), ids.id!, ids.item!)),
      ),
      tenant.delete(
        '/conversations/:id/items/:item',
        { reply: NotedConversation, errors: [404], summary: 'Delete one item of a conversation' },
        (call, { ids }) => conversations.removeMessage(call, ids.id!, ids.item!),
      ),
    ],
    guard,
    { scope: 'completions', tag: 'Conversations' },
  )
}

/** `POST /embeddings` (docs/api.md 31). */
export const embeddingRoutes = (deps: EmbeddingDeps, guard: Guard) =>
  new Elysia({ tags: ['Embeddings'] }).use(guard).post(
    '/embeddings',
    ({ body, request, set, exchange, route }) =>
      embed(deps, toCall({ exchange, request, route }), body, {
        named: baseRulesOf(request).model,
        fresh: wantsFresh(request),
        looked(isHit) {
          set.headers['x-cache'] = isHit ? 'HIT' : 'MISS'
        },
      }),
    {
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
          'production answers 503 `embeddings_unavailable`. Vectors of texts that you sent before cost nothing for a ' +
          'day (`X-Cache`); `Cache-Control: no-cache` makes new ones.',
      },
    },
  )

type BatchRouteDeps = Parameters<typeof overseeBatches>[0]

/** `/batches` (docs/api.md 32.6): many calls in one file. Operators see the batches of all owners. */
export const batchVerbs = (deps: BatchRouteDeps) => [
  tenant.get(
    '/batches',
    {
      query: BatchQuery,
      reply: BatchList,
      summary: 'List your batches, newest first',
    },
    (call, { query }) => listBatches(deps, call, query),
  ),
  operator.get(
    '/batches',
    { holds: 'facts', owned: true, query: OverseenBatchesQuery, reply: OverseenBatches },
    (_, { query, owner }) => overseeBatches(deps, query, owner),
  ),
  tenant.get('/batches/:id', { reply: Batch, errors: [404], summary: 'Read the state of a batch' }, (call, { id }) =>
    getBatch(deps, call, id),
  ),
  operator.get('/batches/:id', { holds: 'facts', reply: OverseenBatch }, (call, { id }) =>
    overseeBatch(deps, call, id),
  ),
  tenant.post(
    '/batches/:id/cancel',
    {
      reply: Batch,
      errors: [404, 409],
      ignored: true,
      summary: 'Cancel a batch: lines that run end, and its files are written',
    },
    (call, { id }) => cancelBatch(deps, call, id),
  ),
  operator.post('/batches/:id/cancel', { reply: OverseenBatch, ignored: true }, async (call, { id }) => {
    await stopBatch(deps, call, id)
    return overseeBatch(deps, call, id)
  }),
]

export const batchRoutes = (deps: BatchRouteDeps, guard: Guard) =>
  tenantRoutes(batchVerbs(deps), guard, { scope: 'completions', tag: 'Batches' }).use(
    new Elysia({ tags: ['Batches'] })
      .use(guard)
      .post('/batches', (context) => createBatch(deps, toCall(context), context.body), {
        scope: 'completions',
        idempotent: true,
        timeLimit: 'own',
        body: checked(BatchInput),
        response: { 200: answer(Batch), ...errors(400, 401, 402, 403, 404, 409, 413, 415, 429, 503) },
        detail: {
          summary: 'Run the calls of a file',
          description:
            'Each line of the file is one call: `{"custom_id", "method":"POST", "url", "body"}`. Answers and failures ' +
            'are in two files once the batch has ended, within 24 hours.',
        },
      }),
  )

type LineDeps = ResponseDeps &
  Omit<EmbeddingDeps, 'charging'> & {
    completions: CompletionService
    charging: Pick<ChargingService, 'run'>
    settings: { chatParameters: ChatParameters }
  }

type LineHandler = { schema: Standard<TSchema>; run(deps: LineDeps, call: Call, body: never): Promise<object> }

/** Answers lines by endpoint, with the handler and the body schema of the route that `url` names. */
const LINE_HANDLERS: Readonly<Record<BatchEndpoint, LineHandler>> = {
  '/v1/chat/completions': {
    schema: checked(ChatInput, { undeclared: 'kept' }),
    run: async (deps, call, input: ChatInput) => {
      const read = await filesRead(deps, call, input)
      const honours = honoursParameters(call.caller, deps.settings.chatParameters, true)
      const request = requestFromChat(read.body, honours, true)
      const warnings = [...request.warnings, ...read.warnings]
      return deps.completions.pipeline.complete(call, { ...request, ...givenFiles(read), warnings })
    },
  },
  '/v1/responses': {
    schema: checked(ResponseInput, { undeclared: 'kept' }),
    run: async (deps, call, body) => answerResponse(deps, call, await openResponse(deps, call, body)),
  },
  '/v1/messages': {
    schema: checked(MessageInput, { undeclared: 'kept' }),
    run: async (deps, call, input: MessageInput) => {
      const read = await filesRead(deps, call, input)
      const message = readMessage(read.body, read.warnings)
      Object.assign(message.request, givenFiles(read))
      return deps.completions.pipeline.complete(call, presented(message, deps.engines))
    },
  },
  '/v1/embeddings': {
    schema: checked(EmbeddingInput),
    run: (deps, call, body) => embed(deps, call, body, { named: null, fresh: true, looked: () => undefined }),
  },
}

/** Error codes that may go away when the engine or the database is back. */
const PASSING = ['engine_unavailable', 'storage_unavailable', 'service_unavailable']

/** Answers the lines of batches through the endpoints that they name. */
export const createLineHandlers = (deps: LineDeps): LineHandlers => ({
  async run(endpoint, call, line) {
    if (line.byteLength > MAX_JSON_BYTES) throw payloadTooLarge()
    const { body } = objectIn(line) as { body: Record<string, unknown> }
    for (const member of ['stream', 'background'])
      if (body[member] === true) throw invalidInput(member, `A line of a batch cannot have "${member}".`)
    requireScope(call.caller, 'completions', call.route)
    const { schema, run } = LINE_HANDLERS[endpoint]
    return run(deps, call, readAs(schema, body) as never)
  },
  failure(endpoint, error, requestId) {
    const known = toAppError(undefined, error, endpoint, { methodsOf: () => [] })
    const face = errorFormatOf(`/api${endpoint}`)
    return {
      status: face?.statusOf(known) ?? statusOf(known),
      body: face?.bodyOf(known, requestId) ?? toEnvelope(known, requestId),
      rest: known.kind === 'unpaid' || known.kind === 'unauthenticated',
      again: PASSING.includes(known.code),
    }
  },
})
