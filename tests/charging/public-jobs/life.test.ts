import { describe, expect, test } from 'bun:test'
import { GiveUp } from '../../../src/jobs'
import { fakeClock } from '../../support/clock'
import { createWorld } from '../../support/world'
import { jobsIn, kindOf, report } from './support'

const clock = fakeClock('2026-05-01T12:00:00.000Z')
const world = await createWorld({ clock })
const { accept, define, get, run, notify: notices, verify, walletOf } = jobsIn(world)

describe('a job (docs/api.md 7)', () => {
  test('is queued with its credit held, and completed with its result, charged once', async () => {
    const ada = await world.person({ cents: 100 })
    const kind = define(kindOf(report))
    const id = await accept(ada, kind)
    const queued = { id, type: 'research', status: 'queued', progress: 0, stage: null, attempts: 0, result: null }
    const rest = { result_data: null, error: null, usage: { cost_cents: 0 } }
    const times = { created_at: '2026-05-01T12:00:00.000Z', started_at: null, completed_at: null }
    const { request_id, ...body } = await get(ada, id)
    const { job, ...flat } = body
    expect(flat).toEqual({ ...queued, ...rest, ...times })
    expect(job).toEqual(flat)
    expect(request_id).toStartWith('req_')
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 10 })

    clock.advance(5_000)
    await run(kind)
    expect(await get(ada, id)).toMatchObject({
      status: 'completed',
      progress: 100,
      result: '# Tides [1]',
      result_data: { title: 'Tides' },
      error: null,
      usage: { cost_cents: 3 },
      started_at: '2026-05-01T12:00:05.000Z',
      completed_at: '2026-05-01T12:00:05.000Z',
    })
    expect(await walletOf(ada)).toEqual({ cents: 97, held: 0 })
    expect(notices.filter(({ data }) => data.job_id === id)).toMatchObject([
      {
        type: 'job.completed',
        scope: `user:${ada.userId}`,
        data: { type: 'research', status: 'completed', result: '# Tides [1]', error: null, usage: { cost_cents: 3 } },
      },
    ])
    const events = (await ada.send('GET', `audit?entity_id=${id}`)).body
    expect(events).toMatchObject([{ action: 'job.completed', entityType: 'job', outputSummary: { cost_cents: 3 } }])
    expect(await verify()).toEqual([])
  })

  test('is charged no more than was held', async () => {
    const ada = await world.person({ cents: 100 })
    const kind = define(kindOf(report))
    const id = await accept(ada, kind, { cents: 2 })
    await run(kind)
    expect((await get(ada, id)).usage).toEqual({ cost_cents: 2 })
    expect(await walletOf(ada)).toEqual({ cents: 98, held: 0 })
  })

  test('that is free holds nothing', async () => {
    const ada = await world.person({ cents: 0 })
    const kind = define(kindOf(report))
    const id = await accept(ada, kind, { cents: 0 })
    await run(kind)
    expect(await get(ada, id)).toMatchObject({ status: 'completed', usage: { cost_cents: 0 } })
  })

  test('fails after two tries: released, told, and never seen to go back', async () => {
    const ada = await world.person({ cents: 100 })
    let tries = 0
    const kind = define(
      kindOf(async (job) => {
        tries += 1
        job.progress(tries === 1 ? 60 : 10, 'reading')
        throw new Error('the engine went away')
      }),
    )
    const id = await accept(ada, kind)
    await run(kind)
    // Between its tries it waits, and callers see that it has begun.
    expect(await get(ada, id)).toMatchObject({ status: 'active', attempts: 1 })
    expect((await ada.send('GET', 'jobs?status=active')).body.jobs).toHaveLength(1)
    expect((await ada.send('GET', 'jobs?status=queued')).body.jobs).toEqual([])
    clock.advance(1_000)
    await run(kind)
    expect(await get(ada, id)).toMatchObject({
      status: 'failed',
      error: 'An internal error ended it.',
      result: null,
      usage: { cost_cents: 0 },
    })
    expect(tries).toBe(2)
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 0 })
    expect(notices.filter(({ data }) => data.job_id === id).map(({ type }) => type)).toEqual(['job.failed'])
    expect((await ada.send('GET', `audit?entity_id=${id}`)).body).toMatchObject([{ action: 'job.failed' }])
    expect(await verify()).toEqual([])
  })

  test('that gives up says why', async () => {
    const ada = await world.person()
    const kind = define(
      kindOf(async () => {
        throw new GiveUp('There is no source. Set SVC_SEARCH_DRIVER.')
      }),
    )
    const id = await accept(ada, kind)
    await run(kind)
    expect((await get(ada, id)).error).toBe('There is no source. Set SVC_SEARCH_DRIVER.')
  })

  test('never loses progress, also when it goes on at a later time', async () => {
    const ada = await world.person()
    const { jobs } = world.app.container
    const kind = { ...kindOf(report), run: async () => ({ again: { at: clock.now() + 10_000 } }) }
    jobs.register(kind)
    const { store } = world.app
    const owner = `user:${ada.userId}` as const
    const id = (await store.write((tx) => jobs.enqueue(tx, kind, { owner, payload: {} })))!
    const { jobs: table } = await import('../../../src/jobs/table')
    await store.write((tx) => tx.update(tx.of(table)).set({ progress: 40 }))
    await jobs.runDue(kind.name)
    expect(await get(ada, id)).toMatchObject({ status: 'active', progress: 40 })
  })

  test('without the credit is refused, and not stored', async () => {
    const poor = await world.person({ cents: 5 })
    const kind = define(kindOf(report))
    const refusal = await accept(poor, kind).catch((error) => error)
    expect(refusal).toMatchObject({ kind: 'unpaid', code: 'insufficient_credits' })
    expect((await poor.send('GET', 'jobs')).body.jobs).toEqual([])
    expect(await walletOf(poor)).toEqual({ cents: 5, held: 0 })
  })

  test('waits a day of serving time at most: an outage does not count', async () => {
    const lone = await createWorld({ clock: fakeClock() })
    const here = jobsIn(lone)
    const time = lone.clock as typeof clock
    const eve = await lone.person({ cents: 100 })
    const kind = kindOf(report)
    const step = async (ms: number) => {
      time.advance(ms)
      await lone.app.container.jobs.runDue('jobs.queue-timeout')
    }
    const recurring = { name: 'jobs.queue-timeout' }
    await lone.app.store.write((tx) =>
      lone.app.container.jobs.enqueue(tx, recurring, { owner: null, payload: null, uniqueKey: 'recurring' }),
    )
    await step(0)
    const id = await here.accept(eve, kind)
    for (let at = 0; at < 285; at += 1) await step(300_000)
    await step(3 * 86_400_000)
    expect((await here.get(eve, id)).status).toBe('queued')
    await step(300_000)
    expect(await here.get(eve, id)).toMatchObject({ status: 'failed', error: 'queue timeout' })
  }, 60_000)
})
