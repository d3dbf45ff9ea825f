import { afterAll, expect, test } from 'bun:test'
import { createJobs } from '../../src/jobs'
import { systemClock } from '../../src/kernel/clock'
import { openPostgres } from '../../src/kernel/store'
import { eventually } from '../support/eventually'
import { createMigratedDatabase, postgresUrl } from '../support/store'
import { freeKind, heldKind } from './held'
import { createJobsWorld, kindOf } from './support'

if (!postgresUrl)
  process.stdout.write('NOT RUN: pauses of other processes, because SVC_TEST_POSTGRES_URL is not set.\n')

const { store, queue, rowOf } = await createJobsWorld()

test('what one process pauses, none begins, and what runs goes on', async () => {
  const [one, two] = [queue('one'), queue('two')]
  const gate = Promise.withResolvers<void>()
  const kind = kindOf<{ n: number }>({
    shown: 'video',
    concurrency: 1,
    async run(job) {
      if (job.payload.n === 0) await gate.promise
      return {}
    },
  })
  for (const { jobs } of [one, two]) jobs.register(kind)
  const order = (n: number) => store.write((tx) => one.jobs.enqueue(tx, kind, { owner: 'user:ada', payload: { n } }))
  const first = await order(0)
  const running = two.jobs.runDue(kind.name)
  while ((await rowOf(first)).state !== 'active') await Bun.sleep(1)
  const second = await order(1)
  expect(await store.write((tx) => one.jobs.queues.pause(tx, 'video'))).toBe(true)
  expect(await store.write((tx) => two.jobs.queues.pause(tx, 'video'))).toBe(false)
  gate.resolve()
  await running
  expect(await one.jobs.runDue(kind.name)).toBe(0)
  expect((await rowOf(first)).state).toBe('completed')
  expect((await rowOf(second)).state).toBe('queued')
  const [shown] = await two.jobs.queues.all(store.read)
  expect(shown).toMatchObject({ type: 'video', queued: 1, active: 0, workers: 1, paused_at: one.clock.now() })
  expect(await store.write((tx) => two.jobs.queues.resume(tx, 'video'))).toBe(true)
  expect(await one.jobs.runDue(kind.name)).toBe(1)
  expect((await one.jobs.stepsOf(store.read, second!)).map(({ what, detail }) => [what, detail])).toEqual([
    ['begun', 'one'],
  ])
})

test.skipIf(!postgresUrl)('two processes on one Postgres heed what a third one pauses and resumes', async () => {
  const database = await createMigratedDatabase(postgresUrl!)
  const shared = openPostgres({ url: database.url, maxConnections: 2 })
  const command = [process.execPath, `${import.meta.dir}/worker-process.ts`, 'postgres', database.url]
  const workers = [1, 2].map(() => Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' }))
  afterAll(async () => {
    for (const worker of workers) worker.kill('SIGKILL')
    await Promise.all(workers.map(({ exited }) => exited))
    await shared.close()
    await database.drop()
  })
  const onError = (name: string, error: unknown) => {
    throw new Error(name, { cause: error })
  }
  const jobs = createJobs({ store: shared, clock: systemClock, node: 'operator', leaseMs: 30_000, onError })
  for (const kind of [heldKind, freeKind]) jobs.register(kind)
  const order = async (kind: typeof heldKind) =>
    (await shared.write((tx) => jobs.enqueue(tx, kind, { owner: 'user:ada', payload: {} })))!
  const begunBy = async (id: Awaited<ReturnType<typeof order>>) =>
    (await jobs.stepsOf(shared.read, id)).find(({ what }) => what === 'begun')?.detail

  expect(await shared.write((tx) => jobs.queues.pause(tx, 'video'))).toBe(true)
  const held = await Promise.all([1, 2, 3, 4].map(() => order(heldKind)))
  // Each of them has looked for work since, and left what is paused.
  const heard = new Set<string>()
  const askOnce = async () => {
    const id = await order(freeKind)
    heard.add((await eventually(() => begunBy(id)))!)
    return heard.size
  }
  await eventually(askOnce, (processes) => processes === 2)
  expect(await Promise.all(held.map(begunBy))).toEqual(held.map(() => undefined))

  expect(await shared.write((tx) => jobs.queues.resume(tx, 'video'))).toBe(true)
  await eventually(
    () => Promise.all(held.map(begunBy)),
    (nodes) => nodes.every((node) => node?.startsWith('worker ')),
  )
})
