import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import { type Guard, JSON_TYPE } from '../http/guard'
import { type Clock, iso } from '../kernel/clock'
import { notFound } from '../kernel/errors'
import { checkedQuery, t } from '../kernel/schema'
import { type ChatModel, type ModelEntry, ModelList, ModelReply } from './schema'
import type { EngineService } from './service'

type Listed = ReturnType<EngineService['models']>[number]
type VectorModel = ReturnType<EngineService['embeddingModels']>[number]
type Entry = Pick<Listed, 'mode' | 'id' | 'label' | 'description' | 'status'> & { engine: string }

/** `created` of every model, which the chat format requires: 2026-01-01, when the engines were first listed. */
const LISTED_SINCE_S = 1_767_225_600

/** How long the text of the list is reused. A known change of an engine ends that at once. */
const KEPT_MS = 100

export function engineRoutes(engines: EngineService, clock: Clock, guard: Guard) {
  let kept = { bytes: Buffer.alloc(0), madeAt: Number.NEGATIVE_INFINITY, changes: -1 }

  /**
   * The list as JSON, with room at its end for the value of `request_id`. The list is long and clients ask for it often,
   * so only the end changes. The bytes are valid until the next call. A response copies them.
   */
  function listBytes(room: number): Buffer<ArrayBuffer> {
    const now = clock.monotonic()
    const changes = engines.changes()
    if (now - kept.madeAt < KEPT_MS && kept.changes === changes) return kept.bytes
    const listed = engines.models()
    // Chat clients wait for an answer, and a video is a job.
    const answering = listed.filter(({ status, kind }) => status !== 'down' && kind !== 'video')
    const vectors = engines.embeddingModels()
    const named = [
      ...answering.map((model) => toChatModel(model, engines)),
      ...vectors.filter(({ status }) => status !== 'down').map(toEmbeddingModel),
    ]
    const aliases = engines.listedAliases().flatMap(({ name, engine }) => {
      const model = named.find(({ id }) => id === engine)
      return model ? [{ ...model, id: name }] : []
    })
    const data = [...named, ...aliases]
    const list = {
      models: [...listed, ...vectors.map((model) => ({ ...model, mode: 'embedding' }))].map(toEntry),
      object: 'list',
      data,
      has_more: false,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    } satisfies Omit<ModelList, 'request_id'>
    const text = JSON.stringify(list).slice(0, -1)
    kept = { bytes: Buffer.from(`${text},"request_id":"${' '.repeat(room)}`), madeAt: now, changes }
    return kept.bytes
  }

  return new Elysia({ prefix: '/models', tags: ['Models'] })
    .use(guard)
    .get(
      '',
      ({ exchange, set }) => {
        set.headers['content-type'] = JSON_TYPE
        return (() => {
          const end = `${exchange.requestId}"}`
          const bytes = listBytes(end.length)
          bytes.write(end, bytes.length - end.length, 'latin1')
          return bytes
        }) as never
      },
      {
        scope: 'completions',
        native: true,
        response: { 200: answer(ModelList), ...errors(401, 403, 429) },
        detail: { summary: 'List the engines and the modes they serve' },
      },
    )
    .get(
      '/:id',
      ({ params }) => {
        const alias = engines.listedAliases().find(({ name }) => name === params.id)
        const id = alias?.engine ?? params.id
        const vectors = engines.embeddingModels().find((model) => model.id === id)
        if (vectors)
          return { ...toEntry({ ...vectors, mode: 'embedding' }), ...toEmbeddingModel(vectors), id: params.id }
        const found = engines.models().find((model) => model.id === id)
        if (!found) throw notFound('model')
        return { ...toEntry(found), ...toChatModel(found, engines), id: params.id }
      },
      {
        scope: 'completions',
        params: checkedQuery(t.Object({ id: t.String() })),
        response: { 200: answer(ModelReply), ...errors(401, 403, 404, 429) },
        detail: { summary: 'Read one engine' },
      },
    )
}

const toEntry = ({ mode, id, label, engine, description, status }: Entry): ModelEntry => ({
  mode,
  model_id: id,
  label,
  engine,
  description,
  status,
})

const COMMON = {
  object: 'model',
  created: LISTED_SINCE_S,
  owned_by: 'svc',
  type: 'model',
  created_at: iso(LISTED_SINCE_S * 1_000),
} as const

const toEmbeddingModel = ({ id, label, dimensions, window }: VectorModel): ChatModel => ({
  ...COMMON,
  id,
  display_name: label,
  context_window: window,
  max_output_tokens: null,
  supported_parameters: [],
  input_modalities: ['text'],
  dimensions,
})

function toChatModel({ id, label }: Listed, engines: EngineService): ChatModel {
  const [window, limit] = [engines.window(id), engines.maxOutputTokens(id)]
  // Clients use a separate parameter for the number of `logprobs`.
  const sent = engines.parameters(id).flatMap((name) => (name === 'logprobs' ? [name, 'top_logprobs'] : [name]))
  return {
    ...COMMON,
    id,
    display_name: label,
    context_window: window === Number.MAX_SAFE_INTEGER ? null : window,
    max_output_tokens: limit || null,
    // The service itself enforces the token limit and `stop`, for every engine.
    supported_parameters: [...new Set(['max_completion_tokens', 'max_tokens', 'stop', ...sent])],
    input_modalities: [
      'text',
      ...(engines.sees(id) ? (['image'] as const) : []),
      ...(engines.takes('files', id) ? (['file'] as const) : []),
      ...(engines.takes('audio', id) ? (['audio'] as const) : []),
    ],
  }
}
