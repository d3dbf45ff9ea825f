import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chatDialect, type Dialect, type Json } from './upstream/dialect'
import { playPlain, playStream } from './upstream/play'
import { answerOf, readScript, refusalOf } from './upstream/script'

export { LIE_NAMES } from './upstream/script'

/** One call as the upstream received it. */
export type UpstreamCall = {
  path: string
  headers: Record<string, string | string[] | undefined>
  body: Json
  prompt: string
  /** Distinguishes connections. */
  clientPort: number | undefined
  stream: boolean
  /** The client disconnected before the answer ended. */
  aborted: boolean
  ended: boolean
}

export type UpstreamOptions = {
  /** The answer when the prompt contains no instruction. */
  text?: string | ((body: Json) => string | undefined)
  dialect?: Dialect
  /** Delay before every answer. */
  delayMs?: number
  port?: number
  /** The whole answer to a request with this prompt, such as an error; undefined leaves it to the script. */
  reply?: (prompt: string) => { status: number; body: unknown } | undefined
}

export type Upstream = Awaited<ReturnType<typeof startUpstream>>

/** Part of every scripted error body; must never reach a tenant. */
export const UPSTREAM_SECRET = 'acme-vendor internal failure at 10.1.2.3 sk-upstream-secret'

/**
 * A scripted engine on loopback. It answers like a chat-completions server, rejects requests that real servers reject
 * (see `faultOf` of each dialect), and misbehaves as the last user message says:
 * `[[500]]` `[[429:7]]` any status, with Retry-After · `[[fail:2]]` 503 for the first two calls of this prompt ·
 * `[[hang]]` never answers · `[[held]]` answers once `release()` is called · `[[stall]]` one word, then silence ·
 * `[[delay:ms]]` answers late · `[[slow:ms]]` waits between words · `[[drop]]` closes without a byte ·
 * `[[cut]]` breaks off in the middle · `[[truncate]]` ends cleanly without its finish · `[[malformed]]` `[[html]]`
 * `[[empty]]` `[[wrong-type]]` · `[[error-event]]` reports an error inside a 200 · `[[never]]` never ends ·
 * `[[huge-event]]` 5 MB in one event · `[[flood]]` more than 50 MB · `[[lies:kind]]` false usage (see LIE_NAMES) ·
 * `[[tokens:n]]` n words · `[[say:text]]` this text · `[[finish:length]]` · `[[tool:name]]` one tool call ·
 * `[[think:text]]` thoughts before it · `[[cached:n]]` cached prompt tokens ·
 * `[[plan:a{};b{}|c{}]]` tool calls turn by turn (see answerOf)
 */
export async function startUpstream(options: UpstreamOptions = {}) {
  const dialect = options.dialect ?? chatDialect
  const calls: UpstreamCall[] = []
  const faults: string[] = []
  const seen = new Map<string, number>()
  let gate = Promise.withResolvers<void>()

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  // A connection that waits on a slow machine is not ended while a request is on its way.
  server.keepAliveTimeout = 0
  const textOf = (body: Json) => (typeof options.text === 'function' ? options.text(body) : options.text)
  await new Promise<void>((ready) => server.listen(options.port ?? 0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    if (request.method === 'GET')
      return sendJson(response, 200, { object: 'list', data: [{ id: 'scripted', object: 'model' }] })
    const body = JSON.parse(await readBody(request)) as Json
    const call = record(path, request, response, body)
    const script = readScript(call.prompt)
    const released = gate.promise
    const before = seen.get(call.prompt) ?? 0
    seen.set(call.prompt, before + 1)

    const delay = Number(script.get('delay') ?? options.delayMs ?? 0)
    if (delay) await Bun.sleep(delay)
    if (script.has('held')) await released
    const reply = options.reply?.(call.prompt)
    if (reply) return sendJson(response, reply.status, reply.body)
    const refusal = refusalOf(script, before) ?? faultOf(body)
    if (refusal) {
      if (refusal.retryAfter) response.setHeader('retry-after', refusal.retryAfter)
      return sendJson(response, refusal.status, {
        error: { message: UPSTREAM_SECRET, type: 'scripted', code: 'scripted' },
      })
    }
    const scripted = answerOf(script, textOf(body), dialect.turnOf(body))
    await (call.stream ? playStream : playPlain)({ response, dialect, script, answer: scripted })
  }

  function faultOf(body: Json) {
    const fault = dialect.faultOf(body)
    if (fault) faults.push(fault)
    return fault && { status: 400, retryAfter: '' }
  }

  function record(path: string, request: IncomingMessage, response: ServerResponse, body: Json): UpstreamCall {
    const call: UpstreamCall = {
      path,
      headers: request.headers,
      clientPort: request.socket.remotePort,
      body,
      prompt: dialect.promptOf(body),
      stream: dialect.wantsStream(path, body),
      aborted: false,
      ended: false,
    }
    calls.push(call)
    response.on('close', () => {
      call.ended = response.writableFinished
      call.aborted = !response.writableFinished
    })
    return call
  }

  return {
    /** The base URL to configure a driver with. */
    url: `http://127.0.0.1:${port}${dialect.base}`,
    port,
    calls,
    /** Reasons of the requests it rejected as malformed. */
    faults,
    /** Number of calls whose client disconnected before the end. */
    aborted: () => calls.filter((call) => call.aborted).length,
    /** Whether a prompt containing these words has arrived. */
    asked: (words: string) => calls.some(({ prompt }) => prompt.includes(words)),
    /** Answers all `[[held]]` calls that are waiting now. */
    release() {
      gate.resolve()
      gate = Promise.withResolvers()
    },
    reset() {
      calls.length = 0
      faults.length = 0
      seen.clear()
    },
    stop: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request as AsyncIterable<Uint8Array>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}
