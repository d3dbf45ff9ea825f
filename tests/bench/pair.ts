/**
 * What a chat call costs in two checkouts, in turn: `bun run bench pair ../other-checkout`. Processor time of the
 * whole server for each answered call, and the ratio of this checkout to the other, pair by pair. Both must be
 * bundled. `--engine=builtin` asks the built-in engine, `--connections=1`, `--rounds=12`, `--stream`; `--tokens`
 * streams 250 answers of 200 tokens, 50 a second each, and prints what a token takes.
 */
import { join, resolve } from 'node:path'
import { percentile } from '../support/percentile'
import { fire, requestBytes } from './load'
import { type Product, startPeer, startProduct } from './processes'
import { count, option, print } from './setup'

const other = process.argv.slice(2).find((word) => !word.startsWith('--'))
if (!other) throw new Error('Name the other checkout: bun run bench pair ../other-checkout')
const ROUNDS = count('rounds', 12)
const ROUND_MS = count('ms', 2_000)
const WARM_UP_MS = count('warm-up', 20_000)
const paced = process.argv.includes('--tokens')
const connections = count('connections', paced ? 250 : 16)
const stream = paced || process.argv.includes('--stream')
const TOKENS = 200
const isBuiltin = option('engine') === 'builtin'

const upstream = await startPeer(paced ? 'paced' : 'upstream')
const engineUrl = isBuiltin ? null : `http://127.0.0.1:${upstream.port}`
const roots = [join(import.meta.dir, '../..'), resolve(other)]
const products: Product[] = []
for (const root of roots) products.push(await startProduct(engineUrl, { root }))

const body = {
  model: 'svc-1-flash',
  messages: [{ role: 'user', content: 'What is the answer to the question of life? '.repeat(20) }],
  ...(stream ? { stream: true } : {}),
}

/** Microseconds of processor for each answer. */
async function measure({ port, key, cpuMs }: Product, durationMs = ROUND_MS): Promise<number> {
  const request = requestBytes('POST', '/api/v1/chat/completions', { authorization: `Bearer ${key}` }, body)
  const before = cpuMs()
  const [ms, calls] = paced ? [Number.POSITIVE_INFINITY, connections] : [durationMs, Number.POSITIVE_INFINITY]
  const { count: answered, failures } = await fire({ host: '127.0.0.1', port, request }, connections, ms, calls)
  if (failures) throw new Error(`${failures} answers were not 2xx`)
  return ((cpuMs() - before) * 1000) / (paced ? answered * TOKENS : answered)
}

for (const product of products) await measure(product, WARM_UP_MS)
const [ours, theirs]: [number[], number[]] = [[], []]
for (let round = 0; round < ROUNDS; round++) {
  const first = round % 2
  for (const place of [first, 1 - first]) (place ? theirs : ours).push(await measure(products[place]!))
}
const ratios = ours.map((value, round) => value / theirs[round]!)
print(`chat${stream ? ', streamed' : ''}, ${connections} connections, ${isBuiltin ? 'built-in' : 'compat'} engine`)
print(
  `  CPU µs a ${paced ? 'token' : 'call'}  here ${percentile(ours, 0.5).toFixed(paced ? 1 : 0)}  there ${percentile(theirs, 0.5).toFixed(paced ? 1 : 0)}`,
)
print(
  `  ratio of pairs median ${percentile(ratios, 0.5).toFixed(3)}  quartiles ${percentile(ratios, 0.25).toFixed(3)}–${percentile(ratios, 0.75).toFixed(3)}  all ${percentile(ratios, 0).toFixed(3)}–${percentile(ratios, 1).toFixed(3)}`,
)
for (const peer of [...products, upstream]) await peer.stop()
