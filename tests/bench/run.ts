/**
 * `bun run bench`: processor time and rate of svc beside a bare forwarder, and beside another gateway, on one core
 * each.
 * Both are warm: 30,000 calls first, and then until three rounds agree. Then rounds in turn, of as many calls each. The
 * result is the median of the ratios of pairs, with its quartiles; only ratios of one run mean anything.
 * `--only=chat` measures what has that in its name, `--rounds=12`, `--peer` also starts the other gateway. Fails
 * nothing.
 */
import { watchHealth } from '../catalogue/support/health'
import { percentile as at } from '../support/percentile'
import { fire, requestBytes, type Volley } from './load'
import { type Peer, startGateway, startPeer, startProduct } from './processes'
import { count, option, print } from './setup'

const ROUNDS = count('rounds', 12)
const WARM_CALLS = count('warm', 30_000)
/** Rounds while warming up, of which the last three have to agree. */
const MAX_WARM_ROUNDS = 8
const AGREE = 0.03
/** A forwarder that varies more tells that the machine does other things. */
const QUIET = 0.1
const STARTS = 3
const STREAMS = 250
const TOKENS = 200
const median = (values: number[]) => at(values, 0.5)
const spreadOf = (values: number[]) => (at(values, 0.75) - at(values, 0.25)) / median(values)

const upstream = await startPeer('upstream')
const paced = await startPeer('paced')
const engineUrl = `http://127.0.0.1:${upstream.port}`
const forwarder = await startPeer('forward', engineUrl)
const pacedForwarder = await startPeer('forward', `http://127.0.0.1:${paced.port}`)
const bareGet = await startPeer('get')
const product = await startProduct(engineUrl)
const pacedProduct = await startProduct(`http://127.0.0.1:${paced.port}`)
const gateway = process.argv.includes('--peer') ? await startGateway() : null

type Opponent = { peer: Peer; request: Uint8Array }
type Contest = {
  name: string
  connections: number
  /** Calls of one round. */
  calls: number
  ours: Opponent
  theirs: Opponent
  gateway?: Opponent | null
  /** What is counted of each answer; 1 for the answer itself. */
  parts?: number
  budget: string
}

const as = ({ key }: { key: string }) => ({ authorization: `Bearer ${key}` })
const chatBody = (stream: boolean) => ({
  model: 'svc-1-flash',
  messages: [{ role: 'user', content: 'What is the answer to the question of life? '.repeat(20) }],
  ...(stream ? { stream: true } : {}),
})
const ask = (peer: Peer, path: string, headers: Record<string, string>, body: object): Opponent => ({
  peer,
  request: requestBytes('POST', path, headers, body),
})
const CHAT = '/api/v1/chat/completions'
const forwarded = (body: object) => ask(forwarder, '/chat/completions', {}, body)
const byGateway = (to: Peer, body: object): Opponent | null =>
  gateway &&
  ask(
    gateway,
    '/v1/chat/completions',
    {
      authorization: 'Bearer x',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${to.port}`,
    },
    body,
  )
const cachedBody = { prompt: 'What is the answer to everything?', mode: 'fast', conversation_id: null }
const chat = (connections: number): Contest => ({
  name: `chat, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
  connections,
  calls: connections === 1 ? 2_000 : 6_000,
  ours: ask(product, CHAT, as(product), chatBody(false)),
  theirs: forwarded(chatBody(false)),
  gateway: byGateway(upstream, chatBody(false)),
  budget: 'must 4.0, goal 3.3',
})
const contests: Contest[] = [
  chat(16),
  chat(1),
  {
    name: 'cached answer',
    connections: 16,
    calls: 6_000,
    ours: ask(product, '/api/v1/completions', as(product), cachedBody),
    theirs: forwarded(chatBody(false)),
    budget: '2.2',
  },
  {
    name: 'refused: no such key',
    connections: 16,
    calls: 6_000,
    ours: ask(product, CHAT, { authorization: `Bearer svc_sk_live_${'x'.repeat(48)}` }, chatBody(false)),
    theirs: forwarded(chatBody(false)),
    budget: '1.0',
  },
  {
    name: 'GET /models, beside a bare GET',
    connections: 16,
    calls: 12_000,
    ours: { peer: product, request: requestBytes('GET', '/api/v1/models', as(product)) },
    theirs: { peer: bareGet, request: requestBytes('GET', '/', {}) },
    budget: '2.0',
  },
  {
    name: `a token, ${STREAMS} streams at 50 a second`,
    connections: STREAMS,
    calls: STREAMS,
    ours: ask(pacedProduct, CHAT, as(pacedProduct), chatBody(true)),
    theirs: ask(pacedForwarder, '/chat/completions', {}, chatBody(true)),
    gateway: byGateway(paced, chatBody(true)),
    parts: TOKENS,
    budget: 'must 2.0, goal 1.7',
  },
]

type Sample = Volley & { cpuUs: number }

/** One round: processor time of all threads of the server for each part of an answer, in microseconds. */
async function measure({ peer, request }: Opponent, { connections, calls, parts = 1 }: Contest): Promise<Sample> {
  const before = peer.cpuMs()
  const volley = await fire(
    { host: '127.0.0.1', port: peer.port, request },
    connections,
    Number.POSITIVE_INFINITY,
    calls,
  )
  return { ...volley, cpuUs: ((peer.cpuMs() - before) * 1_000) / (volley.count * parts) }
}

async function warmUp(opponent: Opponent, contest: Contest): Promise<void> {
  const rounds = contest.parts ? 2 : WARM_CALLS / contest.calls
  for (let round = 0; round < rounds; round++) await measure(opponent, contest)
  const last: number[] = []
  for (let round = 0; round < MAX_WARM_ROUNDS && !contest.parts; round++) {
    last.push((await measure(opponent, { ...contest, calls: contest.calls / 2 })).cpuUs)
    const three = last.slice(-3)
    if (three.length === 3 && (Math.max(...three) - Math.min(...three)) / median(three) < AGREE) return
  }
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

/** What `/health` takes while 16 connections chat: others' answers do not wait for them (docs/promises.md I28). */
async function reportHealth(): Promise<void> {
  const health = watchHealth(product.port, product.pid)
  await measure(chat(16).ours, { ...chat(16), calls: 20_000 })
  await health.stop()
  const taken = health.latencies()
  const shown = (share: number) => at(taken, share).toFixed(1)
  print(
    `GET /health beside 16 connections that chat: p50 ${shown(0.5)} ms, p95 ${shown(0.95)} (budget 50), p99 ${shown(0.99)}`,
  )
}

const ratioOf = (ours: Sample[], theirs: Sample[], pick: (sample: Sample) => number) => {
  const ratios = ours.map((sample, round) => pick(sample) / pick(theirs[round]!))
  return `${median(ratios).toFixed(2)}  (${at(ratios, 0.25).toFixed(2)}–${at(ratios, 0.75).toFixed(2)})`
}

async function compete(contest: Contest): Promise<void> {
  const contestants = [contest.theirs, contest.ours, ...(contest.gateway ? [contest.gateway] : [])]
  for (const one of contestants) await warmUp(one, contest)
  const samples: Sample[][] = contestants.map(() => [])
  for (let round = 0; round < (contest.parts ? Math.ceil(ROUNDS / 3) : ROUNDS); round++)
    for (const [place, one] of contestants.entries()) samples[place]!.push(await measure(one, contest))
  const [theirs, ours, others] = samples as [Sample[], Sample[], Sample[]?]
  const us = (all: Sample[]) => median(all.map(({ cpuUs }) => cpuUs)).toFixed(0)
  const failures = ours.reduce((sum, one) => sum + one.failures, 0)
  print(`\n${contest.name}${failures ? `  (${failures} answers were not 2xx)` : ''}`)
  print(`  processor µs  svc ${us(ours)}  bare ${us(theirs)}${others ? `  other gateway ${us(others)}` : ''}`)
  print(`  ratio         ${ratioOf(ours, theirs, ({ cpuUs }) => cpuUs)}  budget ${contest.budget}`)
  if (others) print(`  other gateway ${ratioOf(others, theirs, ({ cpuUs }) => cpuUs)}`)
  if (!contest.parts) print(`  of its rate   ${ratioOf(ours, theirs, ({ perSecond }) => perSecond)}`)
  const spread = spreadOf(theirs.map(({ cpuUs }) => cpuUs))
  if (spread > QUIET) print(`  unquiet: the bare server varied by ${(spread * 100).toFixed(0)} %, so this is no result`)
}

print(
  `start to first healthy answer: ${await startMs()} ms (budget 500), on one core ${product.startedMs.toFixed(0)} ms`,
)
for (const contest of contests.filter(({ name }) => name.includes(option('only') ?? ''))) await compete(contest)
print()
await reportHealth()

for (const peer of [product, pacedProduct, gateway, forwarder, pacedForwarder, bareGet, upstream, paced])
  await peer?.stop()
