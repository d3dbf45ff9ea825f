// Both databases: workers claim by its statements.
import { describe, expect, test } from 'bun:test'
import type { Outcome, Running } from '../../src/jobs'
import { postgresUrl } from '../support/store'
import { createJobsWorld, kindOf } from './support'

const { store, queue, rowOf } = await createJobsWorld()
const mine = { owner: 'user:ada' as const, payload: null }
const LEASE_MS = 30_000

if (!postgresUrl)
  process.stdout.write(
    'NOT RUN: a lease that is renewed and units that wait for each other, because SQLite has one process that writes.\n',
  )

/** A run that ends when it is told to. */
function held() {
  const begun = Promise.withResolvers<void>()
  const ending = Promise.withResolvers<{ result: object }>()
  const run = () => {
    begun.resolve()
    return ending.promise
  }
  return { begun, ending, run }
}

describe('a worker that stalls', () => {
  test('is overtaken when its lease ends, and what it does afterwards has no effect', async () => {
    const [one, two] = [queue('one'), queue('two')]
    const stalled = held()
    const effects: string[] = []
    const name = `stalls.${Date.now()}`
    const kind = (node: string, run: () => Promise<{ result: object }>) =>
      kindOf({
        name,
        run: async (job) => {
          const { result } = await run()
          return { result, effects: async () => void effects.push(`${node} ${job.attempt}`) }
        },
      })
    const slow = kind('one', stalled.run)
    one.jobs.register(slow)
    two.jobs.register(kind('two', async () => ({ result: { by: 'two' } })))
    const id = await store.write((tx) => one.jobs.enqueue(tx, slow, mine))
    const first = one.jobs.runDue()
    await stalled.begun.promise
    two.clock.advance(LEASE_MS)
    await two.jobs.runDue()
    expect(await rowOf(id)).toMatchObject({ state: 'completed', result: { by: 'two' }, attempts: 2, node: 'two' })
    stalled.ending.resolve({ result: { by: 'one' } })
    await first
    expect(await rowOf(id)).toMatchObject({ state: 'completed', result: { by: 'two' } })
    expect(effects).toEqual(['two 2'])
  })

  test.if(postgresUrl !== undefined)(
    'keeps its job while it renews its lease (on SQLite there is no second process)',
    async () => {
      const [one, two] = [queue('one'), queue('two')]
      const slow = held()
      const kind = kindOf({ run: slow.run })
      one.jobs.register(kind)
      two.jobs.register(kind)
      const id = await store.write((tx) => one.jobs.enqueue(tx, kind, mine))
      const loop = await one.jobs.start()
      await slow.begun.promise
      for (let ms = 0; ms < 4 * LEASE_MS; ms += 1_000) {
        one.clock.advance(1_000)
        two.clock.advance(1_000)
        await untilRenewed(id, one.clock.now())
        await two.jobs.runDue()
      }
      slow.ending.resolve({ result: { by: 'one' } })
      while ((await rowOf(id)).state !== 'completed') await Bun.sleep(1)
      await loop.stop()
      expect(await rowOf(id)).toMatchObject({ node: 'one', attempts: 1 })
    },
  )

  /** Leases of more than half their length are as good as renewed. */
  async function untilRenewed(id: string | null, now: number): Promise<void> {
    while (((await rowOf(id)).lease_until ?? 0) < now + LEASE_MS / 2) await Bun.sleep(1)
  }
})

describe('a worker that dies', () => {
  test('loses its jobs to the next one, which counts the attempt', async () => {
    const [one, two] = [queue('one'), queue('two')]
    const { begun, run } = held()
    const name = `dies.${Date.now()}`
    const dying = kindOf({ name, run })
    one.jobs.register(dying)
    two.jobs.register(kindOf({ name, run: async ({ attempt }) => ({ result: { attempt } }) }))
    const id = await store.write((tx) => one.jobs.enqueue(tx, dying, mine))
    void one.jobs.runDue()
    await begun.promise
    two.clock.advance(LEASE_MS)
    await two.jobs.runDue()
    expect(await rowOf(id)).toMatchObject({ state: 'completed', result: { attempt: 2 } })
  })

  test('of the same job again and again fails it; others proceed (S5)', async () => {
    const name = `poison.${Date.now()}`
    const ended: string[] = []
    let clock = queue('first').clock
    const ids: (string | null)[] = []
    for (let life = 1; life <= 4; life++) {
      const { jobs, clock: own } = queue(`life ${life}`, { clock })
      clock = own
      const { begun, run } = held()
      const poison = kindOf({ name, run, onFailed: async (_tx, _job, why) => ended.push(why) })
      jobs.register(poison)
      if (life === 1) ids.push(await store.write((tx) => jobs.enqueue(tx, poison, mine)))
      clock.advance(LEASE_MS)
      const due = jobs.runDue()
      if (life <= 3) await begun.promise
      else await due
    }
    expect(await rowOf(ids[0]!)).toMatchObject({ state: 'failed', attempts: 3 })
    expect(ended).toEqual(['The process that ran the job ended unexpectedly, 3 times.'])
  })
})

test('a server that stops gives its jobs back, and the attempt with them', async () => {
  const [one, two] = [queue('one'), queue('two')]
  const begun = Promise.withResolvers<void>()
  const name = `stops.${Date.now()}`
  const patient = kindOf({
    name,
    run: async ({ signal }) => {
      begun.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      throw signal.reason
    },
  })
  one.jobs.register(patient)
  two.jobs.register(kindOf({ name, run: async ({ attempt }) => ({ result: { attempt } }) }))
  const id = await store.write((tx) => one.jobs.enqueue(tx, patient, mine))
  const loop = await one.jobs.start()
  await begun.promise
  await loop.stop()
  expect(await rowOf(id)).toMatchObject({ state: 'queued', attempts: 0 })
  await two.jobs.runDue()
  expect(await rowOf(id)).toMatchObject({ state: 'completed', result: { attempt: 1 } })
})

/** A kind without retries left to chance; `run` says what it did. */
function world(run: (job: Running<null>) => Promise<Outcome<null>>) {
  const { jobs, clock, faults } = queue('one')
  const kind = kindOf<null>({ run, keepMs: 0 })
  jobs.register(kind)
  const ask = (runAt?: number) =>
    store.write((tx) =>
      jobs.ensure(tx, kind, { owner: 'user:ada', payload: null, uniqueKey: 'k', ...(runAt ? { runAt } : {}) }),
    )
  return { jobs, kind, clock, faults, ask, due: () => jobs.runDue(kind.name) }
}

describe('a requested job', () => {
  test('is there once, however often it is asked for', async () => {
    let runs = 0
    const { ask, due } = world(async () => {
      runs += 1
      return {}
    })
    for (const _ of [1, 2, 3]) await ask()
    await due()
    expect(runs).toBe(1)
    await ask()
    await due()
    expect(runs).toBe(2)
  })

  test('runs at the soonest time that was asked for', async () => {
    const at: number[] = []
    const { ask, due, clock } = world(async () => {
      at.push(clock.now())
      return {}
    })
    const start = clock.now()
    await ask(start + 60_000)
    await ask(start + 10_000)
    await ask(start + 90_000)
    await due()
    expect(at).toEqual([])
    clock.advance(10_000)
    await due()
    expect(at).toEqual([start + 10_000])
  })

  test('runs again when it is asked for while it runs, also when it had planned to run later', async () => {
    for (const again of [undefined, 3_600_000]) {
      let runs = 0
      const { ask, due, clock } = world(async () => {
        runs += 1
        if (runs === 1) await ask()
        return again && runs === 1 ? { again: { at: clock.now() + again } } : {}
      })
      await ask()
      await due()
      expect(runs).toBe(2)
    }
  })

  // Postgres only: SQLite has one writer at a time.
  test.skipIf(store.dialect === 'sqlite')('waits for none of those who ask, and sees what each commits', async () => {
    const seen: number[] = []
    let committed = 0
    const { ask, due, faults, jobs, kind } = world(async () => {
      seen.push(committed)
      return {}
    })
    await ask()
    // Two that ask hold their units open, so that one always does.
    const units = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const open = units.map(({ promise }) => {
      const request = Promise.withResolvers<void>()
      const done = store.write(async (tx) => {
        await jobs.ensure(tx, kind, { owner: 'user:ada', payload: null, uniqueKey: 'k' })
        request.resolve()
        await promise
      })
      return { asked: request.promise, done }
    })
    await Promise.all(open.map(({ asked: request }) => request))
    await due()
    expect(seen).toEqual([0])
    for (const [n, { resolve }] of units.entries()) {
      resolve()
      await open[n]!.done
      committed += 1
      await due()
    }
    expect({ seen, faults }).toEqual({ seen: [0, 1, 2], faults: [] })
  })

  test('forgets that it was asked for once it runs again', async () => {
    let runs = 0
    const { jobs, clock } = queue('one')
    const kind = kindOf<null>({
      run: async () => {
        runs += 1
        return runs === 1 ? { again: { at: clock.now() + 5_000 } } : {}
      },
    })
    jobs.register(kind)
    const id = await store.write((tx) => jobs.enqueue(tx, kind, { owner: null, payload: null, uniqueKey: 'one' }))
    await jobs.runDue(kind.name)
    expect(await rowOf(id)).toMatchObject({ state: 'queued', again_at: null })
    clock.advance(5_000)
    await jobs.runDue(kind.name)
    expect({ runs, state: (await rowOf(id)).state }).toEqual({ runs: 2, state: 'completed' })
  })
})
