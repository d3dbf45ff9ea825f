import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import equivalents from './equivalents.json'
import { mutated, mutationsOf, shown } from './mutations'
import { MODULES, namedFor, scan, testsOf } from './tests-of'

const QUERY = `import { and, eq, gt, gte } from 'drizzle-orm'
export const open = (t: { a: number; b: number }, now: number) => {
  note('a sentence that nobody reads')
  return gte(now, 5) && and(eq(t.a, 1), gt(t.b, sql\`\${now} - 60\`))
}
`

describe('the faults that are put in', () => {
  test('are of operators, conditions of queries, SQL, numbers and statements, and not of wording', async () => {
    const all = (await mutationsOf('src/module/file.ts', QUERY)).map((one) => mutated(one, QUERY))
    for (const changed of [
      QUERY.replace('gte(now', 'gt(now'),
      QUERY.replace(/, gt\(t\.b.*$/m, ')'),
      QUERY.replace(' - 60', ' + 60'),
      QUERY.replace('5)', '6)'),
      QUERY.replace("note('a sentence that nobody reads')", ';'),
      QUERY.replace('&&', '||'),
    ]) {
      expect(all).toContain(changed)
    }
    expect(all).not.toContain(QUERY.replace("'a sentence that nobody reads'", '""'))
    expect(new Set(all).has(QUERY)).toBe(false)
  })

  test('that are named as equivalent are faults that can be put in, each with a reason', async () => {
    for (const { file, at, change, reason } of equivalents) {
      const text = await Bun.file(file).text()
      const all = (await mutationsOf(file, text)).map((one) => shown(one, text))
      expect({ file, all: all.some((one) => one.at === at && one.change === change) }).toEqual({ file, all: true })
      expect(reason.length).toBeGreaterThan(10)
    }
  })
})

test('the tests of a module are its own, nearest first, and those that use it from outside', async () => {
  const { near, wide } = await testsOf('billing', 'src/billing/prices.ts')
  expect(near[0]).toBe('tests/billing/prices.test.ts')
  expect(near).toContain('tests/billing/credit.test.ts')
  expect(wide).toContain('tests/catalogue/g-billing.test.ts')
  expect(wide.filter((file) => near.includes(file))).toEqual([])
})

test.each(MODULES)('%s is a module, and the tests that are named for it are there', async (module) => {
  expect(existsSync(`src/${module}`)).toBe(true)
  for (const pattern of namedFor(module))
    expect({ pattern, found: (await scan(pattern)).length > 0 }).toEqual({ pattern, found: true })
})
