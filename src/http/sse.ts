import type { Server } from 'bun'
import type { Clock } from '../kernel/clock'
import { AppError } from '../kernel/errors'
import { errorFields, type Log } from '../kernel/log'
import { SSE_DONE, SSE_HEADERS, SSE_HEARTBEAT, sseFrame } from '../kernel/stream'
import type { AccessLog } from './access-log'
import type { Exchange } from './context'
import { toEnvelope } from './envelope'

type Deps = { clock: Clock; log: Log; accessLog: AccessLog }

type Stream<T> = {
  exchange: Exchange
  request: Request
  route: string
  server: Server<unknown> | null
  source: AsyncGenerator<T>
  /** Encodes one item as one or more complete frames. */
  frame(item: T): string
  /** Makes the frame sent after 10 s of silence, once a first item was sent. */
  heartbeat?: (elapsedMs: number) => string
  /** Whether `[DONE]` follows an error frame: in chat streams, not in native ones (contract 3, 4). */
  endsWithDone: boolean
}

const SILENCE_MS = 10_000
/** How long to wait for the first item before the stream opens anyway; an error until then is plain JSON. */
const OPENING_MS = 250

export type Streams = ReturnType<typeof createStreams>

/**
 * Answers with server-sent events. The source is pulled: a client that stalls stops it, a client that leaves ends it.
 * Errors before the first frame are thrown, so they keep their status.
 */
export function createStreams({ clock, log, accessLog }: Deps) {
  async function open<T>(stream: Stream<T>): Promise<Response> {
    const { exchange, request, server } = stream
    const first = stream.source.next()
    const early = await Promise.race([first, clock.sleep(OPENING_MS).then(() => null)])
    server?.timeout(request, 0)
    exchange.streaming = true
    const body = frames(stream, early === null ? first : Promise.resolve(early))
    // Nothing is pulled for a client that has left, so its source would never end (I31).
    const leave = () => {
      const end = async () => {
        await body.next()
        await body.return(undefined)
      }
      end().catch((error) => log.error({ request_id: exchange.requestId, ...errorFields(error) }, 'fault'))
    }
    if (request.signal.aborted) leave()
    else request.signal.addEventListener('abort', leave, { once: true })
    return new Response(body as unknown as BodyInit, { headers: SSE_HEADERS })
  }

  async function* frames<T>(stream: Stream<T>, first: Promise<IteratorResult<T>>): AsyncGenerator<string> {
    const { exchange, source } = stream
    const over = new AbortController()
    const silence = () => clock.sleep(SILENCE_MS, over.signal).then(() => null)
    let next = first
    let lastAt = clock.monotonic()
    let begun = false
    // One timer serves many items: when it fires, it checks how long ago the last item came.
    let alarm = silence()
    try {
      for (;;) {
        const item = await Promise.race([next, alarm])
        if (item === null) {
          alarm = silence()
          if (clock.monotonic() - lastAt >= SILENCE_MS / 2) yield begun ? beat(stream) : SSE_HEARTBEAT
          continue
        }
        if (item.done) return
        lastAt = clock.monotonic()
        begun = true
        yield stream.frame(item.value)
        next = source.next()
      }
    } catch (error) {
      yield failure(stream, error)
    } finally {
      over.abort()
      await source.return(undefined)
      accessLog(exchange, 200, stream.route)
    }
  }

  const beat = <T>({ heartbeat, exchange }: Stream<T>): string =>
    heartbeat ? heartbeat(Math.round(clock.monotonic() - exchange.startedAt)) : SSE_HEARTBEAT

  function failure<T>({ exchange, endsWithDone }: Stream<T>, error: unknown): string {
    const known =
      error instanceof AppError ? error : new AppError('broken', 'server_error', 'Something went wrong on our side.')
    if (known !== error) log.error({ request_id: exchange.requestId, ...errorFields(error) }, 'fault')
    exchange.errorCode = known.code
    const data = toEnvelope(known, exchange.requestId)
    return endsWithDone ? sseFrame({ data }) + SSE_DONE : sseFrame({ event: 'error', data })
  }

  return { open }
}
