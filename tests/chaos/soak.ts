/**
 * `bun run prove soak [--minutes N] [--nodes N]`: a server under 32 clients without a pause, 20 minutes unless said, or
 * several nodes on one Postgres and one Redis. Clients make calls, streams, jobs and events. Memory and open files of
 * each process are read every five seconds. After the first five minutes, in which the page cache of SQLite and the
 * heap reach their size, the median of memory in the last third is at most a tenth above that of the first, and no more
 * files are open. Exits 1 otherwise, or when a request was refused.
 */
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { residentMb } from '../bench/processor'
import { ownPostgres } from '../run/postgres'
import { percentile } from '../support/percentile'
import { seededRandom } from '../support/random'
import { startRedis } from '../support/redis'
import type { ServerProcess } from '../support/server-process'
import { startUpstream } from '../support/upstream'
import { CLIENTS } from './load'
import { createRig } from './rig'

const EVERY_MS = 5_000
const WARM_SAMPLES = 60
const GROWTH = 1.1
const MORE_FILES = 16
const MAX_LOG = 4_000

type Sample = { mb: number; files: number }

const { values } = parseArgs({ options: { minutes: { type: 'string' }, nodes: { type: 'string' } } })
const minutes = Math.max(Number(values.minutes ?? 20), 6)
const count = Number(values.nodes ?? 1)
const postgres = count > 1 ? await ownPostgres() : null
if (postgres && 'missing' in postgres) throw new Error(postgres.missing)
const redis = postgres && (await startRedis())
const upstream = await startUpstream()
const rig = await createRig(upstream, postgres?.url, redis ? { SVC_REDIS_URL: redis.url } : {})
const nodes: { server: ServerProcess; samples: Sample[] }[] = []
for (let at = 0; at < count; at++) nodes.push({ server: await rig.bootNode(at ? `node-${at}` : 'data'), samples: [] })
const random = seededRandom(1)
const cluster = { clients: CLIENTS, isAway: null }

await rig.work({ url: () => random.pick(nodes).server.url, random, ...(redis && { cluster }) }, async () => {
  const until = performance.now() + minutes * 60_000
  for (let n = 1; performance.now() < until && nodes.every(({ server }) => server.exitCode() === null); n++) {
    await Bun.sleep(EVERY_MS)
    for (const { server, samples } of nodes) samples.push(sampleOf(server.pid))
    if (n % 12 === 0) print(`  ${n / 12} min: ${nodes.map(({ samples }) => line(samples.slice(-12))).join('; ')}`)
  }
  if (!redis) await nodes[0]!.server.kill()
})
for (const { server } of nodes) await server.kill()
const log = nodes.map(({ server }) => server.printed().slice(-MAX_LOG)).join('\n')
await rig.close()
await redis?.stop()
await postgres?.stop()
await upstream.stop()

for (const violation of rig.violations) print(`VIOLATION ${violation}`)
if (rig.violations.length) print(log)
print(`prove soak: ${rig.witness.acks()} writes in ${minutes} min`)
const isSound = nodes.map(({ samples }) => {
  const warm = samples.slice(WARM_SAMPLES)
  const third = Math.max(1, Math.floor(warm.length / 3))
  const [first, last] = [warm.slice(0, third), warm.slice(-third)]
  const growth = median(last, 'mb') / median(first, 'mb')
  print(`  after five ${line(first)}; at the end ${line(last)}; ${growth.toFixed(2)} times the memory`)
  return growth <= GROWTH && median(last, 'files') - median(first, 'files') <= MORE_FILES
})
process.exit(isSound.every(Boolean) && rig.violations.length === 0 ? 0 : 1)

function sampleOf(pid: number): Sample {
  return { mb: residentMb(pid), files: readdirSync(`/proc/${pid}/fd`).length }
}

function median(samples: readonly Sample[], what: keyof Sample): number {
  return percentile(
    samples.map((one) => one[what]),
    0.5,
  )
}

function line(samples: readonly Sample[]): string {
  return `${Math.round(median(samples, 'mb'))} MB, ${median(samples, 'files')} open files`
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
