import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import type { Guard } from '../http/guard'
import { notFound } from '../kernel/errors'
import { checkedQuery, t } from '../kernel/schema'
import { type ChatModel, type ModelEntry, ModelList, ModelReply } from './schema'
import type { EngineService } from './service'

type Listed = ReturnType<EngineService['models']>[number]

/** `created` of every model, which the chat format requires: 2026-01-01, when the engines were first listed. */
const LISTED_SINCE_S = 1_767_225_600

export const engineRoutes = (engines: EngineService, guard: Guard) =>
  new Elysia({ prefix: '/models', tags: ['Models'] })
    .use(guard)
    .get(
      '',
      () => {
        const listed = engines.models()
        // Chat clients wait for an answer, and a video is a job.
        const answering = listed.filter(({ status, kind }) => status !== 'down' && kind !== 'video')
        return { models: listed.map(toEntry), object: 'list' as const, data: answering.map(toChatModel) }
      },
      {
        scope: 'completions',
        response: { 200: answer(ModelList), ...errors(401, 403, 429) },
        detail: { summary: 'List the engines and the modes they serve' },
      },
    )
    .get(
      '/:id',
      ({ params }) => {
        const found = engines.models().find(({ id }) => id === params.id)
        if (!found) throw notFound('model')
        return { ...toEntry(found), ...toChatModel(found) }
      },
      {
        scope: 'completions',
        params: checkedQuery(t.Object({ id: t.String() })),
        response: { 200: answer(ModelReply), ...errors(401, 403, 404, 429) },
        detail: { summary: 'Read one engine' },
      },
    )

const toEntry = ({ mode, id, label, engine, description, status }: Listed): ModelEntry => ({
  mode,
  model_id: id,
  label,
  engine,
  description,
  status,
})

const toChatModel = ({ id }: Listed): ChatModel => ({
  id,
  object: 'model',
  created: LISTED_SINCE_S,
  owned_by: 'svc',
})
