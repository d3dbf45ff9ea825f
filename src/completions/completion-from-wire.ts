import type { Settings } from '../accounts'
import type { Mode } from '../kernel/caller'
import { AppError, invalidInput } from '../kernel/errors'
import { isBlank } from '../kernel/text'
import type { InlineTool, McpServer } from '../tools/schema'
import { assertAttachment } from './images'
import { chatIdOf, toChatCompletion, toCompletion } from './present'
import { assertMetadata, ignoredNamesIn, ignoredWarning, isStealth, modeWarnings } from './rules'
import { type CompletionRequest, DEFAULT_ITERATIONS, IMAGE_ENGINE } from './run'
import type { Attachment, ChatCompletion, Completion, CompletionInput } from './schema'

/** Path of the data or the URL of an image in a native request. */
const pathOfAttachment = ({ type }: Attachment, place: number): string =>
  `attachments[${place}].${type === 'image_base64' ? 'data' : 'url'}`

const STEALTH_RATIOS = { square: '1:1', portrait: '3:4', landscape: '4:3', wide: '16:9' } as const

const MODEL_IGNORED =
  '"model" was ignored: "mode" and "model_overrides" choose the engine. Chat clients use POST /chat/completions.'

/** Translates a native request (docs/api.md 2.1). The account's settings fill in what the request leaves out. */
export function requestFromInput(
  input: CompletionInput,
  settings: Settings,
  fresh: boolean,
): CompletionRequest<Completion | ChatCompletion> {
  const mode = input.mode ?? (settings.default_mode as Mode)
  const branding = (input.svc_branding ?? settings.svc_branding) && !isStealth(mode)
  const inline = input.conversation
  const ignoresInline = inline !== undefined && input.conversation_id != null
  const tools = input.tools ?? []
  const servers = tools.filter((tool): tool is McpServer => 'type' in tool && tool.type === 'mcp')
  // Requests with a conversation, stealth modes and live browser sessions are never cached (docs/api.md 22.1).
  const isCached = input.conversation_id == null && !isStealth(mode) && !input.browser_session_id
  return {
    prompt: input.prompt,
    mode,
    engine: isStealth(mode) ? (input.stealth_model ?? null) : null,
    overrides: input.model_overrides ?? {},
    voice: {
      persona: input.persona ?? settings.personality,
      personality: input.personality_config ?? null,
      style: input.response_style ?? null,
      branding,
      componentLibrary: input.component_library ?? 'svc',
    },
    usesSoul: input.brand_soul ?? true,
    // If the answer was in mode `image`, the question before it asked for that picture.
    context:
      inline && !ignoresInline
        ? inline.messages.map(({ role, content }, place) => {
            const pictured = role === 'user' && inline.messages[place + 1]?.mode === 'image'
            return { role, content, ...(pictured ? { pictured } : {}) }
          })
        : [],
    conversation: conversationOf(input, mode),
    images: (input.attachments ?? []).map((attachment, place) => ({
      attachment,
      path: pathOfAttachment(attachment, place),
      turn: null,
    })),
    temperature: input.temperature,
    skills: input.skills ?? [],
    tools: tools.filter((tool): tool is InlineTool => !servers.includes(tool as McpServer)),
    ...(servers.length ? { servers } : {}),
    ...(input.browser_session_id ? { browserSession: input.browser_session_id } : {}),
    maxIterations: input.max_iterations ?? DEFAULT_ITERATIONS,
    functions: null,
    json: false,
    checkJson: null,
    after: [],
    metadata: input.metadata ?? null,
    cache: isCached ? (fresh ? 'refresh' : 'use') : 'off',
    wantsFollowUps: true,
    shownId: input.format === 'compat' ? chatIdOf : undefined,
    present: input.format === 'compat' ? toChatCompletion : toCompletion,
    shape: [input.metadata?.approved_tools ?? null, input.image_model ?? 'auto', input.image_quality ?? 'standard'],
    picture: {
      engineId: !input.image_model || input.image_model === 'auto' ? IMAGE_ENGINE : input.image_model,
      quality: input.image_quality ?? 'standard',
      aspectRatio: input.mode === 'stealth_image' ? STEALTH_RATIOS[input.stealth_aspect ?? 'square'] : null,
    },
    ...(input.mode === 'stealth_video' ? { videoSeconds: Number.parseInt(input.stealth_duration ?? '5s', 10) } : {}),
    warnings: [
      ...modeWarnings(mode),
      ...(ignoresInline ? ['"conversation" was ignored because "conversation_id" was sent.'] : []),
      // Clients of other services may use this route by mistake. Their members are ignored here (docs/api.md 1.1).
      ...((input as { model?: unknown }).model == null ? [] : [MODEL_IGNORED]),
      ...ignoredWarning(ignoredNamesIn(input)),
    ],
  }
}

/**
 * Without `conversation_id` a conversation is created. `null`, inline context and stealth store none (docs/api.md 2.2).
 */
function conversationOf(input: CompletionInput, mode: Mode): CompletionRequest['conversation'] {
  if (input.conversation_id != null) {
    if (isStealth(mode))
      throw invalidInput(
        'conversation_id',
        `"conversation_id" cannot be used with mode "${mode}", which stores nothing. Leave it out, or send another mode.`,
      )
    return { attach: input.conversation_id }
  }
  const stateless = input.conversation_id === null || input.conversation !== undefined || isStealth(mode)
  return stateless ? 'none' : 'new'
}

/**
 * Checks what the schema of a request cannot express (docs/api.md 2.1): a prompt that is not blank, metadata within 50
 * keys and 16 KB, images within 15 MiB each. Throws 400 `validation_error`.
 */
export function assertInput(input: CompletionInput): void {
  if (isBlank(input.prompt))
    throw new AppError(
      'validation_error',
      '"prompt" is missing or blank. Send a non-empty string, for example {"prompt":"Hello"}.',
      { param: 'prompt', details: [{ path: 'prompt', message: '"prompt" is blank.' }] },
    )
  if (input.metadata) assertMetadata(input.metadata)
  for (const [place, attachment] of (input.attachments ?? []).entries())
    assertAttachment(attachment, pathOfAttachment(attachment, place))
}
