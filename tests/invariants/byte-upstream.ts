import { afterAll } from 'bun:test'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chatDialect, type ScriptedAnswer, textOf } from '../support/upstream/dialect'

/** A stream as an upstream would send it: pieces of text, cut into writes of `writeBytes` bytes each. */
export type Play = { pieces: readonly string[]; writeBytes: number }

/** An engine that plays what was prepared under the first word of the prompt, byte by byte if need be. */
export async function startByteUpstream() {
  const plays = new Map<string, Play>()
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of request as AsyncIterable<Uint8Array>) chunks.push(chunk)
    if (request.method === 'GET') return void response.end('{"data":[]}')
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { messages: { content: unknown }[] }
    const [name] = textOf(body.messages.at(-1)!.content).split(' ')
    await play(response, plays.get(name!)!)
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, prepare: (name: string, what: Play) => plays.set(name, what) }
}

async function play(response: ServerResponse, { pieces, writeBytes }: Play): Promise<void> {
  const ending: ScriptedAnswer = { text: '', finish: 'stop', usage: null, toolCalls: [] }
  const bytes = Buffer.from([chatDialect.open(), ...pieces.map(chatDialect.delta), chatDialect.close(ending)].join(''))
  response.socket?.setNoDelay(true)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let at = 0; at < bytes.length; at += writeBytes) {
    response.write(bytes.subarray(at, at + writeBytes))
    if (writeBytes < bytes.length) await new Promise<void>((next) => setImmediate(next))
  }
  response.end()
}
