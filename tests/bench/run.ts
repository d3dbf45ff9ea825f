/**
 * The budgets of design 11 that exist so far, in interleaved rounds against bare servers. Prints medians
 * and ratios; the machine is noisy, so only ratios of one run mean anything. Fails nothing.
 */
import { watchHealth } from '../catalogue/support/health'
import { fire, requestBytes, type Volley } from './load'
import { type Peer, startPeer, startProduct } from './processes'

const ROUNDS = Number(process.argv.find((word) => word.startsWith('--rounds='))?.slice(9) ?? 5)
const ROUND_MS = 2_000
const STARTS = 3
/** Until the compiler has seen enough: the time of an answer of ours falls for half a minute, a bare one's at once. */
const WARM_UP_MS = 30_000
const print = (line = '') => process.stdout.write(`${line}\n`)
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const upstream = await startPeer('upstream')
const engineUrl = `http://127.0.0.1:${upstream.port}`
const forwarder = await startPeer('forward', engineUrl)
const recorder = await startPeer('records', engineUrl)
const reteller = await startPeer('retell', engineUrl)
const rememberer = await startPeer('remember')
const lister = await startPeer('list')
const jsonPost = await startPeer('json')
const bareGet = await startPeer('get')
const product = await startProduct(engineUrl)

const auth = { authorization: `Bearer ${product.key}` }
const chatBody = (stream: boolean) => ({
  model: 'svc-1-flash',
  messages: [{ role: 'user', content: 'What is the answer to the question of life? '.repeat(20) }],
  ...(stream ? { stream: true } : {}),
})
const cachedBody = { prompt: 'What is the answer to everything?', mode: 'fast', conversation_id: null }

type Opponent = { peer: Peer; request: Uint8Array }
/** `floor`: who does the least that the contract asks of it, between the bare server and the product. */
type Contest = { name: string; connections: number; ours: Uint8Array; theirs: Opponent; floor: Opponent }
const chat = (connections: number): Contest => ({
  name: `chat, ${connections} connections`,
  connections,
  ours: requestBytes('POST', '/api/v1/chat/completions', auth, chatBody(false)),
  theirs: { peer: forwarder, request: requestBytes('POST', '/chat/completions', {}, chatBody(false)) },
  floor: { peer: recorder, request: requestBytes('POST', '/chat/completions', {}, chatBody(false)) },
})
const contests: Contest[] = [
  chat(16),
  chat(1),
  {
    name: 'cache hit, 16 connections',
    connections: 16,
    ours: requestBytes('POST', '/api/v1/completions', auth, cachedBody),
    theirs: { peer: jsonPost, request: requestBytes('POST', '/', {}, cachedBody) },
    floor: { peer: rememberer, request: requestBytes('POST', '/', auth, cachedBody) },
  },
  {
    name: 'GET /models, 16 connections',
    connections: 16,
    ours: requestBytes('GET', '/api/v1/models', auth),
    theirs: { peer: bareGet, request: requestBytes('GET', '/', {}) },
    floor: { peer: lister, request: requestBytes('GET', '/', auth) },
  },
  {
    name: 'stream of 200 tokens, 16 connections',
    connections: 16,
    ours: requestBytes('POST', '/api/v1/chat/completions', auth, chatBody(true)),
    theirs: { peer: forwarder, request: requestBytes('POST', '/chat/completions', {}, chatBody(true)) },
    floor: { peer: reteller, request: requestBytes('POST', '/chat/completions', auth, chatBody(true)) },
  },
]

const aim = (peer: Peer, request: Uint8Array) => ({ host: '127.0.0.1', port: peer.port, request })

type Sample = Volley & { cpuPerAnswer: number }
async function measure(peer: Peer, request: Uint8Array, connections: number): Promise<Sample> {
  const before = peer.cpuMs()
  const volley = await fire(aim(peer, request), connections, ROUND_MS)
  return { ...volley, cpuPerAnswer: (peer.cpuMs() - before) / Math.max(1, volley.count) }
}

/** Of some starts, each on an empty folder and with the cores a server has. */
async function startMs(): Promise<string> {
  const times: number[] = []
  for (let start = 0; start < STARTS; start++) {
    const started = await startProduct(engineUrl, { anyCore: true })
    times.push(started.startedMs)
    await started.stop()
  }
  return median(times).toFixed(0)
}

/** What `/health` takes while 16 connections chat: others' answers do not wait for them (I28). */
async function reportHealth(): Promise<void> {
  const health = watchHealth(product.port, product.pid)
  await fire(aim(product, chat(16).ours), 16, ROUNDS * ROUND_MS)
  await health.stop()
  const taken = health.latencies().toSorted((a, b) => a - b)
  const at = (share: number) => (taken[Math.floor(taken.length * share)] ?? 0).toFixed(1)
  print()
  print(`GET /health beside 16 connections that chat: p50 ${at(0.5)} ms, p95 ${at(0.95)} (budget 50), p99 ${at(0.99)}`)
}

const wanted = process.argv.find((word) => word.startsWith('--only='))?.slice(7) ?? ''
print(
  `start to first healthy answer: ${await startMs()} ms (budget 500), on one core ${product.startedMs.toFixed(0)} ms`,
)
for (const { name, connections, ours, theirs, floor } of contests.filter((contest) => contest.name.includes(wanted))) {
  const samples: { ours: Sample; theirs: Sample }[] = []
  const min: Sample[] = []
  await fire(aim(product, ours), connections, WARM_UP_MS)
  for (const { peer, request } of [theirs, floor]) {
    await fire(aim(peer, request), connections, WARM_UP_MS / 10)
  }
  for (let round = 0; round < ROUNDS; round++) {
    const bare = await measure(theirs.peer, theirs.request, connections)
    min.push(await measure(floor.peer, floor.request, connections))
    samples.push({ theirs: bare, ours: await measure(product, ours, connections) })
  }
  const of = (pick: (sample: Sample) => number) => ({
    ours: median(samples.map((sample) => pick(sample.ours))),
    theirs: median(samples.map((sample) => pick(sample.theirs))),
  })
  const rate = of((sample) => sample.perSecond)
  const p50 = of((sample) => sample.p50Ms)
  const cpu = of((sample) => sample.cpuPerAnswer)
  const failures = samples.reduce((sum, sample) => sum + sample.ours.failures, 0)
  print()
  print(`${name}${failures ? `  (${failures} answers were not 2xx)` : ''}`)
  print(
    `  requests/s   svc ${rate.ours.toFixed(0)}  bare ${rate.theirs.toFixed(0)}  ratio ${(rate.ours / rate.theirs).toFixed(2)}`,
  )
  print(
    `  p50 ms       svc ${p50.ours.toFixed(2)}  bare ${p50.theirs.toFixed(2)}  added ${(p50.ours - p50.theirs).toFixed(2)}`,
  )
  print(
    `  CPU ms/req   svc ${cpu.ours.toFixed(3)}  bare ${cpu.theirs.toFixed(3)}  ratio ${(cpu.ours / cpu.theirs).toFixed(2)}`,
  )
  const floorRate = median(min.map(({ perSecond }) => perSecond))
  const floorCpu = median(min.map(({ cpuPerAnswer }) => cpuPerAnswer))
  const floorP50 = median(min.map(({ p50Ms }) => p50Ms))
  print(
    `  the least that the contract takes: ratio ${(floorRate / rate.theirs).toFixed(2)}, added p50 ${(floorP50 - p50.theirs).toFixed(2)}, CPU ${floorCpu.toFixed(3)}, ratio ${(floorCpu / cpu.theirs).toFixed(2)}`,
  )
}

await reportHealth()

for (const peer of [product, forwarder, recorder, reteller, rememberer, lister, jsonPost, bareGet, upstream])
  await peer.stop()
