/**
 * `bun run prove soak [--minutes N]`: one server under 32 clients without a pause, 20 minutes unless said. Memory and
 * open files are read each five seconds. After the first five minutes, in which the page cache of SQLite and the heap
 * reach their size, the median of memory in the last third is at most a tenth above that of the first, and no more
 * files are open. Exits 1 otherwise, or when a request was refused.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { seededRandom } from '../support/random'
import { startUpstream } from '../support/upstream'
import { createRig } from './rig'
import { percentile } from './run'

const EVERY_MS = 5_000
const WARM_SAMPLES = 60
const GROWTH = 1.1
const MORE_FILES = 16
const MAX_LOG = 4_000

const { values } = parseArgs({ options: { minutes: { type: 'string' } } })
const minutes = Math.max(Number(values.minutes ?? 20), 6)
const upstream = await startUpstream()
const rig = await createRig(upstream)
const server = await rig.boot()
const seen: { mb: number; files: number }[] = []

await rig.work({ url: server.url, random: seededRandom(1) }, async () => {
  const until = performance.now() + minutes * 60_000
  while (performance.now() < until && server.exitCode() === null) {
    await Bun.sleep(EVERY_MS)
    const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))!
    seen.push({ mb: Number(kb) / 1024, files: readdirSync(`/proc/${server.pid}/fd`).length })
    if (seen.length % 12 === 0) print(`  ${seen.length / 12} min: ${line(seen.slice(-12))}`)
  }
  await server.kill()
})
await rig.close()
await upstream.stop()

const warm = seen.slice(WARM_SAMPLES)
const third = Math.max(1, Math.floor(warm.length / 3))
const [first, last] = [warm.slice(0, third), warm.slice(-third)]
const growth = median(last, 'mb') / median(first, 'mb')
const isSound = growth <= GROWTH && median(last, 'files') - median(first, 'files') <= MORE_FILES
for (const violation of rig.violations) print(`VIOLATION ${violation}`)
if (rig.violations.length) print(server.printed().slice(-MAX_LOG))
print(`prove soak: ${rig.witness.acks()} writes in ${minutes} min; after five ${line(first)}; at the end ${line(last)}`)
process.exit(isSound && rig.violations.length === 0 ? 0 : 1)

function median(samples: typeof seen, what: 'mb' | 'files'): number {
  return percentile(
    samples.map((one) => one[what]),
    0.5,
  )
}

function line(samples: typeof seen): string {
  return `${Math.round(median(samples, 'mb'))} MB, ${median(samples, 'files')} open files`
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
