import { namedObject, nullable, oneOf, type Static, Timestamp, t } from '../kernel/schema'

export { ENGINES, findEngine } from './catalog'

/**
 * A document or a recording from the client. Its `text` represents it in the messages, for engines that do not accept
 * files. `whole`: the text does not contain the file's content.
 */
export type GivenFile = {
  type: 'files' | 'audio'
  text: string
  name: string
  mimeType: string
  base64: string
  whole: boolean
}

export const ModelEntry = namedObject('Model', {
  mode: t.String(),
  model_id: t.String({ description: 'Engine id, such as svc-1-flash' }),
  label: t.String(),
  engine: t.String({ description: 'Subsystem that answers' }),
  description: t.String(),
  status: oneOf(['available', 'degraded', 'down']),
})

/** A model in the format of chat clients. */
export const ChatModel = t.Object({
  id: t.String(),
  object: t.Literal('model'),
  created: t.Integer({ description: 'Unix time in seconds' }),
  owned_by: t.Literal('svc'),
  type: t.Literal('model'),
  display_name: t.String(),
  created_at: Timestamp,
  context_window: nullable(t.Integer({ description: 'Tokens of prompt and answer together' })),
  max_output_tokens: nullable(t.Integer()),
  supported_parameters: t.Array(t.String()),
  input_modalities: t.Array(oneOf(['text', 'image', 'file', 'audio'] as const)),
  dimensions: t.Optional(
    nullable(t.Integer({ description: 'Numbers of a vector, of models for POST /embeddings; null until it is known' })),
  ),
})

/** Both formats in one answer, so that native and chat clients use the same route (docs/api.md 5.1). */
export const ModelList = t.Object({
  models: t.Array(ModelEntry),
  object: t.Literal('list'),
  data: t.Array(ChatModel, {
    description: 'The models that can be named in a request: without models that are down, and without video models',
  }),
  has_more: t.Literal(false),
  first_id: nullable(t.String()),
  last_id: nullable(t.String()),
})

export const ModelReply = t.Object({ ...ModelEntry.properties, ...ChatModel.properties })

export type ModelEntry = Static<typeof ModelEntry>
export type ChatModel = Static<typeof ChatModel>
export type ModelList = Static<typeof ModelList>
export type ModelReply = Static<typeof ModelReply>
