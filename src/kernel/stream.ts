/** One server-sent event. `data` is sent as JSON on one line, so no text in it can end the frame. */
export type SseFrame = { event?: string; data: unknown /** Reconnecting readers send the id back. */; id?: number }

/** The frame as one string, written in one chunk, because some clients lose the event name at a chunk boundary. */
export const sseFrame = ({ event, data, id }: SseFrame): string =>
  `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${sseJson(data)}\n\n`

/** JSON on one line. Escapes U+2028 and U+2029, which JSON allows but some parsers treat as line ends. */
export const sseJson = (data: unknown): string => {
  const json = JSON.stringify(data)
  return /[\u2028\u2029]/.test(json) ? json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') : json
}

export const SSE_DONE = 'data: [DONE]\n\n'
export const SSE_HEARTBEAT = ': keep-alive\n\n'

/** Headers of every streamed answer (docs/api.md 3). */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** The error that rejects a write to a stream after its reader has left. */
export class ReaderLeft extends Error {
  override name = 'ReaderLeft'
}

/** Number of pending characters from which a reader counts as behind. */
const MAX_WAITING = 8 * 1024

/** Not every writer awaits its write, so the rejection may have no handler. */
function unheard(promise: Promise<void>): Promise<void> {
  promise.catch(() => undefined)
  return promise
}

/** The writer that the runtime provides for a stream of type `direct`. */
type Direct = { write(text: string): number | Promise<number>; close(): void }

/**
 * Text from one writer to one reader. Hands text to the runtime without a promise per piece. Everything written in one
 * turn of the event loop is sent as one piece.
 */
export function createPipe() {
  let waiting = ''
  let isOver = false
  let hasLeft = false
  let isBehind = false
  let reader: Direct | null = null
  let room: PromiseWithResolvers<void> | null = null
  const ended = Promise.withResolvers<void>()

  return { write, end, leave, read, isEmpty: () => waiting === '' && !isBehind, hasLeft: () => hasLeft }

  /**
   * Returns nothing, or a promise if the reader is behind. The promise resolves when the reader has caught up, and
   * rejects when it has left.
   */
  function write(text: string): void | Promise<void> {
    if (hasLeft) return unheard(Promise.reject(new ReaderLeft()))
    if (reader) hand(reader, text)
    else {
      waiting += text
      isBehind = waiting.length >= MAX_WAITING
    }
    if (!isBehind) return
    room ??= Promise.withResolvers()
    return unheard(room.promise)
  }

  /** The runtime buffers what the reader does not take, and its promise resolves when the buffer is empty. */
  function hand(to: Direct, text: string): void {
    const sent = to.write(text)
    if (typeof sent === 'number' || isBehind) return
    isBehind = true
    sent.then(caughtUp, leave)
  }

  function caughtUp(): void {
    isBehind = false
    room?.resolve()
    room = null
  }

  /** Ends the stream after everything written so far. */
  function end(): void {
    isOver = true
    if (reader && !hasLeft) close(reader)
  }

  /** Handles a reader that has left. Pending text is dropped. */
  function leave(): void {
    hasLeft = true
    waiting = ''
    room?.reject(new ReaderLeft())
    if (reader) close(reader)
  }

  function close(to: Direct): void {
    hasLeft = true
    to.close()
    ended.resolve()
  }

  /** The written text as a stream that can be read once. */
  function read(): ReadableStream<Uint8Array> {
    const source = {
      type: 'direct',
      pull(direct: Direct) {
        const before = waiting
        waiting = ''
        reader = direct
        caughtUp()
        if (before) hand(direct, before)
        if (isOver || hasLeft) close(direct)
        return ended.promise
      },
      cancel: leave,
    }
    return new ReadableStream(source as unknown as UnderlyingDefaultSource)
  }
}
