import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { errorFields, type Log } from '../kernel/log'
import { createPipe, SSE_DONE, SSE_HEADERS, SSE_HEARTBEAT, sseFrame } from '../kernel/stream'
import type { Exchange } from './context'
import { type ErrorBody, toEnvelope } from './envelope'
import type { AccessLog } from './metrics'

type Stream<T> = {
  exchange: Exchange
  request: Request
  route: string
  /** Writes every item. Await a promise from `write`: the reader is behind, or has left (`ReaderLeft`). */
  source(write: (item: T) => void | Promise<void>): Promise<unknown>
  /** Encodes one item as one or more complete frames. */
  frame(item: T): string
  /** Creates the frame to send after 10 s of silence, once a first item was sent. */
  heartbeat?: (elapsedMs: number) => string
  /** Set if the stream ends only when its reader leaves. */
  follows?: true
  /** True if `[DONE]` follows an error frame: in chat streams, not in native ones (docs/api.md 3, 4). */
  endsWithDone: boolean
  /** The frames of an error after the first byte. Default: the envelope. */
  failure?(error: ErrorBody['error']): string
  /** How long to wait for the first item before the stream opens. An error within that time is plain JSON. */
  openingMs?: number
}

const SILENCE_MS = 10_000
const OPENING_MS = 250

export type Streams = ReturnType<typeof createStreams>

/**
 * Answers with server-sent events. The source writes, and waits while a client stalls. A client that leaves aborts the
 * request's signal, which ends the source. Errors before the first item are thrown, so they keep their status.
 */
export function createStreams({ clock, log, accessLog }: { clock: Clock; log: Log; accessLog: AccessLog }) {
  async function open<T>(stream: Stream<T>): Promise<Response> {
    const { exchange, request } = stream
    const pipe = createPipe()
    const opening = Promise.withResolvers<void>()
    let isOpen = false
    let isOver = false
    let hasBegun = false
    let isSilent = true

    function write(item: T): void | Promise<void> {
      isSilent = false
      if (!hasBegun) {
        hasBegun = true
        opening.resolve()
      }
      return pipe.write(stream.frame(item))
    }

    // One timer serves many items, without reading the clock for each. Silence is an interval without any item.
    let disarm = () => {}
    const watch = (ms: number) => {
      disarm = clock.after(ms, () => {
        const beats = isSilent && pipe.isEmpty()
        watch(isSilent ? SILENCE_MS : SILENCE_MS / 2)
        isSilent = true
        if (beats) void pipe.write(hasBegun ? beat(stream) : SSE_HEARTBEAT)
      })
    }

    function over(error: unknown): void {
      disarm()
      request.signal.removeEventListener('abort', pipe.leave)
      isOver = true
      if (error !== null && !isOpen && !hasBegun) {
        opening.reject(error)
        return
      }
      // A reader that has left is not an error. Any other failure is.
      if (error !== null && !(pipe.hasLeft() && error instanceof AppError)) void pipe.write(failure(stream, error))
      pipe.end()
      accessLog(exchange, 200, stream.route)
    }

    if (request.signal.aborted) pipe.leave()
    else request.signal.addEventListener('abort', pipe.leave, { once: true })
    stream.source(write).then(() => over(null), over)
    const patience = new AbortController()
    try {
      await Promise.race([opening.promise, clock.sleep(stream.openingMs ?? OPENING_MS, patience.signal)])
    } finally {
      patience.abort()
    }
    isOpen = true
    exchange.keepOpen()
    exchange.streaming = true
    exchange.follows = stream.follows === true
    if (!isOver) watch(SILENCE_MS / 2)
    return new Response(pipe.read(), { headers: SSE_HEADERS })
  }

  const beat = <T>({ heartbeat, exchange }: Stream<T>): string =>
    heartbeat ? heartbeat(Math.round(clock.monotonic() - exchange.startedAt)) : SSE_HEARTBEAT

  function failure<T>({ exchange, endsWithDone, failure: own }: Stream<T>, error: unknown): string {
    const known = error instanceof AppError ? error : new AppError('server_error', 'Something went wrong on our side.')
    if (known !== error) log.error({ request_id: exchange.requestId, ...errorFields(error) }, 'fault')
    exchange.errorCode = known.code
    const data = toEnvelope(known, exchange.requestId)
    if (own) return own(data.error)
    return endsWithDone ? sseFrame({ data }) + SSE_DONE : sseFrame({ event: 'error', data })
  }

  return { open }
}
