import { JsonObject, nullable, oneOf, type Static, t } from '../kernel/schema'

const TextPart = t.Object({ type: oneOf(['text'] as const), text: t.String() })
const ImagePart = t.Object({
  type: oneOf(['image_url'] as const),
  image_url: t.Object({ url: t.String({ maxLength: 21 * 1024 * 1024 }) }),
})

/** `developer` is read as `system`; `tool` and `function` are accepted and ignored without tools (contract 4). */
export const ChatMessage = t.Object({
  role: oneOf(['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const),
  content: t.Optional(nullable(t.Union([t.String(), t.Array(t.Union([TextPart, ImagePart]))]))),
})
export type ChatMessage = Static<typeof ChatMessage>

/** Body of `POST /chat/completions` (contract 4). Anything else a chat client sends is accepted and ignored. */
export const ChatOrder = t.Object(
  {
    model: t.Optional(nullable(t.String())),
    messages: t.Array(ChatMessage, { minItems: 1, maxItems: 10_000 }),
    stream: t.Optional(nullable(t.Boolean())),
    stream_options: t.Optional(nullable(t.Object({ include_usage: t.Optional(t.Boolean()) }))),
    temperature: t.Optional(nullable(t.Number({ minimum: 0, maximum: 2 }))),
    conversation_id: t.Optional(nullable(t.String())),
    skills: t.Optional(nullable(t.Array(t.String({ maxLength: 64 }), { maxItems: 20 }))),
    metadata: t.Optional(nullable(JsonObject)),
  },
  { $id: 'ChatOrder' },
)
export type ChatOrder = Static<typeof ChatOrder>
