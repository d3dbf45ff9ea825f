import { inUse } from '../../src/kernel/port-holder'
import { defineCommand } from '../command'
import { EXIT } from '../exit'
import { usageFailure } from '../failure'
import { formatOf } from '../globals'
import { column } from '../output/columns'
import { safeJson } from '../output/json'
import { isStructured } from '../output/print'
import type { Shell } from '../shell'
import { duration, flag, whole } from '../words'

const MOST_BYTES = 1024 * 1024
const PORT = 5056

const columns = [
  column('at', 'AT', { kind: 'time' }),
  column('method', 'METHOD'),
  column('path', 'PATH'),
  column('bytes', 'BYTES', { kind: 'number' }),
  column('status', 'ANSWERED', { kind: 'number' }),
  column('event', 'EVENT', { least: true }),
]

export const devSink = defineCommand({
  path: 'dev sink',
  summary: 'Receive requests on this machine and print them',
  about:
    'Listens on 127.0.0.1 until Ctrl-C, prints a line for each request, and answers 204. --status and --delay test how a sender retries. Use it with webhooks listen --forward-to, or with SVC_EGRESS_ALLOW=127.0.0.0/8 in dev mode.',
  examples: ['dev sink', 'dev sink --port 3000 --status 503 --delay 2s --print-body'],
  apis: ['host'],
  impact: 'read',
  columns,
  flags: {
    port: whole('N', `port to listen on; ${PORT} by default, 0 picks a free one`, { min: 0, max: 65_535 }),
    status: whole('N', 'status to answer with; 204 by default', { min: 200, max: 599 }),
    delay: duration('2s', 'how long to wait before answering'),
    printBody: flag('print the body of each request'),
  },
  async run(shell, { port = PORT, status = 204, delay = 0, printBody }) {
    const show = printer(shell, printBody)
    let count = 0
    const server = listen(port, async (request) => {
      const body = await request.text()
      const { pathname, search } = new URL(request.url)
      const event = eventIn(body)
      const at = new Date(shell.clock.now()).toISOString()
      const bytes = Buffer.byteLength(body)
      count += 1
      show({ at, method: request.method, path: pathname + search, bytes, status, event }, body, request.headers)
      await shell.clock.sleep(delay, shell.signal)
      return new Response(null, { status })
    })
    shell.note(`Listening at http://127.0.0.1:${server.port}/, answering ${status}. Stop with Ctrl-C.`)
    await stopped(shell.signal)
    await server.stop(true)
    shell.note(`${count} ${count === 1 ? 'request' : 'requests'} came.`)
    shell.exitCode = EXIT.interrupted
  },
})

/** What an event of this server calls itself; null in what is none. */
function eventIn(body: string): string | null {
  try {
    const { type } = JSON.parse(body) as { type?: unknown }
    return typeof type === 'string' ? type : null
  } catch {
    return null
  }
}

/** @throws CommandFailed 2 for a port in use */
function listen(port: number, fetch: (request: Request) => Promise<Response>) {
  try {
    return Bun.serve({ port, hostname: '127.0.0.1', maxRequestBodySize: MOST_BYTES, development: false, fetch })
  } catch (error) {
    if ((error as { code?: string }).code !== 'EADDRINUSE') throw error
    throw usageFailure(`Port ${port} ${inUse(port)}.`, `svc-admin dev sink --port ${port + 1}`)
  }
}

function printer(shell: Shell, withBody: boolean) {
  const asJson = isStructured(formatOf(shell.globals)) || !shell.io.outIsTty
  const feed = asJson ? null : shell.print.feed(columns)
  return (row: object, body: string, headers: Headers): void => {
    if (feed) feed([row])
    else shell.io.out(safeJson({ ...row, headers: Object.fromEntries(headers), ...(withBody ? { body } : {}) }))
    if (feed && withBody) shell.io.out(safeJson(body))
  }
}

const stopped = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
