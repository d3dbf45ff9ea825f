import { join } from 'node:path'
import { bundled, ROOT } from './bundle'

const say = (line: string): void => void process.stderr.write(`${line}\n`)

/** Runs Bun again: this process looked for packages before they were there, and would not find them now. */
const bun = (...words: string[]): Promise<number> =>
  Bun.spawn([process.execPath, ...words], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] }).exited

/**
 * Installs the packages that `bun.lock` names and compiles the sources, and says on stderr what it is doing. It says
 * nothing where nothing changed since the last time.
 */
async function setUp(): Promise<void> {
  const startedAt = performance.now()
  const isNew = !bundled('serve.js')
  if (isNew) say('Setting up svc. This happens once, and again when the sources change.\n  installing packages')
  if (await bun('install', '--frozen-lockfile', '--no-summary')) {
    say('error: the packages could not be installed. Check that this machine reaches a package registry.')
    process.exit(1)
  }
  if (!isNew) return
  await bun(join(import.meta.dir, 'make-bundle.ts'))
  say(`Set up in ${Math.ceil((performance.now() - startedAt) / 1000)} s.`)
}

await setUp()
