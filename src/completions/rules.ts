import type { Firing } from '../guardrails/schema'
import { AppError, defineError, invalidInput } from '../kernel/errors'
import { isBlank } from '../kernel/text'
import type { StoredAnswer } from './cache'
import { typeOfPicture } from './pictures'
import type { Run } from './run'
import type { Attachment, CompletionInput, Mode, StructuredOutput } from './schema'

export const emptyPrompt = defineError(
  'invalid',
  'empty_prompt',
  () => '"messages" has no user message. Add one: {"role":"user","content":"Hello"}.',
)

export const blankPrompt = defineError(
  'invalid',
  'empty_prompt',
  (place: number) => `"messages[${place}]", the last user message, has neither text nor an image. Add your question.`,
)

const emptyPromptText = () =>
  new AppError(
    'invalid',
    'validation_error',
    '"prompt" is missing or blank. Send a non-empty string, for example {"prompt":"Hello"}.',
    { param: 'prompt', details: [{ path: 'prompt', message: '"prompt" is blank.' }] },
  )

/** Clients know this refusal by the words "maximum context length". It names what is too long. */
export const promptTooLong = (tokens: number, limit: number, { door, cameFrom }: Run['request']) => {
  const param = cameFrom?.whole ?? 'prompt'
  const extras = { param, details: [{ path: param, message: `about ${tokens} tokens, at most ${limit}` }] }
  if (door === 'responses') return contextExceeded.with(extras, tokens, limit)
  const message = `"${param}" and what goes with it come to about ${tokens} tokens; the maximum context length of the engine is ${limit}. Shorten it or split it.`
  return new AppError('invalid', 'validation_error', message, extras)
}

const contextExceeded = defineError(
  'invalid',
  'context_length_exceeded',
  (tokens: number, limit: number) =>
    `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens.`,
)

export const requestTimeout = defineError('timeout', 'request_timeout', (seconds: number, mode: string) =>
  mode === 'research' || mode === 'video'
    ? `Mode "${mode}" did not finish within ${seconds} s. Send it to POST /${mode} and read poll_url.`
    : `The answer did not finish within ${seconds} s. Try again, ask for less, or send "stream": true.`,
)

/** The prompt alone costs more than the run may cost. */
export const overBounds = defineError(
  'unpaid',
  'insufficient_credits',
  () => 'The prompt alone would cost more than the limit of this run. Nothing was charged; shorten the prompt.',
)

const MAX_METADATA_KEYS = 50
const MAX_METADATA_BYTES = 16 * 1024
export const MAX_IMAGE_BYTES = 15 * 1024 * 1024
const MAX_ADDRESS_CHARS = 2_048

/**
 * Checks what the schema of an order cannot express (contract 2.1): a prompt that is not blank, metadata within
 * 50 keys and 16 KB, images within 15 MiB each. Throws 400 `validation_error`.
 */
export function assertOrder(input: CompletionInput): void {
  if (isBlank(input.prompt)) throw emptyPromptText()
  if (input.metadata) assertMetadata(input.metadata)
  for (const [place, attachment] of (input.attachments ?? []).entries())
    assertAttachment(attachment, pathOfAttachment(attachment, place))
}

/** Where a native order holds the data or the URL of an image. */
export const pathOfAttachment = ({ type }: Attachment, place: number): string =>
  `attachments[${place}].${type === 'image_base64' ? 'data' : 'url'}`

export function assertMetadata(metadata: Record<string, unknown>): void {
  const keys = Object.keys(metadata).length
  if (keys > MAX_METADATA_KEYS) {
    throw invalidInput('metadata', `"metadata" has ${keys} keys; at most ${MAX_METADATA_KEYS} are allowed.`)
  }
  const bytes = Buffer.byteLength(JSON.stringify(metadata))
  if (bytes > MAX_METADATA_BYTES) {
    throw invalidInput('metadata', `"metadata" has ${bytes} bytes as JSON; at most ${MAX_METADATA_BYTES} are allowed.`)
  }
}

/**
 * Throws 400 on data that is not base64, is more than 15 MiB decoded or is no picture. `path` is where the data or the
 * URL is in the body.
 */
export function assertAttachment(attachment: Attachment, path: string): void {
  const inline = attachment.type === 'image_base64' ? base64Of(attachment.data) : inlineOf(attachment.url)
  if (inline !== null) assertPicture(inline, path)
  else if (attachment.type === 'image_url' && attachment.url.length > MAX_ADDRESS_CHARS) {
    throw invalidInput(path, `"${path}" has more than ${MAX_ADDRESS_CHARS} characters.`)
  }
}

function assertPicture(data: string, path: string): void {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw invalidInput(path, `"${path}" is not base64.`)
  const bytes = Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0)
  if (bytes > MAX_IMAGE_BYTES) throw invalidInput(path, `"${path}" is larger than 15 MiB decoded.`)
  typeOfPicture(Buffer.from(data, 'base64'), path)
}

/** The beginning of a data URL. Its type is not looked at, because the bytes decide; only a text is no picture. */
const DATA_URL = /^\s*data:(?!text\/)[^,]{0,200};base64,/i

/** The base64 of an image as engines take it: without line breaks and without the head of a data URL (contract 6). */
export const base64Of = (data: string): string => data.replace(DATA_URL, '').replace(/\s+/g, '')

/** The base64 of the image inside a data URL; null for any other URL. */
export const inlineOf = (url: string): string | null => (DATA_URL.test(url) ? base64Of(url) : null)

export const isStealth = (mode: string): boolean => mode.startsWith('stealth_')

/** Stealth changes what is kept, not how the answer is made (contract 2.1). */
const STEALTH_WORK: Record<string, string> = { stealth_text: 'fast', stealth_image: 'image', stealth_video: 'video' }

/** The mode that decides how the answer is made: `stealth_text` is answered as `fast`. */
export const workOf = (mode: string): string => STEALTH_WORK[mode] ?? mode

/** Modes whose answer is JSON, with the type that `structured_output` names. */
const STRUCTURED: Record<string, string> = { domain_analysis: 'domain_analysis', data_extraction: 'data_extraction' }

export const wantsJson = (mode: string): boolean => mode in STRUCTURED

/** Parses the answer of a JSON mode; `parse_error` reports an answer that is not JSON. */
export function structuredOutput(mode: string, content: string): StructuredOutput | undefined {
  const type = STRUCTURED[mode]
  if (!type) return undefined
  try {
    return { type, data: JSON.parse(unfenced(content)) as unknown }
  } catch {
    return { type, data: null, parse_error: 'The engine did not answer with JSON.' }
  }
}

/** The JSON object or list that is the whole answer, fenced or not; null for any other answer. */
export function readJsonAnswer(content: string): object | null {
  try {
    const value: unknown = JSON.parse(unfenced(content))
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/**
 * The content of a code fence, if the whole text is one. Uses string search, because a regular expression would
 * backtrack for minutes on an answer of many line breaks (I28).
 */
function unfenced(content: string): string {
  const text = content.trim()
  const start = text.indexOf('\n')
  const opens = start > 0 && /^```(?:json)?\s*$/.test(text.slice(0, Math.min(start, 20)))
  return opens && text.endsWith('\n```') ? text.slice(start + 1, -4) : content
}

/** Every rule that fired on the request and on its answer, which may come from the cache (contract 12). */
export const firedIn = (
  { guard }: Pick<Run, 'guard'>,
  { guardrails }: Pick<StoredAnswer, 'guardrails'>,
): readonly Firing[] =>
  guard?.firings.length ? [...guard.firings.filter(({ phase }) => phase === 'input'), ...guardrails] : guardrails

/** Warns about modes that have an endpoint of their own (contract 2.4); no endpoint but this makes a stealth video. */
export const modeWarnings = (mode: Mode): string[] =>
  mode === 'research' || mode === 'video'
    ? [
        `Mode "${mode}" takes minutes and runs inline here, up to the request time-out. Send it to POST /${mode} and read poll_url.`,
      ]
    : []

/** Tools that the caller approved beforehand: `metadata.approved_tools` (contract 22.5). */
export const approvedIn = (metadata: Record<string, unknown> | null): string[] => {
  const named = metadata?.approved_tools
  return Array.isArray(named) ? named.filter((name) => typeof name === 'string') : []
}
