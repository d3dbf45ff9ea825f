import { Elysia } from 'elysia'
import { answer, errors } from '../http/envelope'
import type { Guard } from '../http/guard'
import { iso } from '../kernel/clock'
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
        return {
          models: listed.map(toEntry),
          object: 'list' as const,
          data: answering.map((model) => toChatModel(model, engines)),
          has_more: false as const,
          first_id: answering[0]?.id ?? null,
          last_id: answering.at(-1)?.id ?? null,
        }
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
        return { ...toEntry(found), ...toChatModel(found, engines) }
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

/** Modes whose engines see whatever their setting says, and the one that leads to them. */
const SEEING: ReadonlySet<string> = new Set(['auto', 'vision', 'data_extraction', 'domain_analysis'])

function toChatModel({ id, label, mode }: Listed, engines: EngineService): ChatModel {
  const [window, limit] = [engines.window(id), engines.maxOutputTokens(id)]
  return {
    id,
    object: 'model',
    created: LISTED_SINCE_S,
    owned_by: 'svc',
    type: 'model',
    display_name: label,
    created_at: iso(LISTED_SINCE_S * 1_000),
    context_window: window === Number.MAX_SAFE_INTEGER ? null : window,
    max_output_tokens: limit || null,
    // The service itself ends an answer at its limit and at a text of `stop`, whatever the engine has.
    supported_parameters: [...new Set(['max_completion_tokens', 'max_tokens', 'stop', ...engines.parameters(id)])],
    input_modalities: SEEING.has(mode) || engines.takesImages(id) ? ['text', 'image'] : ['text'],
  }
}
