/**
 * `bun run prove mutants --modules billing,limits [--count 50] [--seed 1] [--workers 2] [--postgres]`: puts small
 * random faults into the named modules, one at a time and in a copy of the tree, and runs the tests that matter for
 * each until one fails. Prints each fault that no test saw, and the share that was seen. A fault that changes nothing
 * one could see is named in `equivalents.json`, with the reason, and not counted; nor is one that the types refuse. The
 * seed makes a run again. Exits 1 below `--min` (0.9).
 */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { findPostgres } from '../run/postgres'
import { seededRandom } from '../support/random'
import { fastestParent, makeScratch } from '../support/scratch'
import { type Copy, makeCopy } from './copy'
import { type Mutation, mutated, mutationsOf, shown } from './mutations'
import { createSoundness } from './soundness'
import { MODULES, type TestPlan, testsOf } from './tests-of'

const { values } = parseArgs({
  options: {
    modules: { type: 'string', default: MODULES.join(',') },
    count: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(Math.min(2, availableParallelism())) },
    min: { type: 'string', default: '0.9' },
    /** Runs what SQLite let through on Postgres, too. */
    postgres: { type: 'boolean', default: false },
  },
})
const [count, seed, workers] = [Number(values.count), Number(values.seed), Number(values.workers)]
const CHECK_MS = 600_000
const print = (line: string) => void process.stdout.write(`${line}\n`)

type Candidate = Mutation & { module: string }
/** `at` is the text of the line: its number moves. */
type Equivalent = { file: string; at: string; change: string; reason: string }
type Found = { module: string; how: 'caught' | 'survived' | 'equivalent' | 'refused' }

const equivalents: Equivalent[] = await Bun.file(new URL('equivalents.json', import.meta.url)).json()
const sources = new Map<string, string>()
const scratch = makeScratch(fastestParent())
const postgres = values.postgres ? await findPostgres(scratch) : null
if (postgres && 'missing' in postgres) throw new Error(`--postgres: ${postgres.missing}`)
const onPostgres = postgres ? { SVC_TEST_POSTGRES_URL: postgres.url } : null
const soundness = createSoundness(print)

const modules = values.modules.split(',')
const candidates = (await Promise.all(modules.map(candidatesOf))).flat()
const chosen = sample(candidates, count)
print(`prove mutants seed ${seed}: ${chosen.length} of ${candidates.length} faults in ${modules.join(', ')}`)

const plans = new Map<string, TestPlan>()
for (const { module, file } of chosen) if (!plans.has(file)) plans.set(file, await testsOf(module, file))

const found: Found[] = []
const copies = Array.from({ length: workers }, (_, number) => makeCopy(scratch, number))
await Promise.all(copies.map(drain))
await postgres?.stop()
process.exit(report() ? 0 : 1)

async function candidatesOf(module: string): Promise<Candidate[]> {
  const made = (await Array.fromAsync(new Bun.Glob(`src/${module}/**/*.ts`).scan('.'))).sort().map(async (file) => {
    const text = readFileSync(file, 'utf8')
    sources.set(file, text)
    return (await mutationsOf(file, text)).map((mutation) => ({ ...mutation, module }))
  })
  return (await Promise.all(made)).flat()
}

/** So many of them, each module by its share, in the order in which the seed draws them. */
function sample(all: Candidate[], max: number): Candidate[] {
  const { between } = seededRandom(seed)
  const left = [...all]
  return Array.from({ length: Math.min(max, left.length) }, () => left.splice(between(0, left.length - 1), 1)[0]!)
}

async function drain(copy: Copy): Promise<void> {
  for (let next = chosen.shift(); next; next = chosen.shift()) {
    const how = await judge(copy, next)
    found.push({ module: next.module, how })
    const { line, change, kind } = shown(next, sources.get(next.file)!)
    if (how === 'survived') print(`  not seen: ${next.file}:${line} ${kind}: ${change}`)
    if (found.length % 20 === 0) print(`  ${found.length} tried, ${share(found).toFixed(2)} seen`)
  }
}

async function judge(copy: Copy, mutation: Candidate): Promise<Found['how']> {
  const { file } = mutation
  const text = sources.get(file)!
  const { at, change } = shown(mutation, text)
  if (equivalents.some((one) => one.file === file && one.at === at && one.change === change)) return 'equivalent'
  const { near, wide } = plans.get(file)!
  const sees = (files: readonly string[], on: Record<string, string> = {}) =>
    soundness.sees(copy, files, on, { file, text, faulty: mutated(mutation, text) })
  if (await sees(near)) return 'caught'
  copy.write(file, mutated(mutation, text))
  const checked = await copy.checked(file, CHECK_MS)
  copy.write(file, text)
  if (checked !== 'survived') return 'refused'
  if (await sees(wide)) return 'caught'
  return onPostgres && (await sees(near, onPostgres)) ? 'caught' : 'survived'
}

function share(of: readonly Found[]): number {
  const caught = of.filter(({ how }) => how === 'caught').length
  return caught / Math.max(1, caught + of.filter(({ how }) => how === 'survived').length)
}

function report(): boolean {
  const number = (of: readonly Found[], how: Found['how']) => of.filter((one) => one.how === how).length
  const line = (name: string, of: readonly Found[]) =>
    `${name}: ${share(of).toFixed(2)} seen; ${number(of, 'caught')} seen, ${number(of, 'survived')} not, ${number(of, 'equivalent')} change nothing, ${number(of, 'refused')} refused by types or the check of tables`
  for (const module of modules)
    print(
      line(
        module,
        found.filter((one) => one.module === module),
      ),
    )
  print(line(`prove mutants seed ${seed}`, found))
  return share(found) >= Number(values.min)
}
