import { Artifact } from '../files/schema'
import { Firing } from '../guardrails/schema'
import { JobId } from '../jobs/schema'
import { MODES } from '../kernel/caller'
import { defineId, type Id } from '../kernel/ids'
import { JsonObject, namedObject, nullable, oneOf, RequestId, type Static, Timestamp, t } from '../kernel/schema'
import { ImageModel, ImageQuality } from '../media/schema'
import { ConversationId } from '../skills/conversations/schema'
import { InlineTool, McpServer } from '../tools/schema'
import { ChatMessage, GivenTool, ImageUrl, ToolChoice } from './chat-schema'
import { IGNORED_MEMBERS } from './rules'

const ResponseFormat = t.Union([
  t.Object({
    type: oneOf(['json_schema'] as const),
    json_schema: t.Optional(
      t.Object({
        name: t.Optional(nullable(t.String({ maxLength: 64 }))),
        schema: JsonObject,
        strict: t.Optional(nullable(t.Boolean())),
      }),
    ),
    // Clients of some other services leave out the object around the schema.
    schema: t.Optional(nullable(JsonObject)),
  }),
  t.Object({
    type: oneOf(['text', 'json_object'] as const),
    schema: t.Optional(nullable(JsonObject)),
  }),
])

/** Body of `POST /chat/completions` (docs/api.md 4). All other members are accepted and ignored. */
export const ChatInput = namedObject(
  'ChatOrder',
  {
    model: t.Optional(nullable(t.String({ description: 'Engine id; any other name means svc-1-auto' }))),
    messages: t.Array(ChatMessage, { minItems: 1, maxItems: 10_000 }),
    stream: t.Optional(nullable(t.Boolean())),
    stream_options: t.Optional(nullable(t.Object({ include_usage: t.Optional(nullable(t.Boolean())) }))),
    temperature: t.Optional(nullable(t.Number({ minimum: 0, maximum: 2 }))),
    conversation_id: t.Optional(nullable(t.String())),
    skills: t.Optional(nullable(t.Array(t.String({ maxLength: 64 }), { maxItems: 20 }))),
    metadata: t.Optional(nullable(JsonObject)),
    tools: t.Optional(nullable(t.Array(t.Union([McpServer, GivenTool]), { maxItems: 128 }))),
    tool_choice: t.Optional(nullable(t.Union([ToolChoice, t.String(), JsonObject]))),
    parallel_tool_calls: t.Optional(nullable(t.Boolean())),
    response_format: t.Optional(nullable(ResponseFormat)),
  },
  {
    description: `Other members are accepted and ignored, such as ${IGNORED_MEMBERS.join(', ')}. svc_metadata.warnings names those that would change the answer.`,
  },
)

export type ChatInput = Static<typeof ChatInput>

/** Parts of native answers and of chat completions (docs/api.md 2.2, 4). */

export const ModelRef = namedObject('ModelRef', { id: t.String(), label: t.String(), engine: t.String() })

export type ModelRef = Static<typeof ModelRef>

export const FollowUp = namedObject('FollowUp', { label: t.String(), prompt: t.String() })

export type FollowUp = Static<typeof FollowUp>

export const ToolUse = namedObject('ToolUse', {
  name: t.String(),
  status: oneOf(['success', 'error', 'awaiting_approval'] as const),
  description: t.String(),
  arguments: t.Optional(JsonObject),
  result: t.Optional(t.Unknown()),
})

export type ToolUse = Static<typeof ToolUse>

export const Usage = namedObject('Usage', {
  cost_cents: t.Number(),
  prompt_tokens: t.Integer(),
  completion_tokens: t.Integer(),
  total_tokens: t.Integer(),
  cached: t.Optional(t.Literal(true)),
})

export type Usage = Static<typeof Usage>

export const Routing = namedObject('Routing', {
  source: oneOf(['explicit', 'rule', 'heuristic', 'local', 'classifier', 'default'] as const),
  confidence: nullable(t.Number()),
  reasoning: nullable(t.String()),
  preference_id: nullable(t.String()),
  fallback_used: t.Boolean(),
})

export type Routing = Static<typeof Routing>

export const SkillActive = namedObject('SkillActive', {
  id: t.String(),
  slug: t.String(),
  name: t.String(),
  intensity: t.Optional(t.Number({ minimum: 0, maximum: 1 })),
})

export type SkillActive = Static<typeof SkillActive>

export const StructuredOutput = namedObject('StructuredOutput', {
  type: t.String(),
  data: t.Unknown(),
  parse_error: t.Optional(t.String()),
})

export type StructuredOutput = Static<typeof StructuredOutput>

/** The job that continues the work of a request (docs/api.md 2.4). */
export const JobHandle = namedObject('JobHandle', {
  job_id: JobId.schema,
  status: t.Literal('queued'),
  poll_url: t.String(),
})

export type JobHandle = Static<typeof JobHandle>

export const CompletionId = defineId('completion', 'cmpl')
export type CompletionId = Id<'completion'>
export const ChatCompletionId = defineId('chat completion', 'chatcmpl')
export type ChatCompletionId = Id<'chat completion'>

const TRAITS = ['romantic', 'intelligent', 'sarcastic', 'rude', 'funny', 'comedic', 'witty'] as const
const Trait = t.Number({ minimum: 0, maximum: 100 })

/** The persona that answers, and its manner (docs/api.md 2.1). */
export const Persona = t.Union([
  t.Object({ system_prompt: t.String({ minLength: 1, maxLength: 20_000 }) }),
  oneOf(['svc', 'none'] as const),
])

const PersonalityConfig = t.Object({
  traits: t.Object(
    Object.fromEntries(TRAITS.map((trait) => [trait, Trait])) as Record<(typeof TRAITS)[number], typeof Trait>,
  ),
  uncensored_mode: t.Boolean(),
  active_preset_id: nullable(t.String({ maxLength: 128 })),
})

const StyleWord = t.Optional(t.String({ maxLength: 64 }))
const ResponseStyle = t.Object({ format: StyleWord, preciseness: StyleWord, intent: StyleWord })

export const Attachment = t.Union([
  t.Object({ type: oneOf(['image_url'] as const), url: ImageUrl }),
  t.Object({
    type: oneOf(['image_base64'] as const),
    data: t.String({ minLength: 1 }),
    mime_type: t.Optional(
      nullable(t.String({ maxLength: 255, description: 'A hint only: the type is read from the bytes.' })),
    ),
  }),
])
export type Attachment = Static<typeof Attachment>

const InlineConversation = t.Object({
  id: t.Optional(t.String({ maxLength: 128 })),
  title: t.Optional(t.String({ maxLength: 200 })),
  messages: t.Array(
    t.Object({
      id: t.Optional(t.String({ maxLength: 128 })),
      role: oneOf(['user', 'assistant'] as const),
      content: t.String({ maxLength: 1_000_000 }),
      createdAt: t.Optional(t.String()),
      mode: t.Optional(t.String()),
      artifacts: t.Optional(t.Array(JsonObject)),
    }),
    { maxItems: 50 },
  ),
})

/** Body of `POST /completions` (docs/api.md 2.1). Unknown members are ignored. */
export const CompletionInput = namedObject(
  'CompletionOrder',
  {
    prompt: t.String({ minLength: 1, maxLength: 1_000_000 }),
    mode: t.Optional(oneOf(MODES)),
    stream: t.Optional(t.Boolean()),
    conversation_id: t.Optional(nullable(t.String())),
    conversation: t.Optional(InlineConversation),
    skills: t.Optional(t.Array(t.String({ maxLength: 64 }), { maxItems: 20 })),
    tools: t.Optional(t.Array(t.Union([McpServer, InlineTool]), { maxItems: 64 })),
    persona: t.Optional(Persona),
    personality_config: t.Optional(PersonalityConfig),
    response_style: t.Optional(ResponseStyle),
    svc_branding: t.Optional(t.Boolean()),
    brand_soul: t.Optional(t.Boolean()),
    temperature: t.Optional(t.Number({ minimum: 0, maximum: 2 })),
    max_iterations: t.Optional(t.Integer({ minimum: 1, maximum: 20 })),
    model_overrides: t.Optional(t.Record(t.String(), t.String({ maxLength: 64 }))),
    format: t.Optional(oneOf(['svc', 'compat'] as const)),
    metadata: t.Optional(nullable(JsonObject)),
    component_library: t.Optional(t.String({ maxLength: 64 })),
    attachments: t.Optional(t.Array(Attachment, { maxItems: 10 })),
    image_model: t.Optional(ImageModel),
    image_quality: t.Optional(ImageQuality),
    stealth_model: t.Optional(t.String({ maxLength: 64 })),
    stealth_aspect: t.Optional(oneOf(['square', 'portrait', 'landscape', 'wide'] as const)),
    stealth_duration: t.Optional(oneOf(['5s', '6s', '10s'] as const)),
    browser_session_id: t.Optional(t.String({ maxLength: 64 })),
  },
  {
    description: `Other members are accepted and ignored; model, ${IGNORED_MEMBERS.join(', ')} are then named in warnings.`,
  },
)
export type CompletionInput = Static<typeof CompletionInput>

/** Native answer of `POST /completions` (docs/api.md 2.2). */
export const Completion = namedObject('Completion', {
  id: CompletionId.schema,
  object: t.Literal('completion'),
  created: Timestamp,
  content: t.String(),
  mode: oneOf(MODES),
  resolved_mode: t.String(),
  model: ModelRef,
  tools_used: t.Array(ToolUse),
  artifacts: t.Array(Artifact),
  follow_ups: t.Array(FollowUp),
  usage: Usage,
  metadata: nullable(JsonObject),
  conversation_id: nullable(ConversationId.schema),
  request_id: RequestId,
  _cached: t.Optional(t.Literal(true)),
  genui_code: t.Optional(t.String()),
  structured_output: t.Optional(StructuredOutput),
  skills_active: t.Optional(t.Array(SkillActive)),
  job: t.Optional(JobHandle),
  routing: t.Optional(Routing),
  guardrails: t.Optional(t.Array(Firing)),
  warnings: t.Optional(t.Array(t.String())),
})
export type Completion = Static<typeof Completion>

const FINISH_REASONS = ['stop', 'length', 'content_filter', 'tool_calls', 'function_call'] as const
export type FinishReason = (typeof FINISH_REASONS)[number]

const ExtraContent = t.Optional(
  t.Object({ svc: t.String() }, { description: 'Send it back with the call; some engines need it in the next turn' }),
)

const FunctionCallOut = t.Object({
  id: t.String(),
  type: t.Literal('function'),
  function: t.Object({ name: t.String(), arguments: t.String({ description: 'JSON, as the engine wrote it' }) }),
  extra_content: ExtraContent,
})

const CustomCallOut = t.Object({
  id: t.String(),
  type: t.Literal('custom'),
  custom: t.Object({ name: t.String(), input: t.String() }),
  extra_content: ExtraContent,
})

/** The chat-completions answer (docs/api.md 4). `format: "compat"` also returns it. */
export const ChatCompletion = namedObject('ChatCompletion', {
  id: ChatCompletionId.schema,
  object: t.Literal('chat.completion'),
  created: t.Integer({ description: 'Unix time in seconds' }),
  model: t.String(),
  choices: t.Array(
    t.Object({
      index: t.Integer(),
      message: t.Object({
        role: t.Literal('assistant'),
        content: nullable(t.String()),
        tool_calls: t.Optional(t.Array(t.Union([FunctionCallOut, CustomCallOut]))),
        function_call: t.Optional(t.Object({ name: t.String(), arguments: t.String() })),
        refusal: t.Optional(nullable(t.String())),
        reasoning_content: t.Optional(t.String({ description: 'Reasoning of the engine, if it reports it' })),
        reasoning: t.Optional(t.String({ description: 'The same, for clients that read this member' })),
      }),
      logprobs: t.Optional(nullable(t.Object({ content: t.Array(JsonObject), refusal: t.Null() }))),
      finish_reason: oneOf(FINISH_REASONS),
    }),
  ),
  usage: t.Object({
    prompt_tokens: t.Integer(),
    completion_tokens: t.Integer(),
    total_tokens: t.Integer(),
    cached: t.Optional(t.Literal(true)),
    prompt_tokens_details: t.Object({ cached_tokens: t.Integer(), audio_tokens: t.Integer() }),
    completion_tokens_details: t.Object({
      reasoning_tokens: t.Integer(),
      audio_tokens: t.Integer(),
      accepted_prediction_tokens: t.Integer(),
      rejected_prediction_tokens: t.Integer(),
    }),
  }),
  service_tier: t.Literal('default'),
  system_fingerprint: nullable(t.String({ description: 'Changes when the upstream changes' })),
  svc_metadata: t.Object({
    mode: t.String(),
    resolved_mode: t.String(),
    tools_used: t.Array(ToolUse),
    artifacts: t.Array(Artifact),
    engine: t.String(),
    cost_cents: t.Optional(t.Number()),
    conversation_id: t.Optional(nullable(ConversationId.schema)),
    follow_ups: t.Optional(t.Array(FollowUp)),
    routing: t.Optional(Routing),
    job: t.Optional(JobHandle),
    guardrails: t.Optional(t.Array(Firing)),
    warnings: t.Optional(t.Array(t.String(), { description: 'What was ignored or done differently than requested' })),
  }),
  request_id: RequestId,
  _cached: t.Optional(t.Literal(true)),
})
export type ChatCompletion = Static<typeof ChatCompletion>
