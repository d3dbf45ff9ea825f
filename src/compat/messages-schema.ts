import { JsonObject, namedObject, nullable, oneOf, RequestId, type Static, t } from '../kernel/schema'
import { SvcMetadata } from './responses-schema'

const optional = <T extends Parameters<typeof nullable>[0]>(schema: T) => t.Optional(nullable(schema))

/** A text, or blocks that are read by their `type`. */
const Content = t.Union([t.String({ maxLength: 20_000_000 }), t.Array(JsonObject, { maxItems: 10_000 })])

const Format = t.Object({ type: oneOf(['json_schema'] as const), schema: JsonObject })

const Effort = oneOf(['low', 'medium', 'high', 'xhigh', 'max'] as const)

const Budget = t.Integer({ minimum: 0 })

const ORDER = {
  model: optional(t.String({ description: 'Engine id; any other name means svc-1-auto' })),
  messages: t.Array(
    t.Union([
      t.Object({ role: oneOf(['user', 'system'] as const), content: Content }),
      // An assistant's turn may be empty.
      t.Object({ role: oneOf(['assistant'] as const), content: optional(Content) }),
    ]),
    { minItems: 1, maxItems: 10_000 },
  ),
  system: optional(t.Union([t.String(), t.Array(JsonObject, { maxItems: 1_000 })])),
  tools: optional(t.Array(JsonObject, { maxItems: 128 })),
  tool_choice: optional(
    t.Object({
      type: oneOf(['auto', 'any', 'tool', 'none'] as const),
      name: optional(t.String()),
      disable_parallel_tool_use: optional(t.Boolean()),
    }),
  ),
  thinking: optional(
    t.Object({
      type: oneOf(['enabled', 'adaptive', 'between_tools', 'disabled'] as const),
      budget_tokens: optional(Budget),
      display: optional(t.String()),
    }),
  ),
  output_config: optional(t.Object({ format: optional(Format), effort: optional(Effort) })),
  output_format: optional(Format),
  mcp_servers: optional(
    t.Array(
      t.Object({
        url: t.String(),
        name: t.String(),
        authorization_token: optional(t.String()),
        tool_configuration: optional(
          t.Object({ enabled: optional(t.Boolean()), allowed_tools: optional(t.Array(t.String(), { maxItems: 64 })) }),
        ),
      }),
      { maxItems: 20 },
    ),
  ),
}

/** Body of `POST /messages/count_tokens` (docs/api.md 30.4). */
export const CountInput = t.Object(ORDER, { $id: 'MessageCountOrder' })
export type CountInput = Static<typeof CountInput>

/** Body of `POST /messages` (docs/api.md 30.1). Other members are accepted and ignored. */
export const MessageInput = namedObject(
  'MessageOrder',
  {
    ...ORDER,
    max_tokens: t.Integer({ minimum: 1, description: "Most tokens of the answer, at most the engine's own limit" }),
    stream: optional(t.Boolean()),
    temperature: optional(t.Number({ minimum: 0, maximum: 2 })),
    top_p: optional(t.Number({ minimum: 0, maximum: 1 })),
    top_k: optional(t.Integer({ minimum: 0 })),
    stop_sequences: optional(t.Array(t.String({ minLength: 1, maxLength: 256 }), { maxItems: 16 })),
    metadata: optional(JsonObject),
    skills: optional(t.Array(t.String({ maxLength: 64 }), { maxItems: 20 })),
    conversation_id: optional(t.String()),
  },
  { description: 'Other members are accepted; svc_metadata.warnings names those that would change the answer.' },
)

export type MessageInput = Static<typeof MessageInput>

export const MessageUsage = t.Object({
  input_tokens: t.Integer({ description: 'Without those that were read from a cache or written into it' }),
  cache_creation_input_tokens: t.Integer(),
  cache_read_input_tokens: t.Integer(),
  cache_creation: t.Object({ ephemeral_5m_input_tokens: t.Integer(), ephemeral_1h_input_tokens: t.Integer() }),
  output_tokens: t.Integer(),
  output_tokens_details: t.Object({ thinking_tokens: t.Integer() }),
  server_tool_use: nullable(t.Object({ web_search_requests: t.Integer(), web_fetch_requests: t.Integer() })),
  service_tier: t.Literal('standard'),
})

export type MessageUsage = Static<typeof MessageUsage>

export const STOP_REASONS = [
  'end_turn',
  'stop_sequence',
  'max_tokens',
  'model_context_window_exceeded',
  'tool_use',
  'refusal',
] as const

/** The answer of `POST /messages` (docs/api.md 30.3). */
export const MessageBody = namedObject('MessageAnswer', {
  id: t.String({ pattern: '^msg_[0-9A-Za-z]{24}$' }),
  type: t.Literal('message'),
  role: t.Literal('assistant'),
  model: t.String(),
  content: t.Array(JsonObject, { description: 'Blocks of thinking, text and tool_use' }),
  stop_reason: oneOf(STOP_REASONS),
  stop_sequence: nullable(t.String()),
  stop_details: t.Null(),
  container: t.Null(),
  usage: MessageUsage,
  svc_metadata: SvcMetadata,
  request_id: RequestId,
})

export type MessageBody = Static<typeof MessageBody>

/** An error in this format (docs/api.md 30.5). */
export const MessageError = namedObject('MessageError', {
  type: t.Literal('error'),
  error: t.Object({
    type: t.String(),
    message: t.String({ description: 'What is wrong, with the value sent, and what to do' }),
    details: t.Object({
      error_code: t.String({ description: 'The code of this server' }),
      param: nullable(t.String()),
    }),
  }),
  request_id: RequestId,
})

/** One piece of a message, read by its `type`. */
export type Block = Record<string, unknown>
