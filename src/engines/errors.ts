import { defineError } from '../kernel/errors'

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
    `The engine for mode "${mode}" cannot do ${missing}. Nothing was charged. Send the request without, or another mode (in a chat another "model").`,
)

/** 503 in the middle of a stream: the text so far has been delivered, the rest does not come. */
export const engineBrokeOff = defineError(
  'unavailable',
  'engine_unavailable',
  (mode: string) =>
    `The engine for mode "${mode}" stopped in the middle of its answer. ${alternative(mode)}. The operator can look up this request id.`,
)

/** 500: the upstream says that our own address, key or model name is wrong. */
export const engineMisconfigured = defineError(
  'broken',
  'server_error',
  (mode: string) =>
    `The engine for mode "${mode}" is misconfigured on this server. Nothing was charged. The operator can look up this request id.`,
)
