import { dirname, join, normalize } from 'node:path'

/**
 * Test files by what they need. Those that start processes and time them mostly wait, so they go well with one
 * another, and none of them meets a worker that computes all the time.
 */
export type Files = { sharing: string[]; timing: string[] }

export type Plan = {
  all: Files
  /**
   * Those that ask for a store, a world or a database, and can therefore run on either one; without those that say
   * why once is enough: `// SQLite only: <reason>`, where nothing reaches the database that other tests do not.
   */
  databaseBound: Files
  /** Of these, the ones that the test command runs on Postgres; `bun run test:long` runs all. */
  dialectBound: Files
  /** Those with more rounds in the long run. */
  long: Files
}

/**
 * Rooms, and files of rooms, that keep rows with the kit of others. Their tests cost much and have little to do with the
 * database: they start browsers and servers, draw, fetch, hash, or read texts. Not meant are files that name a database.
 * What stays is the store itself, money, audit, people, jobs and what is asked of each route.
 */
export const LATER_ON_POSTGRES = [
  ...['app', 'audio', 'browser', 'builtin', 'canvases', 'catalogue', 'chaos', 'chat', 'cli', 'code', 'completions'],
  ...['documents', 'engines', 'guardrails', 'media', 'operators', 'orgs', 'pages', 'research', 'routing-preferences'],
  ...['channels', 'health', 'live', 'making', 'settings', 'skill-runs', 'skills', 'takeovers', 'tools', 'traffic'],
  ...['conversations', 'events', 'files', 'first-run', 'keys', 'public-jobs', 'rate-limits', 'resource'],
  ...['usage', 'voice', 'webhooks', 'widgets', 'workflows'],
  ...[
    'auth/attempts',
    'contract/audit',
    'contract/bounds',
    'contract/openapi',
    'hooks/firing',
    'hooks/manage',
    'invariants/clocks',
    'invariants/disconnects',
    'invariants/event-loop',
  ],
  ...['invariants/fuzz', 'invariants/memory', 'invariants/secrets', 'invariants/sse-framing'],
]

const isLater = (file: string): boolean =>
  LATER_ON_POSTGRES.some((one) => file.startsWith(`tests/${one}/`) || file === `tests/${one}.test.ts`)

/** These open the database that `SVC_TEST_POSTGRES_URL` chooses. */
const DATABASE = /^tests\/support\/(store|world)\.ts$/
/** What differs by dialect: statements, query plans, two processes on one database. */
const BY_DIALECT = /\bpostgresUrl\b|\bopenPlanner\b/
const LONG = 'tests/support/long.ts'
const ONCE = /^\/\/ SQLite only: \S/m
const SPAWNS = /\bBun\.spawn(Sync)?\(|from 'node:child_process'/
/** What is imported for its types alone is not there when the file runs. */
const TYPES = /^(?:import|export) type [^']+'[^']+'/gm
/** How late something is that waits for nothing but this machine. */
const TIMED = /^\/\/ Timed: \S/m
const TIMES = /\bperformance\.now\(\)|support\/effort'/

/** Sorts the test files of `folder`, which is `tests`, by what they and the helpers they import do; read, never listed by hand. */
export async function planTests(folder: string): Promise<Plan> {
  const files = (await Array.fromAsync(new Bun.Glob(`${folder}/**/*.test.{ts,tsx}`).scan('.'))).sort()
  const none = (): Files => ({ sharing: [], timing: [] })
  const plan: Plan = { all: none(), databaseBound: none(), dialectBound: none(), long: none() }
  for (const file of files) {
    const sources = await closureOf(file)
    const spawns = [...sources.values()].some((text) => SPAWNS.test(text))
    const own = sources.get(file)!
    const kind = (spawns && TIMES.test(own)) || TIMED.test(own) ? 'timing' : 'sharing'
    plan.all[kind].push(file)
    if (sources.has(LONG)) plan.long[kind].push(file)
    if (ONCE.test(own) || ![...sources.keys()].some((source) => DATABASE.test(source))) continue
    plan.databaseBound[kind].push(file)
    if (BY_DIALECT.test(own) || !isLater(file)) plan.dialectBound[kind].push(file)
  }
  return plan
}

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
