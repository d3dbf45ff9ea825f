import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isNotNull } from 'drizzle-orm'
import type { JobId } from '../../../src/jobs/schema'
import { jobs as jobTable } from '../../../src/jobs/table'
import { UserId } from '../../../src/kernel/ids'
import { callOf, keyCaller } from '../../support/callers'
import { isLong } from '../../support/long'
import { seededRandom } from '../../support/random'
import { copyMigratedFile, createMigratedDatabase, postgresUrl } from '../../support/store'
import { costOf, openPlace, type Place, processOf } from './kills'
import { CENT } from './support'

const JOBS = isLong ? 120 : 60
/** Whatever time a worker takes to begin, it has done so many jobs before one is killed. */
const BETWEEN_KILLS = JOBS / 5
const HELD_CENTS = 5
const OWNERS = 4

const folder = mkdtempSync(join(tmpdir(), 'svc-paid-jobs-'))
const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
if (!database) await copyMigratedFile(join(folder, 'svc.db'))
const place: Place = database
  ? { dialect: 'postgres', url: database.url }
  : { dialect: 'sqlite', url: join(folder, 'svc.db') }
const store = openPlace(place)
afterAll(async () => {
  await store.close()
  await database?.drop()
  rmSync(folder, { recursive: true, force: true })
})

test('jobs whose workers are killed are each charged once, and nothing stays held (I9, I15)', async () => {
  const { publicJobs, billing, kind } = processOf(store, 'accepts', folder)
  const calls = Array.from({ length: OWNERS }, () => callOf(keyCaller({ userId: UserId.create() })))
  const ownerOf = (at: number) => `user:${calls[at]!.caller.userId}` as const
  await store.write(async (tx) => {
    for (const at of calls.keys()) {
      const owner = ownerOf(at)
      await billing.grant(tx, { owner, amount: 10_000 * CENT, ref: owner, kind: 'grant', note: null })
    }
  })
  const accept = (n: number) =>
    publicJobs.accept(calls[n % OWNERS]!, kind, {
      input: { n },
      hold: HELD_CENTS * CENT,
      answer: (id: JobId) => ({ id }),
    })
  await Promise.all(Array.from({ length: JOBS }, (_, n) => accept(n)))
  const kills = await workThrough(database ? 2 : 1, async () => {
    const all = await Promise.all(calls.map((call) => publicJobs.list(call, { limit: 100 })))
    const jobs = all.flatMap(({ jobs }) => jobs)
    const t = store.read.of(jobTable)
    const active = await store.read.select({ node: t.node }).from(t).where(isNotNull(t.lease_until))
    return {
      ended: jobs.filter(({ status }) => status === 'completed').length,
      busy: new Set(active.map(({ node }) => node)),
    }
  })
  expect(kills).toBeGreaterThan(1)
  const ended = (await Promise.all(calls.map((call) => publicJobs.list(call, { limit: 100 })))).flatMap(
    ({ jobs }) => jobs,
  )
  expect(ended).toHaveLength(JOBS)
  // Every fifth fails once by itself; whatever is more, a kill has hit.
  expect(ended.reduce((sum, { attempts }) => sum + attempts, 0)).toBeGreaterThan(JOBS * 1.2)
  for (const at of calls.keys()) {
    const mine = Array.from({ length: JOBS }, (_, n) => n).filter((n) => n % OWNERS === at)
    const cost = mine.reduce((sum, n) => sum + costOf(n), 0)
    const { balance, held } = await billing.balance(store.read, ownerOf(at))
    expect({ balance: balance / CENT, held }).toEqual({ balance: 10_000 - cost, held: 0 })
  }
  expect([...(await billing.verify(store.read)), ...(await publicJobs.verify(store.read))]).toEqual([])
}, 120_000)

/** Has workers work until all is done, and kills one of them whenever some more is. Returns how often. */
async function workThrough(
  workers: number,
  seen: () => Promise<{ ended: number; busy: ReadonlySet<string | null> }>,
): Promise<number> {
  const random = seededRandom(11)
  const begin = () => {
    const command = [process.execPath, join(import.meta.dir, 'kills.ts'), place.dialect, place.url, folder]
    return Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' })
  }
  const children = new Set(Array.from({ length: workers }, begin))
  let kills = 0
  try {
    let atLastKill = 0
    for (let { ended, busy } = await seen(); ended < JOBS || kills < 2; { ended, busy } = await seen()) {
      await Bun.sleep(50)
      // A kill between two jobs proves nothing.
      const working = [...children].filter(({ pid }) => busy.has(`worker ${pid}`))
      if (ended < JOBS && (ended < atLastKill + BETWEEN_KILLS || !working.length)) continue
      const victim = random.pick(working.length ? working : [...children])
      // Halted first, so that the job it was seen with cannot end before the kill.
      victim.kill('SIGSTOP')
      if (ended < JOBS && !(await seen()).busy.has(`worker ${victim.pid}`)) {
        victim.kill('SIGCONT')
        continue
      }
      atLastKill = ended
      victim.kill('SIGKILL')
      await victim.exited
      children.delete(victim)
      children.add(begin())
      kills += 1
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all([...children].map(({ exited }) => exited))
  }
  return kills
}
