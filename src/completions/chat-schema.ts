import { form } from '../kernel/form'
import { JsonObject, nullable, oneOf, type Static, t } from '../kernel/schema'

const TextPart = t.Object({ type: oneOf(['text', 'input_text', 'output_text'] as const), text: t.String() })

export const ImageUrl = t.String({ maxLength: 21 * 1024 * 1024 })
const ImagePart = t.Object({
  type: oneOf(['image_url', 'input_image'] as const),
  image_url: t.Union([t.Object({ url: ImageUrl, detail: t.Optional(nullable(t.String())) }), ImageUrl]),
  detail: t.Optional(t.Unknown()),
})

const MaybeImage = t.Optional(nullable(ImageUrl))
/** An image in other formats: `image`, `data` or `source` holds a URL or Base64. */
const OtherImagePart = t.Object({
  type: oneOf(['image'] as const),
  image: MaybeImage,
  data: MaybeImage,
  source: t.Optional(nullable(t.Object({ data: MaybeImage, url: MaybeImage }))),
})

/** Replaced by texts before a chat is read (docs/api.md 33.3). */
const FilePart = t.Object({ type: oneOf(['file'] as const), file: JsonObject })
const AudioPart = t.Object({ type: oneOf(['input_audio'] as const), input_audio: JsonObject })

/** Parts of an assistant's message that clients send back. Thoughts go to engines that need them. */
const RefusalPart = t.Object({ type: oneOf(['refusal'] as const), refusal: t.String() })
const ThinkingPart = t.Object({ type: oneOf(['thinking'] as const), thinking: t.String() })
const ReasoningPart = t.Object({
  type: oneOf(['reasoning', 'redacted_thinking'] as const),
  text: t.Optional(nullable(t.String())),
})

const Part = t.Union([
  TextPart,
  ImagePart,
  OtherImagePart,
  FilePart,
  AudioPart,
  RefusalPart,
  ThinkingPart,
  ReasoningPart,
])
export type Part = Static<typeof Part>

const FUNCTION_NAME = form('^[A-Za-z0-9_-]{1,64}$', 'at most 64 letters, digits, hyphens and underscores')

const Name = t.String({ maxLength: 64 })
const ArgumentsText = t.String({ maxLength: 1_000_000 })
/** A call of a function, or of a custom tool, whose input is one text. */
const SentCall = t.Object({
  id: t.String({ minLength: 1, maxLength: 128 }),
  type: t.Optional(nullable(oneOf(['function', 'custom'] as const))),
  function: t.Optional(
    nullable(t.Object({ name: Name, arguments: t.Optional(nullable(t.Union([ArgumentsText, JsonObject]))) })),
  ),
  custom: t.Optional(nullable(t.Object({ name: Name, input: ArgumentsText }))),
  extra_content: t.Optional(nullable(JsonObject)),
})
type SentCall = Static<typeof SentCall>
export type FunctionCall = Omit<SentCall, 'function' | 'custom'> & { function: NonNullable<SentCall['function']> }

/** `developer` is read as `system`. `tool` and `function` are accepted and ignored without tools (docs/api.md 4). */
export const ChatMessage = t.Object({
  role: oneOf(['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const),
  content: t.Optional(nullable(t.Union([t.String(), t.Array(Part)]))),
  tool_calls: t.Optional(nullable(t.Array(SentCall, { maxItems: 128 }))),
  refusal: t.Optional(nullable(t.String())),
  reasoning_content: t.Optional(nullable(t.String({ maxLength: 1_000_000 }))),
  tool_call_id: t.Optional(nullable(t.String({ maxLength: 128 }))),
})

/** A message. Some clients send the reasoning under other names. */
export type SentMessage = Static<typeof ChatMessage> & { reasoning?: unknown; reasoning_details?: unknown }
/** A message with function calls only. */
export type ChatMessage = Omit<SentMessage, 'tool_calls'> & { tool_calls?: FunctionCall[] | null }

const Signature = t.Object({
  name: t.String({ pattern: FUNCTION_NAME }),
  description: t.Optional(nullable(t.String({ maxLength: 32_768 }))),
  parameters: t.Optional(nullable(JsonObject)),
  strict: t.Optional(nullable(t.Boolean())),
})

/** A function that the client runs itself. */
export type FunctionTool = { type: 'function'; function: Static<typeof Signature> }

const Custom = t.Object({
  name: t.String({ pattern: FUNCTION_NAME }),
  description: t.Optional(nullable(t.String({ maxLength: 32_768 }))),
  format: t.Optional(nullable(JsonObject)),
})

/**
 * A tool as clients send it. Some omit the type, some put the members of the function beside it. A custom tool takes
 * one text instead of arguments.
 */
export const GivenTool = t.Object({
  type: t.Optional(nullable(oneOf(['function', 'custom'] as const))),
  function: t.Optional(nullable(Signature)),
  custom: t.Optional(nullable(Custom)),
  ...t.Partial(Custom).properties,
  ...t.Partial(Signature).properties,
})

const NamedFunction = t.Object({
  type: oneOf(['function'] as const),
  function: t.Object({ name: t.String({ pattern: FUNCTION_NAME }) }),
})

const Called = t.Optional(nullable(t.Object({ name: Name, arguments: ArgumentsText })))

/** The members of clients from before there were tools. */
export const OlderChat = t.Object({
  functions: t.Array(Signature, { minItems: 1, maxItems: 128 }),
  function_call: t.Optional(nullable(t.Union([oneOf(['none', 'auto'] as const), t.Object({ name: Name })]))),
  messages: t.Array(t.Object({ function_call: Called })),
})

export const ToolChoice = t.Union([
  NamedFunction,
  t.Object({
    type: oneOf(['allowed_tools'] as const),
    allowed_tools: t.Object({
      mode: oneOf(['auto', 'required'] as const),
      tools: t.Array(NamedFunction, { minItems: 1, maxItems: 128 }),
    }),
  }),
  oneOf(['none', 'auto', 'required', 'any'] as const),
])
