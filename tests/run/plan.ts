import { dirname, join, normalize } from 'node:path'

/**
 * Test files by what may run beside them. Those that open pages compute in several processes each. Those that start
 * processes and time them mostly wait, so they go well with one another, and none of them meets a worker that computes
 * all the time.
 */
export type Files = Record<'sharing' | 'browsing' | 'timing', string[]>

export type Plan = {
  /** Those that start nothing and time nothing: units, modules and what is asked of each route. */
  units: Files
  /** Those that start processes, browsers or terminals, or measure time. */
  system: Files
  /** Those with more rounds in the long run. */
  long: Files
  /**
   * Those that the system run has on Postgres too: they open a store themselves or name a database, or say why a whole
   * server must be asked on both: `// Both databases: <reason>`.
   */
  bothDatabases: Files
  /**
   * Those that ask for a store, a world or a database, and can therefore run on either one; without those that open
   * pages, whose requests others make on both, and those that say why once is enough: `// SQLite only: <reason>`.
   */
  databaseBound: Files
  /** What must hold whichever node answers: the contract, whose things are whose, and repeated requests. */
  acrossNodes: Files
}

/** These open the database that `SVC_TEST_POSTGRES_URL` chooses. */
const DATABASE = /^tests\/support\/(store|world)\.ts$/
/** What differs by dialect: statements, query plans, two processes on one database. */
const BY_DIALECT = /support\/store'|\bpostgresUrl\b|\bopenPlanner\b|^\/\/ Both databases: \S/m
const LONG = 'tests/support/long.ts'
const WORLD = 'tests/support/world.ts'
/** Pages of the product, and the browsers that the product itself starts. */
const CHROMIUMS = ['tests/pages/support/chromium.ts', 'tests/browser/support.ts'] as const
const ONCE = /^\/\/ SQLite only: \S/m
/** `world.ts` spreads their requests over several nodes. */
const ACROSS_NODES = /^tests\/(contract|idempotency)\//
/** Git is where the sources are, and answers at once. */
const SPAWNS = /\bBun\.spawn(Sync)?\((?!\['git')|from '(node:child_process|puppeteer-core)'|\bfindChromium\b/
/** What is imported for its types alone is not there when the file runs. */
const TYPES = /^(?:import|export) type [^']+'[^']+'/gm
/** How late something is that waits for nothing but this machine. */
const TIMED = /^\/\/ Timed: \S/m
const TIMES = /\bperformance\.now\(\)|support\/effort'/

/**
 * Sorts the test files of `folder`, which is `tests`, by what they and the helpers they import do; read, never listed
 * by hand.
 */
export async function planTests(folder: string): Promise<Plan> {
  const files = (await Array.fromAsync(new Bun.Glob(`${folder}/**/*.test.{ts,tsx}`).scan('.'))).sort()
  const none = (): Files => ({ sharing: [], browsing: [], timing: [] })
  const plan: Plan = {
    ...{ units: none(), system: none(), long: none(), bothDatabases: none(), databaseBound: none() },
    acrossNodes: none(),
  }
  for (const file of files) {
    const sources = await closureOf(file)
    const own = sources.get(file)!
    const spawns = [...sources.values()].some((text) => SPAWNS.test(text))
    const isTimed = (spawns && TIMES.test(own)) || TIMED.test(own)
    const kind = isTimed ? 'timing' : CHROMIUMS.some((source) => sources.has(source)) ? 'browsing' : 'sharing'
    plan[spawns || isTimed ? 'system' : 'units'][kind].push(file)
    if (sources.has(LONG)) plan.long[kind].push(file)
    if (sources.has(CHROMIUMS[0]) || ONCE.test(own) || ![...sources.keys()].some((source) => DATABASE.test(source)))
      continue
    plan.databaseBound[kind].push(file)
    if (ACROSS_NODES.test(file) && sources.has(WORLD)) plan.acrossNodes[kind].push(file)
    if (BY_DIALECT.test(own)) plan.bothDatabases[kind].push(file)
  }
  return plan
}

/** The files of `from` that `taken` does not have. */
export const without = (from: Files, taken: Files): Files => ({
  sharing: from.sharing.filter((file) => !taken.sharing.includes(file)),
  browsing: from.browsing.filter((file) => !taken.browsing.includes(file)),
  timing: from.timing.filter((file) => !taken.timing.includes(file)),
})

const texts = new Map<string, string | null>()

/** A test file and the test helpers it reaches, with their text. The product's own files are not looked at. */
async function closureOf(file: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const waiting = [file]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue
    const text = await textOf(next)
    if (text === null) continue
    found.set(next, text)
    for (const [, path] of text.replace(TYPES, '').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
      const target = normalize(join(dirname(next), path!))
      if (target.startsWith('tests/')) waiting.push(...candidates(target))
    }
  }
  return found
}

const candidates = (target: string): string[] =>
  /\.(ts|tsx|json)$/.test(target) ? [target] : [`${target}.ts`, `${target}.tsx`, `${target}/index.ts`]

async function textOf(path: string): Promise<string | null> {
  const known = texts.get(path)
  if (known !== undefined) return known
  const source = Bun.file(path)
  const text = (await source.exists()) ? await source.text() : null
  texts.set(path, text)
  return text
}
