import { spentBy } from '../../support/spent'
import { NEVER_MS } from './health'

/*
 * A worker: asks for `/health` over and over. Time that either side was ready and another process had
 * the core says nothing about the server, so it is taken off.
 */
declare const self: Worker

const REQUEST = 'GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
const EVERY_MS = 50

const latencies: number[] = []
let stopped = false

self.onmessage = ({ data }: MessageEvent<'stop' | { port: number; pid: number }>) => {
  if (data === 'stop') stopped = true
  else void watch(data.port, data.pid)
}

async function watch(port: number, pid: number): Promise<void> {
  const queued = () => spentBy('thread-self').queuedMs + spentBy(String(pid)).queuedMs
  for (let turn = 0; !stopped; turn++) {
    const [began, queuedBefore] = [performance.now(), queued()]
    const ok = await ask(port)
    const ms = performance.now() - began - (queued() - queuedBefore)
    // The first turn loads this thread's own code.
    if (turn > 0 && !stopped) latencies.push(ok ? ms : NEVER_MS)
    await Bun.sleep(EVERY_MS)
  }
  self.postMessage(latencies)
}

const ask = (port: number): Promise<boolean> =>
  new Promise((answered) => {
    const connecting = Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        open: (socket) => void socket.write(REQUEST),
        data: (socket, chunk) => {
          answered(chunk.toString().startsWith('HTTP/1.1 200'))
          socket.end()
        },
        close: () => answered(false),
        error: () => answered(false),
      },
    })
    connecting.catch(() => answered(false))
  })
