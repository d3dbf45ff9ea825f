/**
 * `bun tests/run.ts TIER…`, the test commands. `test`: types, lint, unused code, generated files, quickly trained
 * models, and the tests of units and modules on SQLite. `system`: those that start processes, browsers or terminals,
 * and on Postgres those that it can change. `long`: the other trained models, kills of the server, the tests that have
 * more rounds, every database-bound one on Postgres, and the contract on three nodes. Prints a table of modules; the
 * last line sums up; exits 1 when anything failed.
 */
import { rmSync } from 'node:fs'
import { BUN, type FileTally, runCheck, runTests, type Tally } from './run/children'
import { leftovers } from './run/leftovers'
import { type Files, planTests, without } from './run/plan'
import { findPostgres } from './run/postgres'
import { modulesTable } from './run/table'
import { hasRedis, startRedis } from './support/redis'
import { fastestParent, makeScratch } from './support/scratch'

const CHECKS: Record<string, string[]> = {
  types: ['run', 'check:types'],
  lint: ['run', 'check:lint'],
  'unused code': ['run', 'check:unused'],
  'generated files': ['drizzle/generate.ts', '--check'],
  // All three models learn from the same ordinary prompts: a new prompt for one makes the others stale.
  'trained model of the classifier': ['src/training/classifier/train.ts', '--check'],
  'trained model of names': ['src/training/names/train.ts', '--check'],
}
const KILLS = ['run', 'prove', 'kill', '--cycles', '30']

/**
 * `sharing` has more than there are cores: half of the time a file waits for a process or a clock. `timing` has so few
 * that no file waits for a core.
 */
const WORKERS: Record<keyof Files, number> = { sharing: 6, browsing: 3, timing: 2 }

const [isTest, isSystem, isLong] = ['test', 'system', 'long'].map((tier) => process.argv.includes(tier))
const plan = await planTests('tests')
const tallies: Tally[] = []
const files: FileTally[] = []
const unsteady: string[] = []
const newLeftovers = leftovers()
const scratch = makeScratch(fastestParent())

// Not in the temporary folder: packages are moved into place, which goes within one disk.
await step('set up', () => runCheck([BUN, 'src/app/set-up.ts'], {}))
if (isTest) {
  await Promise.all(Object.entries(CHECKS).map(([name, args]) => check(name, args)))
  await runFiles('units and modules on SQLite', plan.units)
}
if (isSystem) await runFiles('system on SQLite', plan.system)
if (isLong) {
  await check('trained models of guardrails', ['src/training/verdicts/train.ts', '--check'])
  await check('30 kills of the server', KILLS)
  await runFiles('more rounds on SQLite', plan.long, { TEST_LONG: '1' })
}
if (isSystem || isLong) await onPostgres()
rmSync(scratch, { recursive: true, force: true })
await step('nothing is left in the temporary folder', async () => {
  const left = newLeftovers()
  if (left.length) print(`Left behind: ${left.join(', ')}`)
  return left.length ? { passed: 0, failed: 1 } : { passed: 1, failed: 0 }
})

const sum = (pick: (tally: Tally) => number) => tallies.reduce((total, tally) => total + pick(tally), 0)
const failed = sum((tally) => tally.failed)
print(`\n${modulesTable(files)}`)
if (unsteady.length) print(`\nUNSTEADY, failed beside others and passed alone: ${unsteady.join(', ')}`)
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

function check(name: string, args: string[]): Promise<void> {
  return step(name, () => runCheck([BUN, ...args], { TMPDIR: scratch }))
}

async function runFiles(name: string, lots: Files, env = {}): Promise<void> {
  for (const [kind, workers] of Object.entries(WORKERS) as [keyof Files, number][]) {
    const paths = lots[kind]
    if (!paths.length) continue
    await step(`${name}, ${kind} (${paths.length} files)`, async () => {
      const tally = await runTests(paths, { workers, env: { TMPDIR: scratch, ...env } })
      files.push(...tally.files)
      unsteady.push(...tally.unsteady.map((file) => `${file} (${name})`))
      return tally
    })
  }
}

async function onPostgres(): Promise<void> {
  const found = await findPostgres(scratch)
  if ('missing' in found) {
    print(`\n── tests on Postgres: NOT RUN, ${found.missing}`)
    return
  }
  const env = { SVC_TEST_POSTGRES_URL: found.url }
  try {
    print(`\n── Postgres is ${found.where}`)
    if (isSystem) await runFiles('system on Postgres', plan.bothDatabases, env)
    if (isLong) {
      // What the system run had a moment ago gets more rounds or does not run again.
      const rest = isSystem ? without(plan.databaseBound, without(plan.bothDatabases, plan.long)) : plan.databaseBound
      await runFiles('all of the rest on Postgres', rest, { ...env, TEST_LONG: '1' })
      await acrossNodes(env)
    }
  } finally {
    await found.stop()
  }
}

async function acrossNodes(env: Record<string, string>): Promise<void> {
  if (!hasRedis('contract and tenants on three nodes')) return
  const redis = await startRedis()
  const nodes = { ...env, TEST_NODES: '3', TEST_REDIS_URL: redis.url }
  await runFiles('contract, tenants and repeated requests on three nodes', plan.acrossNodes, nodes)
  await redis.stop()
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
