import { form } from '../kernel/form'
import { JsonObject, nullable, oneOf, type Static, t } from '../kernel/schema'
import { McpServer } from '../tools/schema'
import { IGNORED_MEMBERS } from './schema'

const TextPart = t.Object({ type: oneOf(['text'] as const), text: t.String() })
const ImagePart = t.Object({
  type: oneOf(['image_url'] as const),
  image_url: t.Object({ url: t.String({ maxLength: 21 * 1024 * 1024 }) }),
})

/** What assistants are sent back with: a refusal is text, thoughts are for engines that want them back. */
const RefusalPart = t.Object({ type: oneOf(['refusal'] as const), refusal: t.String() })
const ThinkingPart = t.Object({ type: oneOf(['thinking'] as const), thinking: t.String() })
const ReasoningPart = t.Object({ type: oneOf(['reasoning'] as const), text: t.Optional(nullable(t.String())) })

const FUNCTION_NAME = form('^[A-Za-z0-9_-]{1,64}$', 'at most 64 letters, digits, hyphens and underscores')

const FunctionCall = t.Object({
  id: t.String({ minLength: 1, maxLength: 128 }),
  type: t.Optional(nullable(oneOf(['function'] as const))),
  function: t.Object({ name: t.String({ maxLength: 64 }), arguments: t.String({ maxLength: 1_000_000 }) }),
  extra_content: t.Optional(nullable(JsonObject)),
})
export type FunctionCall = Static<typeof FunctionCall>

/** `developer` is read as `system`; `tool` and `function` are accepted and ignored without tools (contract 4). */
export const ChatMessage = t.Object({
  role: oneOf(['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const),
  content: t.Optional(
    nullable(t.Union([t.String(), t.Array(t.Union([TextPart, ImagePart, RefusalPart, ThinkingPart, ReasoningPart]))])),
  ),
  tool_calls: t.Optional(nullable(t.Array(FunctionCall, { maxItems: 128 }))),
  refusal: t.Optional(nullable(t.String())),
  reasoning_content: t.Optional(nullable(t.String({ maxLength: 1_000_000 }))),
  tool_call_id: t.Optional(nullable(t.String({ maxLength: 128 }))),
})
export type ChatMessage = Static<typeof ChatMessage>

/** A function the client runs itself. */
const FunctionTool = t.Object({
  type: oneOf(['function'] as const),
  function: t.Object({
    name: t.String({ pattern: FUNCTION_NAME }),
    description: t.Optional(nullable(t.String({ maxLength: 32_768 }))),
    parameters: t.Optional(nullable(JsonObject)),
    strict: t.Optional(nullable(t.Boolean())),
  }),
})
export type FunctionTool = Static<typeof FunctionTool>

const NamedFunction = t.Object({
  type: oneOf(['function'] as const),
  function: t.Object({ name: t.String({ pattern: FUNCTION_NAME }) }),
})

const ToolChoice = t.Union([
  NamedFunction,
  t.Object({
    type: oneOf(['allowed_tools'] as const),
    allowed_tools: t.Object({
      mode: oneOf(['auto', 'required'] as const),
      tools: t.Array(NamedFunction, { minItems: 1, maxItems: 128 }),
    }),
  }),
  oneOf(['none', 'auto', 'required'] as const),
])

const ResponseFormat = t.Union([
  t.Object({
    type: oneOf(['json_schema'] as const),
    json_schema: t.Object({
      name: t.Optional(nullable(t.String({ maxLength: 64 }))),
      schema: JsonObject,
      strict: t.Optional(nullable(t.Boolean())),
    }),
  }),
  t.Object({ type: oneOf(['text', 'json_object'] as const) }),
])

/** Body of `POST /chat/completions` (contract 4). Anything else a chat client sends is accepted and ignored. */
export const ChatInput = t.Object(
  {
    model: t.Optional(nullable(t.String({ description: 'Engine id; any other name means svc-1-auto' }))),
    messages: t.Array(ChatMessage, { minItems: 1, maxItems: 10_000 }),
    stream: t.Optional(nullable(t.Boolean())),
    stream_options: t.Optional(nullable(t.Object({ include_usage: t.Optional(nullable(t.Boolean())) }))),
    temperature: t.Optional(nullable(t.Number({ minimum: 0, maximum: 2 }))),
    conversation_id: t.Optional(nullable(t.String())),
    skills: t.Optional(nullable(t.Array(t.String({ maxLength: 64 }), { maxItems: 20 }))),
    metadata: t.Optional(nullable(JsonObject)),
    tools: t.Optional(nullable(t.Array(t.Union([McpServer, FunctionTool]), { maxItems: 128 }))),
    tool_choice: t.Optional(nullable(ToolChoice)),
    parallel_tool_calls: t.Optional(nullable(t.Boolean())),
    response_format: t.Optional(nullable(ResponseFormat)),
  },
  {
    $id: 'ChatOrder',
    description: `Other members are accepted and ignored, such as ${IGNORED_MEMBERS.join(', ')}. svc_metadata.warnings names those that would change the answer.`,
  },
)
export type ChatInput = Static<typeof ChatInput>
