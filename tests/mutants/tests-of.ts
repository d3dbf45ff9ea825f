import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'

/** Tests that stand elsewhere, and are as much about a module as its own. */
const OWN: Record<string, string[]> = {
  billing: [
    'tests/contract/{bounds,names}.test.ts',
    'tests/operators/reconcile.test.ts',
    'tests/cluster/nodes/lease.test.ts',
  ],
  limits: ['tests/contract/{bounds,names}.test.ts'],
  'accounts/keys': ['tests/contract/{bounds,names}.test.ts', 'tests/app/account-bounds.test.ts'],
}

/** Tests outside of a module's own folder that exercise it over its public faces. */
const BESIDE: Record<string, string[]> = {
  billing: `
    tests/catalogue/g-*.test.ts tests/completions/money.test.ts tests/operators/plane.test.ts
    tests/chaos/failpoints.test.ts tests/app/config.test.ts tests/cli/{credits,credits-books}.test.ts
    tests/contract/*.test.ts
  `
    .trim()
    .split(/\s+/),
  idempotency: [
    'tests/catalogue/h-*.test.ts',
    'tests/http/idempotent.test.ts',
    'tests/contract/{idempotency,matrix}*.test.ts',
    'tests/accounts/orgs/routes.test.ts',
    'tests/chaos/failpoints.test.ts',
  ],
  limits: [
    'tests/catalogue/i-*.test.ts',
    'tests/http/{headers,guard}.test.ts',
    'tests/contract/*.test.ts',
    'tests/app/config.test.ts',
  ],
  'accounts/keys': [
    'tests/catalogue/a-key*.test.ts',
    'tests/cli/keys*.test.ts',
    'tests/operators/first-key.test.ts',
    'tests/completions/brand-soul.test.ts',
    'tests/contract/*.test.ts',
  ],
  'kernel/store': [
    'tests/kernel/{loop,keyset,page}.test.ts',
    'tests/app/open.test.ts',
    'tests/billing/{holds,credit,abandoned}.test.ts',
    'tests/invariants/{backups,boot}.test.ts',
    'tests/chaos/failpoints.test.ts',
  ],
}

/** The modules that are looked at unless others are named. */
export const MODULES = Object.keys(BESIDE)

/** The patterns of tests that are named for a module. */
export const namedFor = (module: string): string[] => [...(OWN[module] ?? []), ...(BESIDE[module] ?? [])]

/** Files of tests in the order in which they are likely to see a fault of `file`. */
export type TestPlan = { near: string[]; wide: string[] }

/**
 * `near` are the tests of the module's own folder and those of `OWN`, those that import the file first; `wide` are
 * those elsewhere whose own text or helpers import the module by its door, and those that exercise it over its public
 * faces.
 */
export async function testsOf(module: string, file: string): Promise<TestPlan> {
  const elsewhere = await Promise.all((OWN[module] ?? []).map(scan))
  const own = [...(await inFolder(module)), ...elsewhere.flat()]
  const beside = await Promise.all((BESIDE[module] ?? [`tests/catalogue/*.test.ts`]).map(scan))
  const importing = module.includes('/') ? [] : await importersOf(`src/${module}`)
  const near = own.sort((a, b) => nearness(b, file) - nearness(a, file))
  return { near, wide: [...new Set([...importing, ...beside.flat()])].filter((one) => !near.includes(one)) }
}

/** The tests of `kernel/store` are in `tests/kernel` under its name. */
async function inFolder(module: string): Promise<string[]> {
  const [outer, inner] = module.split('/')
  return [
    ...(await scan(`tests/${module}/**/*.test.ts`)),
    ...(inner ? await scan(`tests/${outer}/${inner}*.test.ts`) : []),
  ]
}

export const scan = async (pattern: string): Promise<string[]> =>
  (await Array.fromAsync(new Bun.Glob(pattern).scan('.'))).sort()

/** 2 for a test of the same name, 1 for one that imports the file, 0 for others. */
function nearness(test: string, file: string): number {
  if (basename(test).startsWith(basename(file, '.ts'))) return 2
  return closureOf(test, /^tests\//).has(file) ? 1 : 0
}

async function importersOf(folder: string): Promise<string[]> {
  const all = await scan('tests/**/*.test.ts')
  return all.filter((test) => [...closureOf(test, /^$/)].some((target) => target.startsWith(`${folder}/`)))
}

const known = new Map<string, string[]>()

/** What a file imports, and what those of them that `through` allows import in turn. */
function closureOf(test: string, through: RegExp): Set<string> {
  const found = new Set<string>()
  const waiting = [test]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const target of importsOf(next)) {
      if (found.has(target)) continue
      found.add(target)
      if (through.test(target)) waiting.push(target)
    }
  }
  return found
}

function importsOf(file: string): string[] {
  const before = known.get(file)
  if (before) return before
  const found = [...fileText(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path]) => {
    const target = normalize(join(dirname(file), path!))
    return fileText(`${target}.ts`) ? `${target}.ts` : `${target}/index.ts`
  })
  known.set(file, found)
  return found
}

const texts = new Map<string, string>()
function fileText(file: string): string {
  const before = texts.get(file)
  if (before !== undefined) return before
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  texts.set(file, text)
  return text
}
