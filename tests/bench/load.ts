import type { Socket } from 'bun'

export type Shot = { host: string; port: number; request: Uint8Array }
export type Volley = { perSecond: number; p50Ms: number; p99Ms: number; failures: number; count: number }

const HEAD_END = Buffer.from('\r\n\r\n')

/**
 * Sends the same request over keep-alive connections, each as soon as the last answer is whole, for as long or as often
 * as given. Written
 * on sockets because a client that parses would be measured along with the server.
 */
export async function fire(
  shot: Shot,
  connections: number,
  durationMs: number,
  calls = Number.POSITIVE_INFINITY,
): Promise<Volley> {
  const times: number[] = []
  let failures = 0
  let sent = 0
  const endsAt = performance.now() + durationMs
  const one = () =>
    new Promise<void>((resolve, reject) => {
      let sentAt = 0
      let pending: Buffer = Buffer.alloc(0)
      const send = (socket: Socket) => {
        if (performance.now() >= endsAt || sent >= calls) return void socket.end()
        sent += 1
        sentAt = performance.now()
        socket.write(shot.request)
      }
      void Bun.connect({
        hostname: shot.host,
        port: shot.port,
        socket: {
          open: send,
          data: (socket, chunk) => {
            pending = pending.length ? Buffer.concat([pending, chunk]) : chunk
            const size = sizeOf(pending)
            if (size === null || pending.length < size) return
            times.push(performance.now() - sentAt)
            if (pending[9] !== 0x32) failures++
            pending = pending.subarray(size)
            send(socket)
          },
          close: () => resolve(),
          error: (_, error) => reject(error),
        },
      }).catch(reject)
    })
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: connections }, one))
  const seconds = (performance.now() - startedAt) / 1000
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return { perSecond: times.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), failures, count: times.length }
}

/** Bytes of the whole answer, or null while that cannot be known. Chunked answers end with an empty chunk. */
function sizeOf(bytes: Buffer): number | null {
  const head = bytes.indexOf(HEAD_END)
  if (head < 0) return null
  const text = bytes.toString('latin1', 0, head).toLowerCase()
  const length = /content-length: (\d+)/.exec(text)?.[1]
  if (length !== undefined) return head + 4 + Number(length)
  const end = bytes.indexOf('\r\n0\r\n\r\n', head)
  return end < 0 ? null : end + 7
}

/** One request as bytes. */
export function requestBytes(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Uint8Array {
  const text = body === undefined ? '' : JSON.stringify(body)
  const all = { host: 'localhost', ...headers, ...(text ? { 'content-type': 'application/json' } : {}) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  const length = method === 'GET' ? [] : [`content-length: ${Buffer.byteLength(text)}`]
  return Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, ...length, '', text].join('\r\n'))
}
