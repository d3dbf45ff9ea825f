// Both databases: workers claim by its statements.
import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { GiveUp } from '../../src/jobs'
import { jobs as table } from '../../src/jobs/table'
import { AppError } from '../../src/kernel/errors'
import { eventually } from '../support/eventually'
import { createJobsWorld, kindOf } from './support'

const { store, queue, rowOf } = await createJobsWorld()
const mine = { owner: 'user:ada' as const, payload: null }

describe('a job', () => {
  test('runs after the commit that added it, once, and keeps its result', async () => {
    const { jobs } = queue('one')
    const seen: unknown[] = []
    const kind = kindOf<{ n: number }>({
      run: async ({ payload, attempt, owner }) => {
        seen.push({ ...payload, attempt, owner })
        return { result: { doubled: payload.n * 2 } }
      },
    })
    jobs.register(kind)
    const id = await store.write((tx) => jobs.enqueue(tx, kind, { owner: 'user:ada', payload: { n: 21 } }))
    expect(await jobs.runDue()).toBe(1)
    expect(await jobs.runDue()).toBe(0)
    expect(seen).toEqual([{ n: 21, attempt: 1, owner: 'user:ada' }])
    expect(await rowOf(id)).toMatchObject({ state: 'completed', progress: 100, result: { doubled: 42 }, error: null })
  })

  test('does not exist when the commit that added it fails', async () => {
    const { jobs } = queue('one')
    const kind = kindOf({ run: async () => ({}) })
    jobs.register(kind)
    const adding = store.write(async (tx) => {
      await jobs.enqueue(tx, kind, mine)
      throw new Error('no')
    })
    await expect(adding).rejects.toThrow('no')
    expect(await jobs.runDue()).toBe(0)
  })

  test('waits for its time', async () => {
    const { jobs, clock } = queue('one')
    const kind = kindOf({ run: async () => ({}) })
    jobs.register(kind)
    await store.write((tx) => jobs.enqueue(tx, kind, { ...mine, runAt: clock.now() + 5_000 }))
    clock.advance(4_999)
    expect(await jobs.runDue()).toBe(0)
    clock.advance(1)
    expect(await jobs.runDue()).toBe(1)
  })

  test('is the only open one with its unique key', async () => {
    const { jobs } = queue('one')
    const kind = kindOf({ run: async () => ({}) })
    jobs.register(kind)
    const add = () => store.write((tx) => jobs.enqueue(tx, kind, { ...mine, uniqueKey: 'k' }))
    expect((await Promise.all([add(), add(), add()])).filter((id) => id !== null)).toHaveLength(1)
    expect(await jobs.runDue()).toBe(1)
    expect(await add()).not.toBeNull()
    await jobs.runDue()
  })

  test('commits its effects with its end, or neither', async () => {
    const { jobs, clock } = queue('one')
    const other = kindOf({ run: async () => ({}) })
    let isBroken = true
    const kind = kindOf({
      run: async () => ({
        effects: async (tx) => {
          await jobs.enqueue(tx, other, mine)
          if (isBroken) throw new Error('half way')
        },
      }),
    })
    jobs.register(kind)
    jobs.register(other)
    const id = await store.write((tx) => jobs.enqueue(tx, kind, mine))
    expect(await jobs.runDue()).toBe(1)
    expect(await rowOf(id)).toMatchObject({ state: 'queued', attempts: 1 })
    isBroken = false
    clock.advance(1_000)
    expect(await jobs.runDue()).toBe(2)
  })

  test('of a kind that keeps nothing is gone with its end', async () => {
    const { jobs } = queue('one')
    const kind = kindOf({ keepMs: 0, run: async () => ({}) })
    jobs.register(kind)
    const id = await store.write((tx) => jobs.enqueue(tx, kind, mine))
    await jobs.runDue()
    expect(await rowOf(id)).toBeUndefined()
  })

  test('goes on later when it says so, with its attempts counted anew', async () => {
    const { jobs, clock } = queue('one')
    const attempts: number[] = []
    const kind = kindOf({
      run: async ({ attempt }) => {
        attempts.push(attempt)
        return attempts.length < 5 ? { again: { at: clock.now() + 10 } } : {}
      },
    })
    jobs.register(kind)
    const id = await store.write((tx) => jobs.enqueue(tx, kind, mine))
    for (let round = 0; round < 5; round++) {
      await jobs.runDue()
      clock.advance(10)
    }
    expect(attempts).toEqual([1, 1, 1, 1, 1])
    expect(await rowOf(id)).toMatchObject({ state: 'completed' })
  })
})

describe('a job that fails', () => {
  test.each([
    [
      'an error of ours keeps its sentence',
      new AppError('service_unavailable', 'The engine is away.'),
      'The engine is away.',
      0,
    ],
    ['an unexpected one is logged, and not told', new TypeError('secret'), 'An internal error ended it.', 3],
  ])('is tried three times: %s', async (_, error, stored, logged) => {
    const { jobs, clock, faults } = queue('one')
    const ended: string[] = []
    const kind = kindOf({
      run: async () => {
        throw error
      },
      onFailed: async (_tx, { owner }, why) => ended.push(`${owner} ${why}`),
    })
    jobs.register(kind)
    const id = await store.write((tx) => jobs.enqueue(tx, kind, mine))
    for (let tried = 1; tried <= 3; tried++) {
      expect(await jobs.runDue()).toBe(1)
      clock.advance(999)
      expect(await jobs.runDue()).toBe(0)
      clock.advance(1)
    }
    expect(await rowOf(id)).toMatchObject({ state: 'failed', attempts: 3, error: stored })
    expect(ended).toEqual([`user:ada ${stored}`])
    expect(faults).toHaveLength(logged)
  })

  test('is not tried again when it gives up', async () => {
    const { jobs } = queue('one')
    const kind = kindOf({
      run: async () => {
        throw new GiveUp('There is no source.')
      },
    })
    jobs.register(kind)
    const id = await store.write((tx) => jobs.enqueue(tx, kind, mine))
    await jobs.runDue()
    expect(await rowOf(id)).toMatchObject({ state: 'failed', attempts: 1, error: 'There is no source.' })
  })

  test('is ended when its time is up, also if it does not look at its signal', async () => {
    const { jobs, clock } = queue('one')
    const kind = kindOf({ timeLimitMs: 60_000, run: () => new Promise(() => undefined) })
    jobs.register(kind)
    const id = await store.write((tx) => jobs.enqueue(tx, kind, mine))
    const loop = await jobs.start()
    while ((await rowOf(id))?.state !== 'active') await Bun.sleep(1)
    // A claim is seen in the store before its run sets its alarm.
    while ((await rowOf(id))?.state !== 'failed') {
      clock.advance(60_000)
      await Bun.sleep(1)
    }
    await loop.stop()
    expect((await rowOf(id)).error).toBe('It took longer than 60 seconds.')
  })
})

test('a queue that was stopped goes on when it is started again', async () => {
  const { jobs } = queue('one')
  const kind = kindOf({ run: async () => ({}) })
  jobs.register(kind)
  await jobs.start().stop()
  const id = await store.write((tx) => jobs.enqueue(tx, kind, mine))
  const loop = jobs.start()
  await eventually(async () => (await rowOf(id)).state === 'completed')
  await loop.stop()
})

describe('cancelling', () => {
  test('ends a queued job, which never runs', async () => {
    const { jobs } = queue('one')
    const ended: string[] = []
    const kind = kindOf({ run: async () => ({}), onFailed: async (_tx, _job, why) => ended.push(why) })
    jobs.register(kind)
    const id = await store.write((tx) => jobs.enqueue(tx, kind, mine))
    const row = await rowOf(id)
    const both = [1, 2].map(() => store.write((tx) => jobs.cancel(tx, row)))
    expect((await Promise.all(both)).sort()).toEqual([false, true])
    expect(await jobs.runDue(kind.name)).toBe(0)
    expect(ended).toEqual(['cancelled'])
    expect(await rowOf(id)).toMatchObject({ state: 'failed', error: 'cancelled' })
  })

  test('aborts an active one, whose result is dropped', async () => {
    const { jobs } = queue('one')
    const begun = Promise.withResolvers<void>()
    const aborted = Promise.withResolvers<void>()
    const kind = kindOf({
      run: async ({ signal }) => {
        signal.addEventListener('abort', () => aborted.resolve())
        begun.resolve()
        await aborted.promise
        return { result: { is: 'late' } }
      },
    })
    jobs.register(kind)
    const id = await store.write((tx) => jobs.enqueue(tx, kind, mine))
    const running = jobs.runDue()
    await begun.promise
    const row = await rowOf(id)
    expect(await store.write((tx) => jobs.cancel(tx, row))).toBe(true)
    await aborted.promise
    await running
    expect(await rowOf(id)).toMatchObject({ state: 'failed', error: 'cancelled', result: null })
  })
})

const jobOf = (owner: string, n = 0) => ({ owner: `user:${owner}` as const, payload: { n } })

describe('the line', () => {
  test('takes turns between owners, in their own order', async () => {
    const { jobs } = queue('one')
    const order: string[] = []
    const kind = kindOf<{ n: number }>({
      concurrency: 1,
      run: async ({ owner, payload }) => {
        order.push(`${owner!.slice(5)}${payload.n}`)
        return {}
      },
    })
    jobs.register(kind)
    await store.write(async (tx) => {
      for (let n = 0; n < 50; n++) await jobs.enqueue(tx, kind, jobOf('ada', n))
      for (let n = 0; n < 3; n++) await jobs.enqueue(tx, kind, jobOf('eve', n))
    })
    await jobs.runDue()
    expect(order).toHaveLength(53)
    expect(order.filter((name) => name.startsWith('ada'))).toEqual(Array.from({ length: 50 }, (_, n) => `ada${n}`))
    expect(order.slice(0, 6).filter((name) => name.startsWith('eve'))).toEqual(['eve0', 'eve1', 'eve2'])
  })

  test('runs no more of a kind, and of one key, than it may', async () => {
    const { jobs } = queue('one')
    const now = new Map<string, number>()
    let max = 0
    let maxOfOne = 0
    const kind = kindOf<{ n: number }>({
      concurrency: 6,
      concurrencyPerKey: 2,
      run: async ({ owner }) => {
        now.set(owner!, (now.get(owner!) ?? 0) + 1)
        max = Math.max(
          max,
          now.values().reduce((sum, count) => sum + count, 0),
        )
        maxOfOne = Math.max(maxOfOne, ...now.values())
        for (let turn = 0; turn < 5; turn++) await Bun.sleep(0)
        now.set(owner!, now.get(owner!)! - 1)
        return {}
      },
    })
    jobs.register(kind)
    await store.write(async (tx) => {
      for (let n = 0; n < 10; n++) for (const who of ['a', 'b', 'c', 'd']) await jobs.enqueue(tx, kind, jobOf(who, n))
    })
    expect(await jobs.runDue()).toBe(40)
    expect({ max, mostOfOne: maxOfOne }).toEqual({ max: 6, mostOfOne: 2 })
  })

  test('lets the others through where one key has as many runs as it may', async () => {
    const { jobs } = queue('one')
    const stuck = Promise.withResolvers<void>()
    const done: string[] = []
    const kind = kindOf<{ n: number }>({
      concurrency: 4,
      concurrencyPerKey: 1,
      run: async ({ owner }) => {
        if (owner === 'user:dead') await stuck.promise
        done.push(owner!)
        return {}
      },
    })
    jobs.register(kind)
    await store.write(async (tx) => {
      for (let n = 0; n < 40; n++) await jobs.enqueue(tx, kind, jobOf('dead', n))
    })
    const loop = await jobs.start()
    await store.write((tx) => jobs.enqueue(tx, kind, jobOf('healthy')))
    while (!done.includes('user:healthy')) await Bun.sleep(1)
    expect(done).toEqual(['user:healthy'])
    stuck.resolve()
    while (done.length < 41) await Bun.sleep(1)
    await loop.stop()
  })

  test('leaves kinds that a process does not know to one that does', async () => {
    const [older, newer] = [queue('older'), queue('newer')]
    const kind = kindOf<{ n: number }>({ run: async () => ({ result: { by: 'newer' } }) })
    newer.jobs.register(kind)
    const id = await store.write((tx) => older.jobs.enqueue(tx, kind, jobOf('ada')))
    expect(await older.jobs.runDue()).toBe(0)
    expect(await newer.jobs.runDue()).toBe(1)
    expect(await rowOf(id)).toMatchObject({ state: 'completed' })
  })
})

describe('work that recurs', () => {
  test('runs at the start and then this long after each end, one at a time in all processes', async () => {
    const { clock } = queue('none')
    const [one, two] = [queue('one', { clock }), queue('two', { clock })]
    let runs = 0
    const kind = kindOf<null>({
      everyMs: 5_000,
      run: async () => {
        runs += 1
        return {}
      },
    })
    const loops = []
    for (const { jobs } of [one, two]) {
      jobs.register(kind)
      loops.push(await jobs.start())
    }
    while (runs < 1) await Bun.sleep(1)
    for (let round = 2; round <= 4; round++) {
      while (runs < round) {
        clock.advance(500)
        await Bun.sleep(1)
      }
    }
    await Promise.all(loops.map((loop) => loop.stop()))
    expect(await store.read.$count(store.read.of(table), eq(store.read.of(table).kind, kind.name))).toBe(1)
  })

  test('rests until something is due, where it knows when, and runs sooner when it is asked for', async () => {
    const { jobs, clock } = queue('one')
    const began = clock.now()
    const ran: number[] = []
    let due: number | null = null
    const kind = kindOf<null>({
      everyMs: 5_000,
      dueAt: async () => due,
      run: async () => {
        ran.push(clock.now() - began)
        return {}
      },
    })
    jobs.register(kind)
    const request = { owner: null, payload: null, uniqueKey: 'recurring' }
    const passes = async (ms: number) => {
      clock.advance(ms)
      await jobs.runDue(kind.name)
    }
    await store.write((tx) => jobs.enqueue(tx, kind, request))
    await passes(0)
    await passes(299_999)
    expect(ran).toEqual([0])
    due = began + 301_000
    await passes(1)
    // What is due sooner than that is not looked at more often than all other work that recurs.
    await passes(4_999)
    expect(ran).toEqual([0, 300_000])
    due = began + 400_000
    await passes(1)
    expect(ran).toEqual([0, 300_000, 305_000])
    await store.write((tx) => jobs.ensure(tx, kind, { ...request, runAt: began + 350_000 }))
    await passes(44_999)
    expect(ran).toHaveLength(3)
    await passes(1)
    await passes(50_000)
    expect(ran).toEqual([0, 300_000, 305_000, 350_000, 400_000])
  })

  test('goes on after a failure, later each time', async () => {
    const { jobs, clock, faults } = queue('one')
    let runs = 0
    const kind = kindOf<null>({
      everyMs: 1_000,
      run: async () => {
        runs += 1
        if (runs < 3) throw new Error('broken')
        return {}
      },
    })
    jobs.register(kind)
    await store.write((tx) => jobs.enqueue(tx, kind, { owner: null, payload: null, uniqueKey: 'recurring' }))
    await jobs.runDue()
    clock.advance(1_999)
    await jobs.runDue()
    expect(runs).toBe(1)
    clock.advance(1)
    await jobs.runDue()
    clock.advance(4_000)
    await jobs.runDue()
    expect(runs).toBe(3)
    expect(faults).toHaveLength(2)
    clock.advance(1_000)
    await jobs.runDue()
    expect(runs).toBe(4)
  })
})
