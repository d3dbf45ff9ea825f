import { type AppError, defineError } from '../kernel/errors'
import type { Refusal, RefusedPart } from './refusals'

/** What the caller can do: try again, or use `fast` unless that failed. A chat has no `mode`; its `model` decides. */
const alternative = (mode: string) =>
  mode === 'fast' ? 'Try again shortly' : 'Try again shortly, or send "mode":"fast" (in a chat "model":"svc-1-flash")'

/** 503: the primary and every fallback engine failed before the first byte (contract 22.3). */
export const engineUnavailable = defineError(
  'unavailable',
  'engine_unavailable',
  (mode: string) =>
    `The engine for mode "${mode}" did not answer. Nothing was charged. ${alternative(mode)}. The operator can look up this request id.`,
)

/** 503: nothing is connected that could answer this mode. */
export const engineMissing = defineError(
  'unavailable',
  'engine_unavailable',
  (mode: string) =>
    `No engine for mode "${mode}" is connected on this server. Nothing was charged. Send another mode (in a chat another "model"), or ask the operator to connect one.`,
)

/** 503: none of the engines that could answer takes what the request brings (contract 28.4). */
export const engineUnable = defineError(
  'unavailable',
  'engine_unavailable',
  (mode: string, missing: string) =>
    `The engine for mode "${mode}" cannot do ${missing}. Nothing was charged. Send the request without it, or use another mode (in a chat another "model").`,
)

/** 503 in the middle of a stream: the text so far has been delivered, the rest does not come. */
export const engineBrokeOff = defineError(
  'unavailable',
  'engine_unavailable',
  (mode: string) =>
    `The engine for mode "${mode}" stopped in the middle of its answer. ${alternative(mode)}. The operator can look up this request id.`,
)

/** What an engine could not take, besides a request that is too long. */
const COULD_NOT_TAKE: Record<Exclude<RefusedPart, 'length'>, string> = {
  images: 'an image of this request. Send it as PNG, JPEG or WebP, make it smaller, or leave it out.',
  tools: 'the tools of this request or their calls. Check their names and JSON Schemas, or leave them out.',
  schema: 'the requested answer format. Simplify the JSON Schema, or leave it out.',
  temperature: 'this "temperature". Send one between 0 and 1, or leave it out.',
  content: 'this request because of its content rules. Rephrase it.',
  request: 'this request as it was sent. The operator can look up this request id.',
}

/**
 * 400: the engine refused the request itself, which is not charged (contract 22.3). Chat clients know one that is too
 * long by the words "maximum context length". `counted` is our own count of its tokens.
 */
export function engineRejected({ part, sent, max }: Refusal, counted: number, cause: unknown): AppError {
  if (part !== 'length') return refused.with({ cause }, `The engine could not take ${COULD_NOT_TAKE[part]}`)
  const tokens = sent ?? `about ${counted}`
  const sentence =
    max === null
      ? `This request comes to ${tokens} tokens, which is more than the maximum context length of the engine. Shorten it or split it.`
      : `This request comes to ${tokens} tokens; the maximum context length of the engine is ${max}. Shorten it or split it.`
  const detail = max === null ? `${tokens} tokens are too many` : `${tokens} tokens, at most ${max}`
  return refused.with({ param: 'prompt', details: [{ path: 'prompt', message: detail }], cause }, sentence)
}

const refused = defineError('invalid', 'validation_error', (sentence: string) => sentence)
