import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { residentMb } from '../bench/processor'
import { percentile } from '../support/percentile'
import { startServerProcess } from '../support/server-process'

/**
 * docs/attacks.md C18, C19, docs/promises.md I29: dripping sockets from four addresses, and what others see meanwhile.
 * `bun run prove sockets [sockets] [seconds] [drip|heavy]`; fails when the p99 of /health is above 100 ms or memory
 * grows past 600 MB. Each attacker is a process of its own with sockets / 4 descriptors; `ulimit -n` must allow them.
 */
const [sockets, seconds] = [Number(process.argv[2] ?? 20_000), Number(process.argv[3] ?? 45)]
const shape = process.argv[4] ?? 'drip'
const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']
const MAX_MS = 100
const MAX_MB = 600
const PAUSE_MS = 20

const dataDir = mkdtempSync(join(tmpdir(), 'svc-flood-'))
const server = await startServerProcess({ dataDir })
const rssMb = () => residentMb(server.pid)
const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length
const socket = join(dataDir, 'ops.sock')

/** Time to the answer on a new connection; infinite without one. */
async function timed(init: BunFetchRequestInit, url = `${server.url}/api/v1/health`): Promise<number> {
  const startedAt = performance.now()
  try {
    const response = await fetch(url, { ...init, keepalive: false, signal: AbortSignal.timeout(5_000) })
    await response.arrayBuffer()
    return response.ok ? performance.now() - startedAt : Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const textOf = (times: number[]) =>
  `p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms, worst ${percentile(times, 0.9999).toFixed(1)} ms, ${times.length} asked`

async function watch(forMs: number) {
  const [health, operator] = [[] as number[], [] as number[]]
  let [peakMb, max] = [0, 0]
  for (const until = performance.now() + forMs; performance.now() < until; ) {
    health.push(await timed({}))
    if (health.length % 10 === 0) operator.push(await timed({ unix: socket }, 'http://localhost/ops/v1/status'))
    peakMb = Math.max(peakMb, rssMb())
    max = Math.max(max, descriptors())
    await Bun.sleep(PAUSE_MS)
  }
  return { health, operator, peakMb, max }
}

const say = (line: string) => process.stdout.write(`${line}\n`)
say(`before: /health ${textOf((await watch(3_000)).health)}`)
const attackers = ADDRESSES.map((address) =>
  Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, 'flood-client.ts'),
      String(server.port),
      address,
      String(sockets / 4),
      shape,
    ],
    { stdout: 'ignore', stderr: 'inherit' },
  ),
)
const { health, operator, peakMb, max: limit } = await watch(seconds * 1_000)
for (const attacker of attackers) attacker.kill()
say(`under ${sockets} sockets (${shape}): /health ${textOf(health)}`)
say(`operator socket ${textOf(operator)}; at most ${limit} descriptors, ${peakMb.toFixed(0)} MB`)
await server.stop()
rmSync(dataDir, { recursive: true, force: true })
const held = percentile(health, 0.99) <= MAX_MS && peakMb <= MAX_MB
say(held ? 'held' : `not held: p99 of /health above ${MAX_MS} ms or memory above ${MAX_MB} MB`)
process.exit(held ? 0 : 1)
