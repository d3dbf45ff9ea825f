/**
 * The test command: types, lint, generated files, the tests on SQLite, then again on Postgres those that it can change.
 * With `long` what the test command has no time for: trained models made anew, the tests that have more rounds, and
 * every database-bound one on Postgres. One line a step; the last line sums up; exits 1 when anything failed.
 */
import { BUN, runCheck, runTests, type Tally } from './run/children'
import { type Files, planTests } from './run/plan'
import { findPostgres } from './run/postgres'
import { fastestParent, makeScratch } from './support/scratch'

const CHECKS: Record<string, string[]> = {
  types: ['run', 'check:types'],
  lint: ['run', 'check:lint'],
  'unused code': ['run', 'check:unused'],
  'generated files': ['drizzle/generate.ts', '--check'],
}
const LONG_CHECKS: Record<string, string[]> = {
  'trained model of the classifier': ['src/classifier/training/train.ts', '--check'],
  'trained model of names': ['src/text/names/training/train.ts', '--check'],
  'trained models of guardrails': ['src/text/verdicts/training/train.ts', '--check'],
}

/** More than there are cores: half of the time a file waits for a process, a browser or a clock. */
const WORKERS = 6
/** So few that no file waits for a core. */
const TIMING_WORKERS = 2

const isLong = process.argv.includes('long')
const plan = await planTests('tests')
const tallies: Tally[] = []
const unsteady: string[] = []

await step('set up', () => runCheck([BUN, 'src/app/set-up.ts']))
await Promise.all(
  Object.entries(isLong ? LONG_CHECKS : CHECKS).map(([name, args]) => step(name, () => runCheck([BUN, ...args]))),
)
const scratch = makeScratch(fastestParent())
await runFiles('SQLite', isLong ? plan.long : plan.all)
await onPostgres()

const sum = (pick: (tally: Tally) => number) => tallies.reduce((total, tally) => total + pick(tally), 0)
const failed = sum((tally) => tally.failed)
if (unsteady.length) print(`\nUNSTEADY, failed beside others and passed alone, to be mended: ${unsteady.join(', ')}`)
print(`\n${sum((tally) => tally.passed)} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : 0)

async function step(name: string, run: () => Promise<Tally>): Promise<void> {
  print(`\n── ${name}`)
  const startedAt = performance.now()
  const tally = await run()
  tallies.push(tally)
  const took = `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
  print(`── ${name}: ${tally.failed ? 'FAILED' : 'ok'}, ${tally.passed} passed, ${tally.failed} failed, ${took}`)
}

async function runFiles(database: string, { sharing, timing }: Files, env = {}): Promise<void> {
  const run = async (files: readonly string[], workers: number) => {
    const long: Record<string, string> = isLong ? { TEST_LONG: '1' } : {}
    const tally = await runTests(files, { workers, env: { TMPDIR: scratch, ...long, ...env } })
    unsteady.push(...tally.unsteady.map((file) => `${file} (${database})`))
    return tally
  }
  await step(`tests on ${database} (${sharing.length} files)`, () => run(sharing, WORKERS))
  await step(`tests on ${database} that time processes (${timing.length} files)`, () => run(timing, TIMING_WORKERS))
}

async function onPostgres(): Promise<void> {
  const found = await findPostgres(scratch)
  if ('missing' in found) {
    print(`\n── tests on Postgres: NOT RUN, ${found.missing}`)
    return
  }
  try {
    print(`\n── Postgres is ${found.where}`)
    await runFiles('Postgres', isLong ? plan.databaseBound : plan.dialectBound, { SVC_TEST_POSTGRES_URL: found.url })
  } finally {
    await found.stop()
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
