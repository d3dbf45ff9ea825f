/**
 * What a call costs through each API beside chat, in turn: `bun run bench compat`. Processor time of the whole server
 * for each answered call, and the ratio to chat, round by round; none is to take over 10 % more (issue 31). The
 * checkout must be bundled. `--stream`, `--connections=16`, `--rounds=8`, `--ms=1500`, `--warm-up=6000`.
 */
import { percentile } from '../support/percentile'
import { fire, requestBytes } from './load'
import { startPeer, startProduct } from './processes'
import { count, print } from './setup'

const stream = process.argv.includes('--stream')
const [rounds, roundMs, connections] = [count('rounds', 8), count('ms', 1_500), count('connections', 16)]
const middle = (values: readonly number[]) => percentile(values, 0.5)

const text = 'What is the answer to the question of life? '.repeat(20)
const messages = [{ role: 'user', content: text }]
const vector = { model: 'svc-1-embed', input: text, encoding_format: 'base64' }
const APIS: Record<string, { path: string; body: object; headers?: object }> = {
  chat: { path: '/v1/chat/completions', body: { messages } },
  'responses, not stored': { path: '/v1/responses', body: { input: text, store: false } },
  responses: { path: '/v1/responses', body: { input: text } },
  messages: { path: '/v1/messages', body: { messages, max_tokens: 1_000 } },
  // Where answers come piece by piece, there are no vectors.
  ...(!stream && {
    embeddings: { path: '/v1/embeddings', body: vector, headers: { 'cache-control': 'no-cache' } },
    'embeddings, known': { path: '/v1/embeddings', body: vector },
  }),
}

const upstream = await startPeer('upstream')
const product = await startProduct(`http://127.0.0.1:${upstream.port}`)
const authorization = `Bearer ${product.key}`

/** Microseconds of processor for each answer. */
async function measure(name: string, ms: number): Promise<number> {
  const { path, body, headers } = APIS[name]!
  const sent = { model: 'svc-1-flash', ...body, ...(stream ? { stream } : {}) }
  const request = requestBytes('POST', path, { authorization, ...headers }, sent)
  const before = product.cpuMs()
  const { count: answered, failures } = await fire({ host: '127.0.0.1', port: product.port, request }, connections, ms)
  if (failures) throw new Error(`${failures} answers of ${name} were not 2xx`)
  return ((product.cpuMs() - before) * 1_000) / answered
}

const names = Object.keys(APIS)
const taken = new Map(names.map((name) => [name, [] as number[]]))
for (const name of names) await measure(name, count('warm-up', 6_000))
for (let round = 0; round < rounds; round++)
  for (const name of round % 2 ? names.toReversed() : names) taken.get(name)!.push(await measure(name, roundMs))
const ofChat = taken.get('chat')!
for (const [name, values] of taken) {
  const ratio = middle(values.map((value, round) => value / ofChat[round]!))
  const words = `${name}${stream ? ', streamed' : ''}`.padEnd(34)
  print(`${words} ${middle(values).toFixed(0).padStart(5)} µs a call  ${ratio.toFixed(3)} of chat`)
}
for (const peer of [product, upstream]) await peer.stop()
