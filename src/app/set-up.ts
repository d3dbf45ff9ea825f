import { join } from 'node:path'
import { bundled, ROOT } from './bundle'

const say = (line: string): void => void process.stderr.write(`${line}\n`)

/** Runs Bun in a new process. This one looked for packages before they were installed, and cannot find them. */
const bun = (...words: string[]): Promise<number> =>
  Bun.spawn([process.execPath, ...words], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] }).exited

/**
 * Installs the packages of `bun.lock`, compiles the sources, and reports progress on stderr. Silent if nothing changed
 * since the last time.
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
