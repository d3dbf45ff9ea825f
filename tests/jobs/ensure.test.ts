// Both databases: workers claim by its statements.
import { describe, expect, test } from 'bun:test'
import type { Outcome, Running } from '../../src/jobs'
import { createJobsWorld, kindOf } from './support'

const { store, queue, rowOf } = await createJobsWorld()

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

describe('a job that is asked for', () => {
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
