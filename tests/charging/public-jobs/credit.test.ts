import { describe, expect, test } from 'bun:test'
import { createAccountLimits, createBalanceWatch, createBilling, releaseAbandonedBatch } from '../../../src/billing'
import { createPublicJobs } from '../../../src/charging'
import { createJobs } from '../../../src/jobs'
import { storageUnavailable } from '../../../src/kernel/errors'
import type { Store, Tx } from '../../../src/kernel/store'
import { noise, PIXEL } from '../../files/support'
import { fakeClock } from '../../support/clock'
import { postgresUrl } from '../../support/store'
import { createWorld, operatorCall, type World } from '../../support/world'
import { CENT, jobsIn, kindOf, report } from './support'

const clock = fakeClock()
const world = await createWorld({ clock })
const { accept, define, get, run, verify, walletOf } = jobsIn(world)

/** Another process on the same store, with a clock of its own. */
function processOn({ app, clock: shared }: World, node: string, served = true) {
  const { store, container } = app
  const own = fakeClock(new Date(shared.now()).toISOString())
  const { audit, events, files } = container
  const jobs = createJobs({ store, clock: own, node, leaseMs: 30_000, onError: () => undefined })
  const limits = createAccountLimits(store)
  const watch = createBalanceWatch({ limits, events })
  const billing = createBilling({ store, clock: own, audit, limits, watch, jobs, node })
  return {
    clock: own,
    jobs,
    publicJobs: createPublicJobs({ store, clock: own, jobs, audit, events, files, billing, isServed: () => served }),
  }
}

describe('what a job holds (I8, I9)', () => {
  test('lasts as long as the job waits, over restarts and dead nodes', async () => {
    const ada = await world.person({ cents: 100 })
    const kind = define(kindOf(report))
    const id = await accept(ada, kind)
    clock.advance(3 * 86_400_000)
    const { store, container } = world.app
    const { billing, audit } = container
    expect(await billing.releaseAbandoned()).toBe(0)
    const other = { store, clock, audit, node: 'another', release: billing.release }
    expect(await releaseAbandonedBatch(other)).toBe(0)
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 10 })
    await run(kind)
    expect((await get(ada, id)).status).toBe('completed')
    expect(await walletOf(ada)).toEqual({ cents: 97, held: 0 })
  })

  test('counts against the caps of its key until it ends', async () => {
    const ada = await world.person({ cents: 1_000 })
    const call = world.callAs(ada)
    const capped = { ...call, caller: { ...call.caller, dailyCapCents: 15 } } as typeof call
    const kind = define(kindOf(report))
    await accept(ada, kind, { call: capped })
    const second = await accept(ada, kind, { call: capped }).catch((error) => error)
    expect(second).toMatchObject({ code: 'insufficient_credits' })
    await run(kind)
    await accept(ada, kind, { call: capped })
    await run(kind)
    expect(await walletOf(ada)).toEqual({ cents: 994, held: 0 })
  })

  test('is settled once when the job is taken over from a process that stalls', async () => {
    const ada = await world.person({ cents: 100 })
    const stalled = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const name = 'test.stalls'
    const kind = define({
      ...kindOf(async () => {
        begun.resolve()
        await stalled.promise
        return report()
      }),
      name,
    })
    const two = processOn(world, 'two')
    two.publicJobs.define({ ...kind, run: report })
    const id = await accept(ada, kind)
    const first = run(kind)
    await begun.promise
    two.clock.advance(30_000)
    await two.jobs.runDue(name)
    expect(await get(ada, id)).toMatchObject({ status: 'completed', attempts: 2, usage: { cost_cents: 3 } })
    stalled.resolve()
    await first
    expect(await walletOf(ada)).toEqual({ cents: 97, held: 0 })
    expect(await verify()).toEqual([])
  })

  test('is settled for exactly those that completed, of several owners (I15)', async () => {
    const people = await Promise.all([1, 2, 3].map(() => world.person({ cents: 1_000 })))
    let runs = 0
    // On SQLite one process works at a time.
    const two = postgresUrl === undefined ? null : processOn(world, 'second')
    const kind = define(
      kindOf(async ({ payload: { n }, attempt }) => {
        runs += 1
        if (n % 5 === 0 && attempt === 1) throw new Error('once')
        if (n % 7 === 0) throw new Error('always')
        return report()
      }),
    )
    two?.publicJobs.define(kind)
    const ids = await Promise.all(
      people.flatMap((person) => Array.from({ length: 40 }, (_, n) => accept(person, kind, { cents: 5, n }))),
    )
    expect(ids).toHaveLength(120)
    await Promise.all([run(kind), two?.jobs.runDue(kind.name)])
    clock.advance(2_000)
    two?.clock.advance(2_000)
    await Promise.all([run(kind), two?.jobs.runDue(kind.name)])
    for (const person of people) {
      const page = (await person.send('GET', 'jobs?limit=100')).body.jobs as { status: string }[]
      const completed = page.filter(({ status }) => status === 'completed').length
      expect(completed).toBe(34)
      expect(page.filter(({ status }) => status === 'failed')).toHaveLength(6)
      expect(await walletOf(person)).toEqual({ cents: 1_000 - 3 * completed, held: 0 })
    }
    expect(runs).toBeGreaterThan(120)
    expect(await verify()).toEqual([])
  })

  test('of an organization that is deleted is drained with its jobs; the ledger stays (S13)', async () => {
    const ada = await world.person({ cents: 100, ofOrg: true })
    const { store, container } = world.app
    const call = world.callAs(ada)
    const ofOrg = { ...call, caller: { ...call.caller, orgId: ada.orgId, activeOrgId: ada.orgId } } as typeof call
    const [kind, waits] = [define(kindOf(report)), define(kindOf(report))]
    const [first, second] = [await accept(ada, kind, { call: ofOrg }), await accept(ada, waits, { call: ofOrg })]
    expect((await (await world.signedIn(ada)).send('DELETE', `orgs/${ada.orgId}`)).status).toBe(200)
    await run(kind)
    const job = (id: string) => container.publicJobs.get(operatorCall(), id)
    expect((await job(first)).status).toBe('completed')
    expect(await container.publicJobs.cancel(operatorCall(), second)).toMatchObject({ error: 'cancelled' })
    const { balance, held } = await container.billing.balance(store.read, `org:${ada.orgId}`)
    expect({ balance: balance / CENT, held }).toEqual({ balance: 97, held: 0 })
    expect(await verify()).toEqual([])
  })

  test('that stays after its job is found', async () => {
    const lone = await createWorld()
    const ada = await lone.person({ cents: 100 })
    const here = jobsIn(lone)
    await here.accept(ada, kindOf(report))
    const { jobs: table } = await import('../../../src/jobs/table')
    await lone.app.store.write((tx) => tx.delete(tx.of(table)))
    expect((await here.verify()).join()).toContain('is still open, but its job has ended')
  })
})

describe('a queue that keeps nothing (I16)', () => {
  test('as where no process runs jobs: refused with 503 and Retry-After, and nothing is held', async () => {
    const ada = await world.person({ cents: 100 })
    const { publicJobs } = processOn(world, 'alone', false)
    const input = { input: { n: 1 }, hold: CENT, answer: () => ({}) }
    const refused = await publicJobs.accept(world.callAs(ada), kindOf(report), input).catch((error) => error)
    expect(refused).toMatchObject({ kind: 'unavailable', code: 'queue_unavailable', retryAfterS: 5 })
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 0 })
    expect((await ada.send('GET', 'jobs')).body.jobs).toEqual([])
  })

  test('refuses with 503 and Retry-After; what was accepted is there, and nothing else is held', async () => {
    const lone = await createWorld({ clock: fakeClock() })
    const here = jobsIn(lone)
    const ada = await lone.person({ cents: 10_000 })
    const kind = here.define(kindOf(report))
    const { store } = lone.app
    const { write } = store
    let turn = 0
    // Every other commit fails: before its unit ran, or after.
    const failing: Store['write'] = <T>(unit: (tx: Tx) => Promise<T>) => {
      turn += 1
      if (turn % 4 === 0) return Promise.reject(storageUnavailable())
      if (turn % 2) return write(unit)
      return write(async (tx) => {
        await unit(tx)
        throw storageUnavailable()
      })
    }
    Object.assign(store, { write: failing })
    const tries = await Promise.allSettled(Array.from({ length: 100 }, () => here.accept(ada, kind, { cents: 5 })))
    Object.assign(store, { write })
    const accepted = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const refused = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect({ accepted: accepted.length, refused: refused.length }).toEqual({ accepted: 50, refused: 50 })
    for (const error of refused) {
      expect(error).toMatchObject({ kind: 'unavailable', code: 'queue_unavailable' })
      expect(error.retryAfterS).toBeGreaterThan(0)
    }
    const stored = (await ada.send('GET', 'jobs?limit=100')).body.jobs.map(({ id }: { id: string }) => id)
    expect(stored.sort()).toEqual([...accepted].sort())
    expect(await here.walletOf(ada)).toEqual({ cents: 10_000, held: 250 })
    await here.run(kind)
    expect(await here.walletOf(ada)).toEqual({ cents: 10_000 - 150, held: 0 })
    expect(await here.verify()).toEqual([])
  })
})

const { files, jobs } = world.app.container
const research = define(kindOf(report))

describe('the list (docs/api.md 7)', () => {
  test('is newest first, in pages, by type and status', async () => {
    const ada = await world.person({ cents: 10_000 })
    const video = define(kindOf(report, { shown: 'video' }))
    const ids: string[] = []
    for (const kind of [research, video, research, video, research]) {
      clock.advance(1_000)
      ids.unshift(await accept(ada, kind))
    }
    const idsOf = (body: { jobs: { id: string }[] }) => body.jobs.map(({ id }) => id)
    const first = (await ada.send('GET', 'jobs?limit=3')).body
    expect(idsOf(first)).toEqual(ids.slice(0, 3))
    expect(first.has_more).toBe(true)
    const second = (await ada.send('GET', `jobs?limit=3&cursor=${first.next_cursor}`)).body
    expect(idsOf(second)).toEqual(ids.slice(3))
    expect({ hasMore: second.has_more, nextCursor: second.next_cursor }).toEqual({ hasMore: false, nextCursor: null })
    expect(idsOf((await ada.send('GET', 'jobs?type=video')).body)).toEqual([ids[1]!, ids[3]!])
    await run(video)
    expect(idsOf((await ada.send('GET', 'jobs?status=completed')).body)).toEqual([ids[1]!, ids[3]!])
    expect(idsOf((await ada.send('GET', 'jobs?status=queued&type=research')).body)).toEqual([ids[0]!, ids[2]!, ids[4]!])
    for (const query of ['status=done', 'type=poem', 'limit=0', 'limit=101', 'cursor=x'])
      expect((await ada.send('GET', `jobs?${query}`)).body.error.code).toBe('validation_error')
  })

  test('has nothing of others, and no work of the server itself', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const owner = `user:${ada.userId}` as const
    const id = await world.app.store.write((tx) => jobs.enqueue(tx, { name: 'test.secret' }, { owner, payload: {} }))
    const own = await accept(eve, research)
    expect((await ada.send('GET', 'jobs')).body.jobs).toEqual([])
    for (const [who, what] of [
      [ada, id],
      [ada, own],
    ] as const) {
      expect((await who.send('GET', `jobs/${what}`)).status).toBe(404)
      expect((await who.send('POST', `jobs/${what}/cancel`)).status).toBe(404)
    }
    expect((await eve.send('GET', `jobs/${own}`)).body.status).toBe('queued')
  })

  test.each(['x', '%00', '%2e%2e%2f', `res_${'x'.repeat(10_240)}`, 'job_'])(
    'answers no id number %# (S1)',
    async (id) => {
      const ada = await world.person()
      expect([400, 404]).toContain((await ada.send('GET', `jobs/${id}`)).status)
      expect([400, 404]).toContain((await ada.send('POST', `jobs/${id}/cancel`)).status)
    },
  )

  test('polled too often is 429 with Retry-After, and the job goes on (S2)', async () => {
    const ada = await world.person({ tier: 'free' })
    const id = await accept(ada, research)
    const polls = await Promise.all(Array.from({ length: 100 }, () => ada.send('GET', `jobs/${id}`)))
    const refused = polls.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(40)
    expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(0)
    await run(research)
    clock.advance(60_000)
    expect((await get(ada, id)).status).toBe('completed')
  })
})

describe('a result that is a file', () => {
  const about = { type: 'video', filename: 'clip.mp4', engine: 'svc-vision', model: 'svc-1-motion' } as const
  const clip = define(
    kindOf(
      async () => ({
        file: {
          draft: await files.receive(PIXEL, 'image/png'),
          about: { ...about, width: 1_280, height: 720, durationSeconds: 5 },
        },
        cost: 5 * CENT,
      }),
      { shown: 'video' },
    ),
  )

  test('is its address, signed on each read, and none once it is deleted', async () => {
    const ada = await world.person()
    const id = await accept(ada, clip)
    await run(clip)
    const first = await get(ada, id)
    expect(first.result).toBe(first.result_data.url)
    expect(first.result_data).toMatchObject({ duration_seconds: 5, width: 1_280, height: 720, mime_type: 'image/png' })
    clock.advance(4_000_000)
    const second = await get(ada, id)
    expect(second.result).not.toBe(first.result)
    const { pathname, search } = new URL(second.result)
    expect((await world.send('GET', pathname + search)).status).toBe(200)
    expect((await ada.send('DELETE', `artifacts/${first.result_data.artifact_id}`)).status).toBe(200)
    expect(await get(ada, id)).toMatchObject({ status: 'completed', result: null, result_data: { url: null } })
    expect(await files.verify(world.app.store.read)).toEqual([])
  })

  test('stands for one of more than a megabyte (S4)', async () => {
    const ada = await world.person()
    const text = noise(3_000_000).toString('base64')
    const long = define(kindOf(async () => ({ text, data: { title: 'Long' }, cost: CENT })))
    const id = await accept(ada, long)
    await run(long)
    const job = await ada.send('GET', `jobs/${id}`)
    expect(job.text.length).toBeLessThan(10_000)
    const { pathname, search } = new URL(job.body.result)
    expect((await world.send('GET', pathname + search)).body).toEqual({ result: text, result_data: { title: 'Long' } })
  })

  test('that its owner has no room for fails the job, and costs nothing', async () => {
    const small = await createWorld({ config: { filesOwnerCount: 1 } })
    const here = jobsIn(small)
    const ada = await small.person({ cents: 100 })
    const kind = here.define(
      kindOf(
        async () => ({
          file: { draft: await small.app.container.files.receive(PIXEL, 'image/png'), about },
          cost: 5 * CENT,
        }),
        { retry: { attempts: 1, delayMs: () => 0 } },
      ),
    )
    const ids = [await here.accept(ada, kind), await here.accept(ada, kind)]
    await here.run(kind)
    const ended = await Promise.all(ids.map((id) => here.get(ada, id)))
    expect(ended.map(({ status }) => status).sort()).toEqual(['completed', 'failed'])
    expect(ended.find(({ status }) => status === 'failed').error).toContain('1 files')
    expect(await here.walletOf(ada)).toEqual({ cents: 95, held: 0 })
    expect(await here.verify()).toEqual([])
  })

  test('leaves everything sound', async () => {
    expect(await verify()).toEqual([])
  })
})
