/** One server-sent event. `data` travels as JSON on one line, so no text in it can end the frame (I30). */
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

/** Headers of every streamed answer (contract 3). */
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

const ENDED = { value: undefined, done: true } as const

/** Text from one writer to one reader: what is written while the reader is busy goes to it in one piece. */
export function createPipe() {
  let waiting = ''
  let isOver = false
  let hasLeft = false
  let asking: ((result: IteratorResult<string, undefined>) => void) | null = null
  let room: PromiseWithResolvers<void> | null = null

  return { write, end, leave, read, isEmpty: () => waiting === '', hasLeft: () => hasLeft }

  /** Nothing, or a promise: until a reader that is behind has caught up, and rejected once it has left. */
  function write(text: string): void | Promise<void> {
    if (hasLeft) return unheard(Promise.reject(new ReaderLeft()))
    waiting += text
    answer()
    if (waiting.length < MAX_WAITING) return
    room ??= Promise.withResolvers()
    return unheard(room.promise)
  }

  /** All has been written. */
  function end(): void {
    isOver = true
    answer()
  }

  /** The reader has gone: nothing of what waits is read. */
  function leave(): void {
    hasLeft = true
    waiting = ''
    room?.reject(new ReaderLeft())
    answer()
  }

  /** Gives the reader what it asks for, once there is something. */
  function answer(): void {
    if (!asking || !(waiting || isOver || hasLeft)) return
    const give = asking
    asking = null
    const value = waiting
    waiting = ''
    room?.resolve()
    room = null
    if (!value) hasLeft = true
    give(value ? { value, done: false } : ENDED)
  }

  /** What is written, read once. Not a generator, because this runs for every token. */
  function read(): AsyncIterableIterator<string, undefined> {
    return {
      [Symbol.asyncIterator]() {
        return this
      },
      next: () =>
        new Promise((resolve) => {
          asking = resolve
          answer()
        }),
      async return() {
        leave()
        return ENDED
      },
    }
  }
}
