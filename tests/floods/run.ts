/**
 * `bun run prove floods [--only PATTERN] [--length N]`: one character without end, and beginnings that are pumped up,
 * in every text field of every route of `openapi.json`, against a server of its own, while another process asks for
 * `/health` every 20 ms. Prints the worst of each route. Exits 1 when `/health` or a call took longer than it may.
 */
import { parseArgs } from 'node:util'
import { slowness } from '../support/effort'
import { MAX_CALL_MS, MAX_HEALTH_MS, tooLong } from './bounds'
import { type Cost, floodAll, type Sent, startTarget } from './floods'

const { values } = parseArgs({ options: { only: { type: 'string' }, length: { type: 'string', default: '100000' } } })
const print = (line: string) => void process.stdout.write(`${line}\n`)
const inMs = (ms: number) => ms.toFixed(0).padStart(6)

const target = await startTarget()
const slower = await slowness()
print(
  `/health p99   worst    calls   worst call   route (milliseconds, on a machine ${slower.toFixed(1)} times slower than usual)`,
)
const notify = ({ route, calls, worst, health }: Cost) => {
  const times = `${inMs(health.p99)}     ${inMs(health.worst)}   ${String(calls).padStart(6)}   ${inMs(worst.ms)}`
  print(`${times}   ${route}: ${worst.status} ${worst.field} ${worst.flood}`)
}
/** Calls that took a quarter of what one may, and those in which the server did nothing else for long, as they come. */
const sent = (route: string, { ms, held, status, field, flood }: Sent) => {
  if (ms > MAX_CALL_MS / 4 || held > MAX_HEALTH_MS.p99)
    print(`    ${inMs(ms)} ms, held ${inMs(held)} ms: ${route} ${status} ${field} ${flood}`)
}
const { only, length } = values
const costs = await floodAll(target, {
  length: Number(length),
  notify,
  sent,
  ...(only ? { only: (route: string) => new RegExp(only).test(route) } : {}),
})
const wrong = costs.filter((cost) => tooLong(cost, slower))
for (const { route } of wrong) print(`TOO LONG ${route}`)
const calls = costs.reduce((sum, cost) => sum + cost.calls, 0)
print(
  `prove floods: ${calls} calls, worst /health p99 ${Math.max(...costs.map(({ health }) => health.p99)).toFixed(0)} ms, worst call ${Math.max(...costs.map(({ worst }) => worst.ms)).toFixed(0)} ms, ${wrong.length} routes too long`,
)
await target.kill()
process.exit(wrong.length ? 1 : 0)
