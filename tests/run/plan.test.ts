import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { type Files, LATER_ON_POSTGRES, planTests } from './plan'

const plan = await planTests('tests')
const all = ({ sharing, timing }: Files) => [...sharing, ...timing]

test('every file runs once on SQLite, and on Postgres a part of those that a database changes', () => {
  const files = all(plan.all)
  expect(new Set(files).size).toBe(files.length)
  const bound = all(plan.databaseBound)
  expect(bound.filter((file) => !files.includes(file))).toEqual([])
  expect(all(plan.dialectBound).filter((file) => !bound.includes(file))).toEqual([])
})

test.each(['kernel/store', 'billing/overdraft', 'jobs/kills', 'contract/resources', 'idempotency/storm'])(
  '%s is proven on both',
  (name) => {
    const file = `tests/${name}.test.ts`
    expect(existsSync(file)).toBe(true)
    expect(all(plan.dialectBound)).toContain(file)
  },
)

test('a file that names a database runs on both wherever it lies', () => {
  expect(all(plan.dialectBound)).toContain('tests/media/video-resume.test.ts')
})

test.each(LATER_ON_POSTGRES)('%s, which the long run alone has on Postgres, is there', (one) => {
  expect([existsSync(`tests/${one}`), existsSync(`tests/${one}.test.ts`)]).toContain(true)
})

test('what times itself has no worker beside it that computes all the time', () => {
  expect(plan.all.timing).toContain('tests/webhooks/crowd.test.ts')
  expect(plan.all.sharing).not.toContain('tests/webhooks/crowd.test.ts')
})
