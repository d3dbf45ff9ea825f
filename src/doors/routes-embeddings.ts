import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checked } from '../kernel/schema'
import { type EmbeddingDeps, EmbeddingInput, EmbeddingList, embed } from './embeddings'
import { doorOf } from './routes-bases'

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
