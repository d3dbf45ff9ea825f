import { expect, test } from 'bun:test'
import { type Files, planTests, without } from './plan'

const plan = await planTests('tests')
const all = ({ sharing, browsing, timing }: Files) => [...sharing, ...browsing, ...timing]

test('every file runs once on SQLite, and on Postgres a part of those that a database changes', async () => {
  const files = [...all(plan.units), ...all(plan.system)]
  expect(files.sort()).toEqual((await Array.fromAsync(new Bun.Glob('tests/**/*.test.{ts,tsx}').scan('.'))).sort())
  expect(all(without(plan.bothDatabases, plan.databaseBound))).toEqual([])
  expect(all(without(plan.databaseBound, { sharing: files, browsing: files, timing: files }))).toEqual([])
})

test.each(['kernel/store', 'billing/overdraft', 'jobs/kills', 'contract/resources', 'idempotency/storm'])(
  '%s is proven on both',
  (name) => {
    expect(all(plan.bothDatabases)).toContain(`tests/${name}.test.ts`)
  },
)

test.each(['contract/tenants', 'contract/idempotency', 'idempotency/replay'])('%s is asked of three nodes', (name) => {
  expect(all(plan.acrossNodes)).toContain(`tests/${name}.test.ts`)
})

test('a file that names a database runs on both', () => {
  expect(all(plan.bothDatabases)).toContain('tests/media/video-resume.test.ts')
})

test.each(['pages/widget', 'cli/binary', 'tui/pty', 'webhooks/crowd', 'first-run/five-minutes'])(
  '%s starts or times something, so it is a test of the system',
  (name) => {
    expect(all(plan.system)).toContain(`tests/${name}.test.ts`)
  },
)

test.each(['architecture', 'docs', 'accounts/keys/rotate', 'contract/scopes'])('%s is in the short run', (name) => {
  expect(plan.units.sharing).toContain(`tests/${name}.test.ts`)
})

test('what starts a browser has few beside it, and pages open on SQLite only', () => {
  const pages = 'tests/pages/console/every-screen.test.ts'
  expect(plan.units.browsing).toEqual([])
  expect(plan.system.browsing).toContain(pages)
  expect(plan.databaseBound.browsing).toContain('tests/browser/live-view.test.ts')
  expect(all(plan.databaseBound)).not.toContain(pages)
})

test('what times itself has no worker beside it that computes all the time', () => {
  expect(plan.units.timing).toEqual([])
  expect(plan.system.timing).toContain('tests/webhooks/crowd.test.ts')
})
