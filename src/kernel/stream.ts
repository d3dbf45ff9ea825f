/** One server-sent event. `data` travels as JSON on one line, so no text in it can end the frame (I30). */
export type SseFrame = { event?: string; data: unknown }

/** The frame as one string, to be written in one chunk: some clients forget the event name at a chunk edge. */
export const sseFrame = ({ event, data }: SseFrame): string =>
  event === undefined ? `data: ${oneLine(data)}\n\n` : `event: ${event}\ndata: ${oneLine(data)}\n\n`

/** Escapes U+2028 and U+2029, which JSON does not and some parsers take for line ends. */
const oneLine = (data: unknown): string => {
  const json = JSON.stringify(data)
  return /[\u2028\u2029]/.test(json) ? json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') : json
}

export const SSE_DONE = 'data: [DONE]\n\n'
export const SSE_HEARTBEAT = ': keep-alive\n\n'

/** Headers of every streamed answer (contract 3). */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const
