import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { isInScratch } from '../support/scratch'
import { leftovers } from './leftovers'

test('only what came since and is ours is left behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-leftovers-'))
  const make = (name: string) => mkdirSync(join(folder, name))
  make('svc-before')
  const left = leftovers([folder])
  for (const name of ['svc-tests-Ab1', 'of-somebody-else', 'svc-world-1', 'org.chromium.Chromium.x']) make(name)
  expect(left().sort()).toEqual(['org.chromium.Chromium.x', 'svc-world-1'].map((name) => join(folder, name)))
})

test('tests and what they start have a temporary folder that is removed', () => {
  expect(isInScratch()).toBe(true)
  expect(Bun.spawnSync(['sh', '-c', 'printf %s "$TMPDIR"']).stdout.toString()).toBe(tmpdir())
})

test('the folder goes when the process that made it is killed', async () => {
  const code = `import { makeScratch } from './tests/support/scratch'
    import { tmpdir } from 'node:os'
    console.log(makeScratch(tmpdir())); await Bun.sleep(60_000)`
  const child = Bun.spawn([process.execPath, '-e', code], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const folder = new TextDecoder().decode(value).trim()
  expect(existsSync(folder)).toBe(true)
  child.kill('SIGKILL')
  await eventually(() => !existsSync(folder))
})
