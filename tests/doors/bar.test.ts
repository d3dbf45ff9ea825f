// SQLite only: the doors are run on both databases by their own tests.
import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createUpstreamWorld } from '../completions/upstream-world'
import { listen } from '../support/listening'
import { createWorld, type World } from '../support/world'

const folder = join(import.meta.dir, 'bar')
const isInstalled = existsSync(join(folder, 'node_modules'))
if (!isInstalled)
  process.stderr.write('NOT RUN: tests/doors/bar.test.ts: run bun install --frozen-lockfile in tests/doors/bar\n')

/** Runs every case with the real packages, in a process of its own, and returns what it printed. */
async function measure(world: World, env: Record<string, string>): Promise<string> {
  const person = await world.person({ tier: 'enterprise', cents: 10_000 })
  const child = Bun.spawn([process.execPath, 'bar.mjs'], {
    ...{ cwd: folder, stdout: 'pipe', stderr: 'ignore' },
    env: { PATH: process.env.PATH!, SVC_URL: listen(world).origin, SVC_KEY: person.key, ...env },
  })
  const batches = setInterval(() => void world.app.container.jobs.runDue('batch'), 200)
  const text = await new Response(child.stdout).text()
  clearInterval(batches)
  return text
}

describe.skipIf(!isInstalled)('every door with the real packages at their defaults (contract 33)', () => {
  test('passes whole with the built-in engine', async () => {
    expect(await measure(await createWorld(), {})).toMatch(/^\d+ passed, 0 failed\n$/)
  }, 300_000)

  test('passes whole with a scripted upstream', async () => {
    const { world, upstream } = await createUpstreamWorld()
    expect(await measure(world, { SVC_SCRIPTED: '1' })).toMatch(/^\d+ passed, 0 failed\n$/)
    expect(upstream.faults).toEqual([])
  }, 300_000)
})
