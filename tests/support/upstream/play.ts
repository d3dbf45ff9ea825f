import type { ServerResponse } from 'node:http'
import { type Dialect, frame, type ScriptedAnswer } from './dialect'
import type { Script } from './script'

export type Scene = { response: ServerResponse; dialect: Dialect; script: Script; answer: ScriptedAnswer }

const HEARD_MS = 300

const HTML = '<!doctype html><html><body>502 Bad Gateway</body></html>'

/** Sends a plain answer, or fails as the script says. */
export async function playPlain({ response, dialect, script, answer }: Scene): Promise<void> {
  if (script.has('hang') || script.has('stall')) return
  if (script.has('drop')) return drop(response)
  if (script.has('html')) return end(response, 'text/html', HTML)
  if (script.has('empty')) return end(response, 'application/json', '')
  if (script.has('wrong-type'))
    return end(response, 'application/json', '{"choices":"none","content":1,"output":1,"candidates":1}')
  if (script.has('error-event')) return end(response, 'application/json', '{"error":{"message":"overloaded"}}')
  if (script.has('flood')) return await flood(response, 'application/json', 'x')

  const notice = script.has('never')
    ? { ...answer, text: Array.from({ length: 50_000 }, () => 'on').join(' ') }
    : answer
  const body = JSON.stringify(dialect.plain(notice))
  if (script.has('malformed') || script.has('truncate'))
    return end(response, 'application/json', body.slice(0, body.length / 2))
  if (script.has('cut')) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.write(body.slice(0, body.length / 2))
    await Bun.sleep(10)
    return drop(response)
  }
  end(response, 'application/json', body)
}

/** Streams an answer, or fails as the script says. */
export async function playStream(scene: Scene): Promise<void> {
  const { response, dialect, script, answer } = scene
  if (script.has('hang')) return
  if (script.has('drop')) return drop(response)
  if (script.has('html')) return end(response, 'text/html', HTML)
  if (script.has('empty')) return end(response, 'text/event-stream', '')
  if (script.has('flood')) return await flood(response, 'text/event-stream', dialect.delta('x'.repeat(200_000)))

  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(dialect.open(answer.thoughts))
  if (script.has('malformed')) return void response.end(frame('{"choices":[{'))
  if (script.has('wrong-type')) return void response.end(frame('{"choices":"none"}'))
  if (script.has('error-event')) {
    return void response.end(
      frame({ type: 'error', error: { type: 'overloaded_error', message: 'overloaded' } }, 'error'),
    )
  }
  if (script.has('huge-event')) return void response.end(dialect.delta('x'.repeat(5_000_000)) + dialect.close(answer))
  if (script.has('never')) return await babble(scene)

  const words = answer.text.match(/\s*\S+/g) ?? []
  const half = script.has('truncate') || script.has('cut') ? Math.ceil(words.length / 2) : words.length
  const pause = Number(script.get('slow') ?? 0)
  for (const word of words.slice(0, half)) {
    if (pause) await Bun.sleep(pause)
    response.write(dialect.delta(word))
    if (script.has('stall')) return
  }
  if (script.has('cut')) {
    // Wait until the client has read the data: when a connection is reset, unread data is lost.
    await Bun.sleep(HEARD_MS)
    return drop(response)
  }
  response.end(script.has('truncate') ? '' : dialect.close(answer))
}

async function babble({ response, dialect }: Scene): Promise<void> {
  while (!response.destroyed && !response.writableEnded) {
    if (!response.write(dialect.delta(' on'))) await Bun.sleep(5)
    else await Bun.sleep(0)
  }
}

/** Sends more bytes than any answer may have, as fast as the client reads them. */
async function flood(response: ServerResponse, type: string, piece: string): Promise<void> {
  response.writeHead(200, { 'content-type': type })
  const block = piece.repeat(Math.ceil(1_000_000 / piece.length))
  for (let megabytes = 0; megabytes < 60 && !response.destroyed; megabytes++) {
    if (!response.write(block)) await Bun.sleep(2)
  }
  response.end()
}

const end = (response: ServerResponse, type: string, body: string): void => {
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

const drop = (response: ServerResponse): void => void response.socket?.destroy()
