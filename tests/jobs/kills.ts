import { sql } from 'drizzle-orm'
import { createJobs, defineJob } from '../../src/jobs'
import { JobId } from '../../src/jobs/schema'
import { jobs as table } from '../../src/jobs/table'
import { systemClock } from '../../src/kernel/clock'
import { defineTable, openPostgres, openSqlite, type Store } from '../../src/kernel/store'
import { seededRandom } from '../support/random'

export const LEASE_MS = 1_500
const ADDED_AT_ONCE = 250
const LOOK_EVERY_MS = 50

/** One row for each time that a job's effect was committed. */
const effects = defineTable('job_effects', (k) => ({
  id: k.text('id').primaryKey(),
  job_id: k.text('job_id').notNull(),
}))

/** Work of a few milliseconds, with an effect that must happen once. Kills are not its fault: it has many attempts. */
export const chaosKind = defineJob<{ n: number }, { n: number }>({
  name: 'test.chaos',
  retry: { attempts: 1_000, delayMs: () => 10 },
  timeLimitMs: 60_000,
  concurrency: 8,
  async run(job) {
    job.progress(50, 'half')
    await Bun.sleep(job.payload.n % 20)
    return {
      result: { n: job.payload.n },
      effects: (tx) => tx.insert(tx.of(effects)).values({ id: JobId.create(), job_id: job.id }),
    }
  },
})

export type KillReport = { jobs: number; kills: number; problems: string[] }
type Place = { dialect: 'sqlite'; path: string } | { dialect: 'postgres'; url: string }
/** `apart`: so many jobs end between two kills, whatever time a worker takes to begin. */
type Input = { place: Place; jobs: number; workers: number; killEveryMs: number; apart: number; seed: number }

/**
 * docs/promises.md I15: workers are killed with SIGKILL while they work through a queue. Afterwards every job has ended
 * well, its effect was committed once, and no look at it in between saw an ended job in another state.
 */
export async function runJobKills({ place, workers, seed, ...input }: Input): Promise<KillReport> {
  const { jobs: count, killEveryMs, apart } = input
  const random = seededRandom(seed)
  const store = openPlace(place)
  const report: KillReport = { jobs: count, kills: 0, problems: [] }
  const where = place.dialect === 'sqlite' ? place.path : place.url
  const children = new Set<Bun.Subprocess>()
  const begin = () => {
    const command = [process.execPath, `${import.meta.dir}/worker-process.ts`, place.dialect, where]
    children.add(Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' }))
  }
  await makeTable(place)
  await addJobs(store, count)
  for (let n = 0; n < workers; n++) begin()
  const ended = new Map<string, string>()
  try {
    let atLastKill = 0
    for (let dueAt = performance.now() + killEveryMs; ended.size < count; ) {
      await Bun.sleep(LOOK_EVERY_MS)
      report.problems.push(...(await look(store, ended)))
      if (performance.now() < dueAt || ended.size === count || ended.size < atLastKill + apart) continue
      atLastKill = ended.size
      const victim = [...children][random.between(0, children.size - 1)]!
      victim.kill('SIGKILL')
      await victim.exited
      children.delete(victim)
      report.kills += 1
      begin()
      dueAt = performance.now() + random.between(killEveryMs / 2, killEveryMs * 1.5)
    }
    report.problems.push(...(await look(store, ended)), ...(await checkEffects(store, count)))
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all([...children].map(({ exited }) => exited))
    await store.close()
  }
  return report
}

function openPlace(place: Place): Store {
  if (place.dialect === 'postgres') return openPostgres({ url: place.url, maxConnections: 2 })
  const onDiskFailure = (error: unknown) => {
    throw error
  }
  return openSqlite({ path: place.path, onDiskFailure, busyPatienceMs: 10_000 })
}

async function makeTable(place: Place): Promise<void> {
  const statement = 'CREATE TABLE job_effects (id text PRIMARY KEY, job_id text NOT NULL)'
  if (place.dialect === 'sqlite') {
    const database = new (await import('bun:sqlite')).Database(place.path)
    database.run(statement)
    database.close()
    return
  }
  const client = new Bun.SQL(place.url, { max: 1 })
  await client.unsafe(statement)
  await client.close()
}

async function addJobs(store: Store, count: number): Promise<void> {
  const onError = (name: string, error: unknown) => {
    throw new Error(name, { cause: error })
  }
  const { enqueue } = createJobs({ store, clock: systemClock, node: 'adds', leaseMs: LEASE_MS, onError })
  for (let from = 0; from < count; from += ADDED_AT_ONCE) {
    await store.write(async (tx) => {
      for (let n = from; n < Math.min(count, from + ADDED_AT_ONCE); n++) {
        await enqueue(tx, chaosKind, { owner: `user:${n % 10}`, payload: { n } })
      }
    })
  }
}

/** Notes the jobs that have ended; a job seen ended must be so at every later look. */
async function look(store: Store, ended: Map<string, string>): Promise<string[]> {
  const t = store.read.of(table)
  const rows = await store.read
    .select({ id: t.id, state: t.state, result: t.result, payload: t.payload })
    .from(t)
    .where(sql`${t.kind} = ${chaosKind.name}`)
  const problems: string[] = []
  for (const { id, state, ...rest } of rows) {
    const before = ended.get(id)
    if (before && before !== state) problems.push(`${id} was ${before} and is ${state}`)
    if (state === 'failed') problems.push(`${id} failed`)
    if (state === 'completed' && !Bun.deepEquals(rest.result, rest.payload)) problems.push(`${id} has another result`)
    if (state === 'completed' || state === 'failed') ended.set(id, state)
  }
  return problems
}

async function checkEffects(store: Store, count: number): Promise<string[]> {
  const t = store.read.of(effects)
  const rows = await store.read.select({ id: t.job_id }).from(t)
  const distinct = new Set(rows.map(({ id }) => id)).size
  const problems: string[] = []
  if (distinct !== count) problems.push(`${count - distinct} jobs had no effect`)
  if (rows.length !== distinct) problems.push(`${rows.length - distinct} effects were repeated`)
  return problems
}
