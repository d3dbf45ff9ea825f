import { afterAll, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleCacheOf, bundled } from '../../src/app/bundle'
import { makeBundle } from '../../src/app/make-bundle'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

let root = ''
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'svc-bundle-'))
  folders.push(root)
  mkdirSync(join(root, 'node_modules'))
  await Bun.write(join(root, 'bun.lock'), '{}')
  await Bun.write(join(root, 'tsconfig.json'), '{}')
  await Bun.write(join(root, 'src/kernel/words.ts'), "export const word = 'one'\nexport const here = import.meta.dir\n")
  await Bun.write(join(root, 'src/app/serve.ts'), "export { here, word } from '../kernel/words'\n")
  await Bun.write(join(root, 'tui/start.ts'), "export const drawn = 'a screen'\n")
  await Bun.write(
    join(root, 'cli/registry.ts'),
    "export const allCommands = async () => [{ path: 'keys list', run: () => undefined }]\n",
  )
  await Bun.write(join(root, 'src/app/open.ts'), "export const opened = 'from the sources'\n")
  await Bun.write(join(root, 'src/kernel/store/index.ts'), "export const stored = 'in a folder'\n")
  await Bun.write(
    join(root, 'cli/entry.ts'),
    "export { word } from '../src/kernel/words'\nexport const open = async () => [(await import('../src/app/open')).opened, (await import('../src/kernel/store')).stored]\n",
  )
})

const load = async () => (await import(bundled('serve.js', root) as string)) as { word: string; here: string }

test('nothing is bundled until somebody asks for it', async () => {
  expect(bundled('serve.js', root)).toBeNull()
  await makeBundle(root)
  expect((await load()).word).toBe('one')
})

test('a module in a bundle still knows its own folder', async () => {
  await makeBundle(root)
  expect((await load()).here).toBe(join(root, 'src/kernel'))
})

test('the command line is a bundle of its own, and takes the server from the other', async () => {
  await makeBundle(root)
  expect(await Bun.file(bundled('serve.js', root) as string).text()).toContain('from the sources')
  const path = bundled('cli.js', root) as string
  const cli = (await import(path)) as { word: string; open(): Promise<string[]> }
  expect([cli.word, ...(await cli.open())]).toEqual(['one', 'from the sources', 'in a folder'])
  expect(await Bun.file(path).text()).not.toContain('from the sources')
})

test('what the commands say of themselves is beside it, without their code', async () => {
  await makeBundle(root)
  expect(await Bun.file(bundled('commands.json', root) as string).json()).toEqual([{ path: 'keys list' }])
})

test('where no repository and no API is, what is known of the release is that it is unknown', async () => {
  await makeBundle(root)
  const known = await Bun.file(bundled('release.json', root) as string).json()
  expect(known).toEqual({ commit: 'unknown', openapi: 'unknown' })
})

test.each([
  ['a command that changes', () => Bun.write(join(root, 'cli/entry.ts'), '')],
  ['a source that changes', () => Bun.write(join(root, 'src/kernel/words.ts'), "export const word = 'two'\n")],
  ['a source that is new', () => Bun.write(join(root, 'src/kernel/more.ts'), '')],
  ['a source that goes', () => rmSync(join(root, 'src/kernel/words.ts'))],
  ['another set of packages', () => Bun.write(join(root, 'bun.lock'), '{ }')],
  ['a time alone', () => utimesSync(join(root, 'src/app/serve.ts'), 1, 1)],
])('%s puts the bundle aside', async (_what, change) => {
  await makeBundle(root)
  expect(bundled('serve.js', root)).not.toBeNull()
  await change()
  expect(bundled('serve.js', root)).toBeNull()
})

test('only the newest few are kept, and nothing half-made', async () => {
  for (let round = 0; round < 5; round++) {
    await Bun.write(join(root, 'src/kernel/words.ts'), `export const word = 'round ${round}'\nexport const here = ''\n`)
    await Promise.all([makeBundle(root), makeBundle(root)])
    expect((await load()).word).toBe(`round ${round}`)
  }
  const stored = readdirSync(bundleCacheOf(root))
  expect(stored.length).toBeLessThanOrEqual(3)
  for (const name of stored) expect(readdirSync(join(bundleCacheOf(root), name))).toContain('serve.js')
})
