/** One server-sent event. `data` travels as JSON on one line, so no text in it can end the frame. */
export type SseFrame = { event?: string; data: unknown /** Sent back by readers that return. */; id?: number }

/** The frame as one string, to be written in one chunk: some clients forget the event name at a chunk edge. */
export const sseFrame = ({ event, data, id }: SseFrame): string =>
  `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${sseJson(data)}\n\n`

/** JSON on one line: escapes U+2028 and U+2029, which JSON does not and some parsers take for line ends. */
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

/** What a write to a stream is rejected with when nobody reads it any more. */
export class ReaderLeft extends Error {
  override name = 'ReaderLeft'
}

/** Characters that may wait for the reader before it counts as behind. */
const MAX_WAITING = 8 * 1024

/** Not every writer waits, so nobody may hear of the rejection. */
function unheard(promise: Promise<void>): Promise<void> {
  promise.catch(() => undefined)
  return promise
}

/** What the runtime gives a stream of type `direct` to write with. */
type Direct = { write(text: string): number | Promise<number>; close(): void }

/**
 * Text from one writer to one reader. It goes to the runtime without a promise for each piece, and what is written in
 * one turn of its loop is sent in one piece.
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

  /** Nothing, or a promise: until a reader that is behind has caught up, and rejected once it has left. */
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

  /** The runtime keeps what the reader does not take, and promises to tell when it has. */
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

  /** All has been written. */
  function end(): void {
    isOver = true
    if (reader && !hasLeft) close(reader)
  }

  /** The reader has gone: nothing of what waits is read. */
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

  /** What is written, read once. */
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
