import { Effort } from '../completions/chat-schema'
import { Routing, ToolUse } from '../completions/schema'
import { Firing } from '../guardrails/schema'
import { randomBase62 } from '../kernel/crypto'
import { defineId, type Id, timePart } from '../kernel/ids'
import { JsonObject, listOf, namedObject, nullable, oneOf, RequestId, type Static, t } from '../kernel/schema'

export const ResponseId = defineId('response', 'resp')
export type ResponseId = Id<'response'>

/**
 * The id of a new response. It begins with the time, so that rows are added at one end of the index. It ends with four
 * zeros, which the ids of its items replace.
 */
export const newResponseId = (now: number): ResponseId => `resp_${timePart(now)}${randomBase62(12)}0000` as ResponseId

/** The id of an item of a response, by its number in the response, from 1. */
export const itemIdOf = (prefix: string, response: string, number: number): string =>
  `${prefix}_${response.slice(-24, -4)}${number.toString(36).padStart(4, '0')}`

/** The id of the response that contains the item of this id. */
export const responseOfItem = (id: string): ResponseId => `resp_${id.slice(-24, -4)}0000` as ResponseId

const mayBe = <T extends Parameters<typeof nullable>[0]>(schema: T) => t.Optional(nullable(schema))

/** Data besides the members that clients know: how the answer was made and its cost (docs/api.md 29.3). */
export const SvcMetadata = t.Object({
  mode: t.String(),
  resolved_mode: t.String(),
  tools_used: t.Array(ToolUse),
  engine: t.String(),
  cost_cents: t.Optional(t.Number()),
  conversation_id: t.Optional(nullable(t.String())),
  routing: t.Optional(Routing),
  guardrails: t.Optional(t.Array(Firing)),
  warnings: t.Optional(t.Array(t.String(), { description: 'What was ignored or done differently than requested' })),
})

const TextFormat = t.Union([
  t.Object({ type: oneOf(['text', 'json_object'] as const) }),
  t.Object({
    type: oneOf(['json_schema'] as const),
    name: mayBe(t.String({ maxLength: 64 })),
    schema: JsonObject,
    strict: mayBe(t.Boolean()),
    description: mayBe(t.String()),
  }),
])

const Penalty = mayBe(t.Number({ minimum: -2, maximum: 2 }))

/** Metadata that clients attach to their objects. Only a pattern can limit the names in a record. */
export const Notes = t.Record(t.String({ pattern: '^[\\s\\S]{1,64}$' }), t.String({ maxLength: 512 }), {
  maxProperties: 16,
  additionalProperties: false,
})
export const Metadata = mayBe(Notes)

/** Items to add to a conversation. */
export const NewItems = t.Array(JsonObject, { maxItems: 20 })

/** Body of `POST /responses` (docs/api.md 29.4). The contents of items and tools are read by their type. */
export const ResponseInput = namedObject(
  'ResponseOrder',
  {
    model: mayBe(t.String({ description: 'Engine id; any other name means svc-1-auto' })),
    input: mayBe(t.Union([t.String({ maxLength: 1_000_000 }), t.Array(JsonObject, { maxItems: 10_000 })])),
    instructions: mayBe(t.String({ maxLength: 1_000_000 })),
    previous_response_id: mayBe(t.String({ maxLength: 128 })),
    conversation: mayBe(t.Union([t.String(), t.Object({ id: t.String() })])),
    conversation_id: mayBe(t.String()),
    store: mayBe(t.Boolean()),
    stream: mayBe(t.Boolean()),
    background: mayBe(t.Boolean()),
    max_output_tokens: mayBe(t.Integer({ minimum: 1 })),
    max_tool_calls: mayBe(t.Integer({ minimum: 1, maximum: 100 })),
    temperature: mayBe(t.Number({ minimum: 0, maximum: 2 })),
    top_p: mayBe(t.Number({ exclusiveMinimum: 0, maximum: 1 })),
    top_logprobs: mayBe(t.Integer({ minimum: 0, maximum: 20 })),
    prompt_cache_key: mayBe(t.String({ maxLength: 512 })),
    prompt_cache_retention: mayBe(t.String({ maxLength: 64 })),
    presence_penalty: Penalty,
    frequency_penalty: Penalty,
    tools: mayBe(t.Array(JsonObject, { maxItems: 128 })),
    tool_choice: mayBe(t.Union([oneOf(['auto', 'none', 'required'] as const), JsonObject])),
    parallel_tool_calls: mayBe(t.Boolean()),
    text: mayBe(t.Object({ format: mayBe(TextFormat), verbosity: mayBe(oneOf(['low', 'medium', 'high'] as const)) })),
    reasoning: mayBe(
      t.Object({
        effort: Effort,
        summary: mayBe(oneOf(['auto', 'concise', 'detailed', 'none'] as const)),
      }),
    ),
    include: mayBe(t.Array(t.String({ maxLength: 128 }), { maxItems: 32 })),
    truncation: mayBe(oneOf(['auto', 'disabled'] as const)),
    metadata: Metadata,
    user: mayBe(t.String({ maxLength: 512 })),
    safety_identifier: mayBe(t.String({ maxLength: 512 })),
    skills: mayBe(t.Array(t.String({ maxLength: 64 }), { maxItems: 20 })),
  },
  {
    description:
      'Other members are accepted and ignored; svc_metadata.warnings names those that would change the answer.',
  },
)

export type ResponseInput = Static<typeof ResponseInput>

/** The answer of `POST /responses` (docs/api.md 29.6). Every member is present, null if it has no value. */
export const ResponseBody = namedObject('Response', {
  id: ResponseId.schema,
  object: t.Literal('response'),
  created_at: t.Integer({ description: 'Unix time in seconds' }),
  completed_at: nullable(t.Integer()),
  status: oneOf(['completed', 'incomplete', 'failed', 'cancelled', 'queued', 'in_progress'] as const),
  background: t.Boolean(),
  error: nullable(t.Object({ code: t.String(), message: t.String(), type: t.String() })),
  incomplete_details: nullable(t.Object({ reason: oneOf(['max_output_tokens', 'content_filter'] as const) })),
  instructions: nullable(t.String()),
  max_output_tokens: nullable(t.Integer()),
  max_tool_calls: nullable(t.Integer()),
  model: t.String(),
  output: t.Array(JsonObject, { description: 'Items in the order in which they were made' }),
  parallel_tool_calls: t.Boolean(),
  previous_response_id: nullable(t.String()),
  conversation: nullable(t.Object({ id: t.String() })),
  reasoning: t.Object({ effort: nullable(t.String()), summary: nullable(t.String()) }),
  store: t.Boolean(),
  temperature: nullable(t.Number()),
  text: t.Object({ format: JsonObject, verbosity: t.Optional(nullable(t.String())) }),
  tool_choice: t.Union([t.String(), JsonObject]),
  tools: t.Array(JsonObject),
  top_p: nullable(t.Number()),
  top_logprobs: t.Integer(),
  frequency_penalty: t.Number(),
  presence_penalty: t.Number(),
  truncation: oneOf(['auto', 'disabled'] as const),
  usage: nullable(
    t.Object({
      input_tokens: t.Integer(),
      input_tokens_details: t.Object({ cached_tokens: t.Integer(), cache_write_tokens: t.Integer() }),
      output_tokens: t.Integer(),
      output_tokens_details: t.Object({ reasoning_tokens: t.Integer() }),
      total_tokens: t.Integer(),
    }),
  ),
  user: t.Null(),
  metadata: JsonObject,
  service_tier: t.Literal('default'),
  svc_metadata: nullable(SvcMetadata),
  request_id: RequestId,
})

export type ResponseBody = Static<typeof ResponseBody>

/** Part of a response's input or output, read by its `type`. */
export type Item = Record<string, unknown>

export const ResponseDeleted = t.Object({
  id: ResponseId.schema,
  object: t.Literal('response'),
  deleted: t.Literal(true),
})

export const ItemQuery = t.Object({
  limit: t.Integer({ minimum: 1, maximum: 100, default: 20 }),
  order: t.Unsafe<'asc' | 'desc'>({ type: 'string', enum: ['asc', 'desc'], default: 'desc' }),
  after: t.Optional(t.String({ maxLength: 128 })),
})
export type ItemQuery = Static<typeof ItemQuery>

export const ItemPage = listOf(JsonObject)
export type ItemPage = Static<typeof ItemPage>

export const InputTokens = t.Object({ object: t.Literal('response.input_tokens'), input_tokens: t.Integer() })

type Made = Pick<ResponseBody, 'id' | 'status' | 'output'> & {
  createdAt: number
  /** The engine that answers, once it is known. */
  model: string | undefined
  conversation: string | null
  requestId: string
}

/** The default values of members. Stored values are compared with these by identity. */
export const USUAL = {
  object: 'response',
  completed_at: null,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  conversation: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  top_logprobs: 0,
  frequency_penalty: 0,
  presence_penalty: 0,
  truncation: 'disabled',
  usage: null,
  user: null,
  metadata: {},
  service_tier: 'default',
  svc_metadata: null,
} satisfies Partial<ResponseBody>

/** The response so far: its input, and the existing part of its answer. */
export function bodyOf(input: ResponseInput, made: Made): ResponseBody {
  const { id, createdAt, status, output, model, conversation, requestId } = made
  const { text: form, reasoning } = input
  return {
    id,
    object: USUAL.object,
    created_at: createdAt,
    completed_at: null,
    status,
    background: input.background ?? USUAL.background,
    error: null,
    incomplete_details: null,
    instructions: input.instructions ?? null,
    max_output_tokens: input.max_output_tokens ?? null,
    max_tool_calls: input.max_tool_calls ?? null,
    model: model ?? input.model ?? 'svc-1-auto',
    output,
    parallel_tool_calls: input.parallel_tool_calls ?? USUAL.parallel_tool_calls,
    previous_response_id: input.previous_response_id ?? null,
    conversation: conversation === null ? null : { id: conversation },
    reasoning: reasoning ? { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null } : USUAL.reasoning,
    store: input.store ?? USUAL.store,
    temperature: input.temperature ?? null,
    text: form
      ? { format: { ...(form.format ?? { type: 'text' }) }, ...(form.verbosity ? { verbosity: form.verbosity } : {}) }
      : USUAL.text,
    tool_choice: input.tool_choice ?? USUAL.tool_choice,
    // Credentials of MCP servers are neither shown nor stored.
    tools: input.tools?.length ? input.tools.map(({ authorization: _, headers: __, ...tool }) => tool) : USUAL.tools,
    top_p: input.top_p ?? null,
    top_logprobs: input.top_logprobs ?? USUAL.top_logprobs,
    frequency_penalty: input.frequency_penalty ?? USUAL.frequency_penalty,
    presence_penalty: input.presence_penalty ?? USUAL.presence_penalty,
    truncation: input.truncation ?? USUAL.truncation,
    usage: null,
    user: null,
    metadata: input.metadata ?? USUAL.metadata,
    service_tier: USUAL.service_tier,
    svc_metadata: null,
    request_id: requestId,
  }
}
