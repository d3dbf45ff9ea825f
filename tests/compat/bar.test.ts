// SQLite only: the APIs are run on both databases by their own tests.
import { describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createUpstreamWorld } from '../completions/upstream-world'
import { listen } from '../support/listening'
import { createWorld, type World } from '../support/world'

const bar = join(import.meta.dir, 'bar')
/** Apart from the sources, which other tests read whole. `.ci/run` installs its packages. */
const folder = join(import.meta.dir, '../../node_modules/.cache/compat-bar')
const textOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : null)
const isInstalled =
  existsSync(join(folder, 'node_modules')) && textOf(join(folder, 'bun.lock')) === textOf(join(bar, 'bun.lock'))
if (!isInstalled)
  process.stderr.write(
    'NOT RUN: tests/compat/bar.test.ts, because .ci/run has not installed the packages of the bar.\n',
  )

const run = (file: string, env: Record<string, string> = {}) =>
  Bun.spawn([process.execPath, file], {
    ...{ cwd: folder, stdout: 'pipe', stderr: 'ignore', env: { PATH: process.env.PATH!, ...env } },
  })

/** Runs every case with the real packages, in a process of its own, and returns what it printed. */
async function measure(SVC_URL: string, SVC_KEY: string, env: Record<string, string> = {}): Promise<string> {
  copyFileSync(join(bar, 'bar.mjs'), join(folder, 'bar.mjs'))
  return new Response(run('bar.mjs', { SVC_URL, SVC_KEY, ...env }).stdout).text()
}

async function measureWorld(world: World, env: Record<string, string> = {}): Promise<string> {
  const { key } = await world.person({ tier: 'enterprise', cents: 10_000 })
  const batches = setInterval(() => void world.app.container.jobs.runDue('batch'), 200)
  try {
    return await measure(listen(world).origin, key, env)
  } finally {
    clearInterval(batches)
  }
}

test('docs/clients.md shows each package of the bar', () => {
  const page = readFileSync(join(import.meta.dir, '../../docs/clients.md'), 'utf8')
  const { dependencies } = JSON.parse(readFileSync(join(bar, 'package.json'), 'utf8')) as { dependencies: object }
  const helpers = ['zod', '@langchain/core']
  const clients = Object.keys(dependencies).filter((name) => !/-\d$/.test(name) && !helpers.includes(name))
  expect(clients.length).toBeGreaterThan(9)
  expect(clients.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

describe.skipIf(!isInstalled)('every API with the real packages at their defaults', () => {
  test('passes whole with a server that is not svc', async () => {
    copyFileSync(join(bar, 'fake.mjs'), join(folder, 'fake.mjs'))
    const fake = run('fake.mjs')
    try {
      const { value } = await fake.stdout.getReader().read()
      expect(await measure(new TextDecoder().decode(value).trim(), 'svc_sk_any')).toMatch(/^\d+ passed, 0 failed\n$/)
    } finally {
      fake.kill()
    }
  }, 300_000)

  test('passes whole with the built-in engine', async () => {
    expect(await measureWorld(await createWorld())).toMatch(/^\d+ passed, 0 failed\n$/)
  }, 300_000)

  test('passes whole with a scripted upstream', async () => {
    const { world, upstream } = await createUpstreamWorld()
    expect(await measureWorld(world, { SVC_SCRIPTED: '1' })).toMatch(/^\d+ passed, 0 failed\n$/)
    expect(upstream.faults).toEqual([])
  }, 300_000)
})
