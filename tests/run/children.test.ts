import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { temporaryFolder } from '../support/temporary-folder'
import { runTests } from './children'

const folder = temporaryFolder('svc-runner-')

const HEAD = `import { existsSync, writeFileSync } from 'node:fs'\nimport { expect, test } from 'bun:test'\n`

/** A test file of its own, as the runner is given it. */
function file(name: string, body: string): string {
  const path = join(folder, `${name}.test.ts`)
  writeFileSync(path, `${HEAD}${body}\n`)
  return relative('.', path)
}

const steady = file('steady', `test('a', () => expect(1).toBe(1))\ntest('b', () => expect(1).toBe(1))`)
const broken = (name: string) => file(name, `test('never', () => expect(1).toBe(2))`)
/** Fails the first time that it runs. */
const onceBroken = (name: string) =>
  file(
    name,
    `const mark = ${JSON.stringify(join(folder, `${name}.mark`))}
     test('the second time', () => { const was = existsSync(mark); writeFileSync(mark, ''); expect(was).toBe(true) })`,
  )

/** What the runs of here print is no output of this one. */
const options = { workers: 2, env: {}, say: () => undefined }

test('a file that fails once runs again alone, counts as passed, and is named', async () => {
  const shaky = onceBroken('shaky')
  expect(await runTests([steady, shaky], options)).toMatchObject({ passed: 3, failed: 0, unsteady: [shaky] })
})

test('what fails alone too has failed, and so has all of it when more than two files fail', async () => {
  expect(await runTests([steady, broken('never')], options)).toMatchObject({ passed: 2, failed: 1, unsteady: [] })
  const many = ['one', 'two', 'three'].map(onceBroken)
  expect(await runTests([steady, ...many], options)).toMatchObject({ passed: 2, failed: 3, unsteady: [] })
})

test('each file is counted with its seconds', async () => {
  const skips = file('skips', `test.skip('later', () => {})\ntest('now', () => Bun.sleep(20))`)
  const { files } = await runTests([steady, broken('never'), skips], options)
  const counts = files.map(({ file, passed, failed }) => `${basename(file)}: ${passed} passed, ${failed} failed`)
  expect(counts.sort()).toEqual([
    'never.test.ts: 0 passed, 1 failed',
    'skips.test.ts: 1 passed, 0 failed',
    'steady.test.ts: 2 passed, 0 failed',
  ])
  expect(files.find(({ file }) => file === skips)?.seconds).toBeGreaterThan(0.015)
})

test('a file that does not load is a failure that nothing takes back', async () => {
  const unloadable = file('unloadable', `await import('./nowhere')`)
  expect((await runTests([steady, unloadable], options)).failed).toBeGreaterThan(0)
})
