/**
 * What the agent loop costs (issue budgets): `bun run bench loop`. First in this process, with an engine and a
 * tool that answer at once: a plain call with and without the loop, then 64 runs of five tool turns side by
 * side. Then the same runs through the real server on one core, billed and on the record. Prints figures and
 * their budgets; the machine is noisy, so only ratios of one run mean anything. Fails nothing.
 */
import { createAgent } from '../../src/completions'
import type { EngineService } from '../../src/engines'
import { systemClock } from '../../src/kernel/clock'
import { actingOf, taskOf } from '../completions/agent/task'
import { percentile } from '../support/percentile'
import { openTools, toolOf, wanted } from '../tools/world'
import { fire, requestBytes } from './load'
import { startPeer, startProduct } from './processes'
import { print } from './setup'

const TURNS = 5
const RUNS = 64
const ROUNDS = 5
const CALLS = 20_000
const SERVER_MS = 4_000
const median = (values: number[]): number => percentile(values, 0.5)

const message = { engineId: 'svc-1-flash', free: false, fallbackUsed: false }
const usage = { promptTokens: 20, completionTokens: 5, stated: true }
const calls = [{ id: 'call_1', name: 'look_up', arguments: '{"topic":"tides"}' }]

/** Calls a tool five times, then answers. */
const engines = {
  countPrompt: () => 20,
  window: () => 100_000,
  async answer(_: string, { messages, tools }: { messages: { role: string }[]; tools?: unknown }) {
    const done = messages.reduce((turns, { role }) => turns + (role === 'tool' ? 1 : 0), 0)
    if (!tools || done >= TURNS) return { ...message, usage, text: 'The answer.', toolCalls: [], finish: 'stop' }
    return { ...message, usage, text: '', toolCalls: calls, finish: 'tool-calls' }
  },
} as unknown as EngineService

const inputSchema = { type: 'object', required: ['topic'], properties: { topic: { type: 'string' } } }
const tools = openTools({ system: [toolOf({ name: 'look_up', inputSchema, run: async () => 'found' })] })
const agent = createAgent({ engines, tools, clock: systemClock })
const plain = taskOf({ prompt: 'Hello' })

/** Milliseconds of one of many calls, one after another. */
async function each(times: number, call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  for (let made = 0; made < times; made++) await call()
  return (performance.now() - startedAt) / times
}

const direct = { messages: [{ role: 'user' as const, content: 'Hello' }], mode: 'fast', maxOutputTokens: 1_000 }
const bare: number[] = []
const through: number[] = []
for (let round = 0; round <= ROUNDS; round++) {
  const [without, within] = [
    await each(CALLS, () => engines.answer('svc-1-flash', { ...direct, signal: plain.signal })),
    await each(CALLS, () => agent.answer(plain)),
  ]
  if (round) bare.push(without)
  if (round) through.push(within)
}
print(
  `a plain call     bare ${us(bare)} µs   through the agent ${us(through)} µs   added ${us(added())} µs (budget 100)`,
)

function added(): number[] {
  return through.map((ms, round) => ms - bare[round]!)
}

function us(ms: number[]): string {
  return (median(ms) * 1_000).toFixed(1)
}

const rates: number[] = []
const heaps: number[] = []
for (let round = 0; round <= ROUNDS * 4; round++) {
  const startedAt = performance.now()
  const acting = () => agent.answer({ ...plain, acting: actingOf(tools.assemble(wanted())) })
  await Promise.all(Array.from({ length: RUNS }, () => each(5, acting)))
  const seconds = (performance.now() - startedAt) / 1_000
  Bun.gc(true)
  if (round) rates.push((RUNS * 5 * (TURNS + 1)) / seconds)
  if (round) heaps.push(process.memoryUsage().heapUsed / 1e6)
}
const half = heaps.length / 2
const [early, late] = [median(heaps.slice(0, half)), median(heaps.slice(half))]
print(`${RUNS} runs at once  ${median(rates).toFixed(0)} turns/s in this process (budget 2000)`)
print(`memory           ${early.toFixed(1)} MB in the first half, ${late.toFixed(1)} MB in the second`)

const upstream = await startPeer('tools')
const product = await startProduct(`http://127.0.0.1:${upstream.port}`)
const input = {
  prompt: 'Look it up',
  mode: 'fast',
  conversation_id: null,
  tools: [{ name: 'look_up', description: 'Looks a topic up.', input_schema: inputSchema }],
}
const headers = { authorization: `Bearer ${product.key}`, 'cache-control': 'no-cache' }
const shot = {
  host: '127.0.0.1',
  port: product.port,
  request: requestBytes('POST', '/api/v1/completions', headers, input),
}
await fire(shot, RUNS, SERVER_MS * 2)
const samples: { turns: number; cpu: number; failures: number }[] = []
for (let round = 0; round < 3; round++) {
  const before = product.cpuMs()
  const { count, perSecond, failures } = await fire(shot, RUNS, SERVER_MS)
  const turns = perSecond * (TURNS + 1)
  samples.push({ turns, failures, cpu: (product.cpuMs() - before) / (count * (TURNS + 1)) })
}
const failures = samples.reduce((all, sample) => all + sample.failures, 0)
print(
  `the whole server ${median(samples.map(({ turns }) => turns)).toFixed(0)} turns/s, ${median(samples.map(({ cpu }) => cpu)).toFixed(3)} ms CPU a turn${failures ? ` (${failures} answers were not 2xx)` : ''}`,
)
await product.stop()
await upstream.stop()
process.exit(0)
