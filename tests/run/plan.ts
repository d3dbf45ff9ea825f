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
}

/** These open the database that `SVC_TEST_POSTGRES_URL` chooses. */
const DATABASE = /^tests\/support\/(store|world)\.ts$/
const ONCE = /^\/\/ SQLite only: \S/m
const SPAWNS = /\bBun\.spawn(Sync)?\(|from 'node:child_process'/
/** What is imported for its types alone is not there when the file runs. */
const TYPES = /^(?:import|export) type [^']+'[^']+'/gm
const TIMES = /\bperformance\.now\(\)|support\/effort'/

/** Sorts the test files of a folder by what they and the helpers they import do; read, never listed by hand. */
export async function planTests(folder: string): Promise<Plan> {
  const files = (await Array.fromAsync(new Bun.Glob(`${folder}/**/*.test.{ts,tsx}`).scan('.'))).sort()
  const none = (): Files => ({ sharing: [], timing: [] })
  const plan: Plan = { all: none(), databaseBound: none() }
  for (const file of files) {
    const sources = await closureOf(file)
    const spawns = [...sources.values()].some((text) => SPAWNS.test(text))
    const kind = spawns && TIMES.test(sources.get(file)!) ? 'timing' : 'sharing'
    plan.all[kind].push(file)
    if (ONCE.test(sources.get(file)!)) continue
    if ([...sources.keys()].some((source) => DATABASE.test(source))) plan.databaseBound[kind].push(file)
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
