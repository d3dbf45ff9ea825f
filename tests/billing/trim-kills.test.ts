// Both databases: what a kill leaves of a transaction is for each to say.
import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { createRollup, usageRecords } from '../../src/usage'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { fakeClock } from '../support/clock'
import type { Person } from '../support/world'

const DAY_MS = 86_400_000
const SIGKILL = 137
const clock = fakeClock('2026-01-10T00:00:00.000Z')
const { world } = await createUpstreamWorld({ clock, config: { cacheEnabled: false } })
const { app, folder, config } = world
const { store } = app

async function ask(person: Person, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    clock.advance(60_000)
    expect((await person.send('POST', 'completions', { prompt: freshPrompt(), mode: 'fast' })).status).toBe(200)
  }
}

async function trimUntilKilled(moment: 'before' | 'after'): Promise<number> {
  const place = config.databaseUrl || join(folder, 'svc.db')
  const words = [store.dialect, place, folder, String(clock.now()), moment]
  const child = Bun.spawn([process.execPath, 'tests/billing/trim-process.ts', ...words], { stderr: 'inherit' })
  return child.exited
}

async function countOf(): Promise<number> {
  const t = store.read.of(usageRecords)
  const [row] = await store.read.select({ count: sql<number>`count(*)`.mapWith(Number) }).from(t)
  return row!.count
}

/** What must be the same after each kill. */
async function soundnessOf(person: Person) {
  const balance = (await person.send('GET', 'billing/balance')).body.balance_cents
  const { totals, by_day } = (await person.send('GET', 'usage?from=2026-01-01T00:00:00Z&to=2026-06-01T00:00:00Z')).body
  const { container } = app
  const faults = [
    ...(await container.audit.verify(store.read)),
    ...(await container.billing.verify(store.read)),
    ...(await container.checkpoints.verify(store.read)),
  ]
  return { balance, totals, by_day, faults }
}

test('killed before and after each of its commits, a trim loses nothing, and the next one goes on', async () => {
  const [ada, eve] = [await world.person(), await world.person({ ofOrg: true })]
  await ask(ada, 60)
  clock.advance(30 * DAY_MS)
  await ask(eve, 3)
  clock.advance(150 * DAY_MS)
  await ask(ada, 2)
  const rollBatch = createRollup({ store })
  while (!(await rollBatch()).done);
  const sound = await soundnessOf(ada)
  expect(sound.faults).toEqual([])

  const counts = [await countOf()]
  for (;;) {
    const code = await trimUntilKilled('before')
    expect(await soundnessOf(ada)).toEqual(sound)
    expect(await countOf()).toBe(counts.at(-1)!)
    if (code === 0) break
    expect(code).toBe(SIGKILL)
    expect(await trimUntilKilled('after')).toBe(SIGKILL)
    expect(await soundnessOf(ada)).toEqual(sound)
    counts.push(await countOf())
  }
  // The archive of each owner, and the batches: 50 and 10 of the one, 3 of the other.
  expect(counts.map((count, at) => (counts[at - 1] ?? count) - count).sort((a, b) => a - b)).toEqual([
    ...[0, 0, 0],
    ...[3, 10, 50],
  ])
  const names = readdirSync(join(folder, 'audit/archive'))
  expect(names.filter((name) => name.endsWith('.calls.csv.gz'))).toHaveLength(2)
}, 120_000)
