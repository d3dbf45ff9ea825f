/**
 * `bun run prove kill [--cycles N] [--seed N] [--postgres]`: kills the server under load over and over (T-KILL), on
 * SQLite or on Postgres, sums up in one line, and exits 1 on a single loss, a slow start, or when too few kills fell
 * between a commit and its answer to say anything about them.
 */
import { parseArgs } from 'node:util'
import { findPostgres } from '../run/postgres'
import { percentile } from '../support/percentile'
import { REPLAYS_A_CYCLE, type Report, runKills } from './run'

/**
 * The bound of docs/promises.md I33; the median is held to it, because one start in a hundred may meet a busy machine.
 */
const BOOT_MS = 2_000
const MAX_SHOWN = 20

const { values } = parseArgs({
  options: { cycles: { type: 'string' }, seed: { type: 'string' }, postgres: { type: 'boolean' } },
})
const cycles = whole('cycles', values.cycles ?? '20')
const seed = whole('seed', values.seed ?? String((performance.timeOrigin % 1_000_000) | 0))

const found = values.postgres ? await findPostgres() : null
if (found && 'missing' in found) {
  process.stderr.write(`No kills on Postgres: ${found.missing}\n`)
  process.exit(2)
}

const report = await runKills({ cycles, seed, postgres: found?.url ?? null, onCycle: progress })
await found?.stop()
for (const violation of report.violations.slice(0, MAX_SHOWN)) print(`VIOLATION ${violation}`)
print(summary(report))
const isSlow = percentile(report.bootMs, 0.5) >= BOOT_MS
const missedTheWindow = report.replays < cycles * REPLAYS_A_CYCLE
process.exit(report.violations.length > 0 || isSlow || missedTheWindow ? 1 : 0)

function summary({ cycles, acks, replays, violations, bootMs }: Report): string {
  const boots = `boot p50 ${Math.round(percentile(bootMs, 0.5))} ms, p99 ${Math.round(percentile(bootMs, 0.99))} ms`
  return `prove kill on ${found ? 'Postgres' : 'SQLite'}, seed ${seed}: ${cycles} kills, ${acks} writes acknowledged, ${replays} replays of answers nobody had heard, ${violations.length} violations, ${boots}`
}

function progress({ cycles: done, violations }: Report): void {
  if (done % 10 === 0) print(`  ${done} of ${cycles} kills, ${violations.length} violations`)
}

function whole(name: string, word: string): number {
  if (/^[1-9][0-9]{0,6}$/.test(word)) return Number(word)
  process.stderr.write(`--${name} is "${word}"; give a whole number above 0.\n`)
  process.exit(2)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
