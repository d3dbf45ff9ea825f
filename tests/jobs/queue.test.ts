// Both databases: workers claim by its statements.
import { describe, expect, test } from 'bun:test'
import { GiveUp } from '../../src/jobs'
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
    const added = await Promise.all([add(), add(), add()])
    expect(added.filter((id) => id !== null)).toHaveLength(1)
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
      new AppError('unavailable', 'x', 'The engine is away.'),
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

describe('a queue that was stopped', () => {
  test('goes on when it is started again', async () => {
    const { jobs } = queue('one')
    const kind = kindOf({ run: async () => ({}) })
    jobs.register(kind)
    await jobs.start().stop()
    const id = await store.write((tx) => jobs.enqueue(tx, kind, mine))
    const loop = jobs.start()
    await eventually(async () => (await rowOf(id)).state === 'completed')
    await loop.stop()
  })
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
