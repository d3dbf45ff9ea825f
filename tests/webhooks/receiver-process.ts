/**
 * Receivers of a process of their own, so that their work is not counted as the server's. Prints two ports: one answers
 * at once and `GET` tells what came, the other takes requests and never answers.
 */
import { createServer } from 'node:net'

let count = 0
/** Milliseconds from an event's publication, where it tells when that was. */
let late: number[] = []

const good = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method === 'GET') {
      const notice = { count, late }
      if (new URL(request.url).pathname === '/forget') late = []
      return Response.json(notice)
    }
    const { data } = (await request.json()) as { data?: { at?: number } }
    count += 1
    if (data?.at) late.push(Date.now() - data.at)
    return new Response(null, { status: 204 })
  },
})
const silent = createServer((socket) => void socket.on('error', () => undefined).resume()).listen(
  0,
  '127.0.0.1',
  () => {
    process.stdout.write(`${good.port} ${(silent.address() as { port: number }).port}\n`)
  },
)
