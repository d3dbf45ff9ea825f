import { spentBy } from '../support/spent'

/*
 * `bun tests/floods/health-process.ts PORT PID`: asks for `/health` every 20 ms, on a new connection, and writes a line
 * for each answer: when it was asked, in epoch milliseconds, and how long it took. Time in which this process or the
 * server was ready and another process had the core says nothing about the server, so it is taken off.
 */
const [port, pid] = process.argv.slice(2) as [string, string]
const EVERY_MS = 20
const REQUEST = 'GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

const queued = () => spentBy('thread-self').queuedMs + spentBy(pid).queuedMs

function ask(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = {
    open: (opened: { write(text: string): number }) => void opened.write(REQUEST),
    data: () => resolve(),
    close: () => resolve(),
    error: () => resolve(),
  }
  Bun.connect({ hostname: '127.0.0.1', port: Number(port), socket }).catch(() => resolve())
  return promise
}

for (;;) {
  const [at, began, queuedBefore] = [performance.timeOrigin + performance.now(), performance.now(), queued()]
  await ask()
  const ms = Math.max(0, performance.now() - began - (queued() - queuedBefore))
  process.stdout.write(`${at.toFixed(0)} ${ms.toFixed(1)}\n`)
  await Bun.sleep(EVERY_MS)
}
