import { expect, test } from 'bun:test'
import { createJobsWorld, kindOf } from './support'

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
  expect([(await rowOf(first)).state, (await rowOf(second)).state]).toEqual(['completed', 'queued'])
  const [shown] = await two.jobs.queues.all(store.read)
  expect(shown).toMatchObject({ type: 'video', queued: 1, active: 0, workers: 1, paused_at: one.clock.now() })
  expect(await store.write((tx) => two.jobs.queues.resume(tx, 'video'))).toBe(true)
  expect(await one.jobs.runDue(kind.name)).toBe(1)
  expect((await one.jobs.stepsOf(store.read, second!)).map(({ what, detail }) => [what, detail])).toEqual([
    ['begun', 'one'],
  ])
})
