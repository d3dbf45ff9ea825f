import { createServer, type Socket } from 'node:net'

/** What an upstream sends: a head unless there is no status, then the chunks, then its end. */
export type CaseReply = {
  status?: number
  headers?: Record<string, string>
  head_after_ms?: number
  chunks: { text?: string; base64?: string; repeat?: number; after_ms?: number }[]
  end: 'close' | 'keep_open' | 'reset'
}

type UpstreamRequest = { method: string; path: string; body: string }

/** The longest that a connection is kept open: several times what any case waits. */
const KEEP_OPEN_MS = 15_000

/**
 * An upstream on loopback that answers byte for byte as the case says whose `[id]` stands in the request. The last
 * reply repeats. `received` has the bodies of each case in order.
 */
export async function startCaseUpstream(replies: Record<string, CaseReply[]>) {
  const received = new Map<string, string[]>()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    let buffer: Buffer = Buffer.alloc(0)
    socket.on('data', (bytes: Buffer) => {
      buffer = Buffer.concat([buffer, bytes])
      const request = readRequest(buffer)
      if (!request) return
      buffer = Buffer.alloc(0)
      void answer(socket, request)
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the upstream has no port')

  async function answer(socket: Socket, { method, body }: UpstreamRequest): Promise<void> {
    if (method === 'GET') {
      const models = JSON.stringify({ object: 'list', data: [{ id: 'mock-1', object: 'model' }] })
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${models.length}\r\n\r\n${models}`,
      )
      return
    }
    const id = /\[(\d\d-[a-z0-9-]+)\]/.exec(body)?.[1] ?? ''
    const bodies = received.get(id) ?? []
    received.set(id, [...bodies, body])
    const all = replies[id]
    if (!all) throw new Error(`no case has the id ${id}`)
    await play(socket, all[Math.min(bodies.length, all.length - 1)]!)
  }

  return {
    url: `http://127.0.0.1:${address.port}`,
    received: (id: string) => received.get(id) ?? [],
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

function readRequest(buffer: Buffer): UpstreamRequest | undefined {
  const headEnd = buffer.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = buffer.subarray(0, headEnd).toString('latin1')
  const [method = '', path = ''] = head.split(' ')
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  const body = buffer.subarray(headEnd + 4)
  return body.length < length ? undefined : { method, path, body: body.toString('utf8') }
}

async function play(socket: Socket, reply: CaseReply): Promise<void> {
  if (reply.head_after_ms) await Bun.sleep(reply.head_after_ms)
  const chunked = reply.status !== undefined && !('content-length' in (reply.headers ?? {}))
  if (reply.status !== undefined) {
    const headers = { ...reply.headers, ...(chunked ? { 'transfer-encoding': 'chunked' } : {}), connection: 'close' }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`HTTP/1.1 ${reply.status} Scripted\r\n${lines.join('')}\r\n`)
  }
  for (const { text = '', base64, repeat = 1, after_ms } of reply.chunks) {
    const once = base64 === undefined ? Buffer.from(text) : Buffer.from(base64, 'base64')
    const bytes = Buffer.concat(Array.from({ length: repeat }, () => once))
    if (after_ms) await Bun.sleep(after_ms)
    if (socket.destroyed) return
    if (chunked) socket.write(`${bytes.length.toString(16)}\r\n`)
    socket.write(bytes)
    if (chunked) socket.write('\r\n')
  }
  if (reply.end === 'reset') socket.resetAndDestroy()
  else if (reply.end === 'close') socket.end(chunked ? '0\r\n\r\n' : '')
  else setTimeout(() => socket.destroy(), KEEP_OPEN_MS).unref()
}
