import { errorFields, type Log } from '../kernel/log'
import type { Exchange } from './context'
import type { AccessLog } from './metrics'

type Download = {
  exchange: Exchange
  request: Request
  route: string
  /** The file's content in pieces of text, produced only when the client can take more. */
  source: AsyncGenerator<string>
  headers: Record<string, string>
}

export type Downloads = ReturnType<typeof createDownloads>

/**
 * Answers with a file of any length in constant memory. The source is pulled, so a client that stalls pauses it and one
 * that leaves ends it. An error before the first piece keeps its status. A later one cuts the connection, so that a
 * partial file is not mistaken for a complete one.
 */
export function createDownloads({ log, accessLog }: { log: Log; accessLog: AccessLog }) {
  return async function download({ source, headers, ...from }: Download): Promise<Response> {
    const { exchange, request } = from
    const first = await source.next()
    exchange.keepOpen()
    exchange.streaming = true
    const body = pieces(from, first, source)
    // The body is never pulled after the client has left, so this ends the source.
    const leave = () => void body.return(undefined)
    if (request.signal.aborted) leave()
    else request.signal.addEventListener('abort', leave, { once: true })
    return new Response(body as unknown as BodyInit, { headers })
  }

  async function* pieces(
    { exchange, route }: Omit<Download, 'source' | 'headers'>,
    first: IteratorResult<string>,
    source: AsyncGenerator<string>,
  ): AsyncGenerator<string> {
    try {
      for (let piece = first; !piece.done; piece = await source.next()) yield piece.value
    } catch (error) {
      exchange.errorCode = 'server_error'
      log.error({ request_id: exchange.requestId, ...errorFields(error) }, 'fault')
      throw error
    } finally {
      await source.return(undefined)
      accessLog(exchange, 200, route)
    }
  }
}
