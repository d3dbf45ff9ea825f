import { describe, expect, test } from 'bun:test'
import { GiveUp, jobSums } from '../../../src/jobs'
import { createWorld, operatorCall } from '../../support/world'
import { jobsIn, kindOf, report } from './support'

const world = await createWorld()
const { accept, define, get, run, notify: notices, verify, walletOf } = jobsIn(world)
const { publicJobs } = world.app.container

/** A kind whose run begins, and ends only when it is aborted. */
function endless() {
  const begun = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const kind = define(
    kindOf(async ({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve())
      begun.resolve()
      await aborted.promise
      return report()
    }),
  )
  return { kind, begun: begun.promise, aborted: aborted.promise }
}

describe('cancelling (docs/api.md 7)', () => {
  test('ends a queued job, which never runs, and gives its credit back', async () => {
    const ada = await world.person({ cents: 100 })
    const kind = define(kindOf(report))
    const id = await accept(ada, kind)
    const { status, body } = await ada.send('POST', `jobs/${id}/cancel`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ id, status: 'failed', error: 'cancelled', job: { id, status: 'failed' } })
    expect(await run(kind)).toBe(0)
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 0 })
    expect(notices.filter(({ data }) => data.job_id === id).map(({ type }) => type)).toEqual(['job.failed'])
    const actions = (await ada.send('GET', `audit?entity_id=${id}`)).body.map((one: { action: string }) => one.action)
    expect(actions).toEqual(['job.cancelled'])
  })

  test('is nothing that a person must look at: it does not count among those that failed', async () => {
    const ada = await world.person({ cents: 100 })
    const failedOf = async () => (await jobSums(world.app.container.store.read, 0)).failed
    const before = await failedOf()
    const id = await accept(ada, define(kindOf(report)))
    await ada.send('POST', `jobs/${id}/cancel`)
    expect(await failedOf()).toBe(before)
    const broken = define(kindOf(() => Promise.reject(new GiveUp('no source answered'))))
    await accept(ada, broken)
    await run(broken)
    expect(await failedOf()).toBe(before + 1)
  })

  test('aborts an active one, whose result is dropped and not charged', async () => {
    const ada = await world.person({ cents: 100 })
    const { kind, begun, aborted } = endless()
    const id = await accept(ada, kind)
    const running = run(kind)
    await begun
    expect((await get(ada, id)).status).toBe('active')
    expect((await ada.send('POST', `jobs/${id}/cancel`)).status).toBe(200)
    await aborted
    await running
    expect(await get(ada, id)).toMatchObject({ status: 'failed', error: 'cancelled', result: null })
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 0 })
    expect(await verify()).toEqual([])
  })

  test('of a job that has ended is 409, and changes nothing', async () => {
    const ada = await world.person({ cents: 100 })
    const kind = define(kindOf(report))
    const done = await accept(ada, kind)
    await run(kind)
    const cancelled = await accept(ada, kind)
    await ada.send('POST', `jobs/${cancelled}/cancel`)
    for (const [id, word] of [
      [done, 'completed'],
      [cancelled, 'failed'],
    ]) {
      const before = await get(ada, id!)
      const { status, body } = await ada.send('POST', `jobs/${id}/cancel`)
      expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'conflict' })
      expect(body.error.message).toContain(word!)
      const after = await get(ada, id!)
      expect({ ...after, request_id: '' }).toEqual({ ...before, request_id: '' })
    }
  })

  test('many times at once ends it once', async () => {
    const ada = await world.person({ cents: 100 })
    const id = await accept(ada, define(kindOf(report)))
    const tries = Array.from({ length: 8 }, () => ada.send('POST', `jobs/${id}/cancel`))
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 409, 409, 409, 409, 409, 409, 409])
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 0 })
    expect(notices.filter(({ data }) => data.job_id === id)).toHaveLength(1)
  })

  test('under an Idempotency-Key is answered again, byte for byte (docs/api.md 1.7)', async () => {
    const ada = await world.person()
    const id = await accept(ada, define(kindOf(report)))
    const again = () => ada.send('POST', `jobs/${id}/cancel`, undefined, { 'idempotency-key': `cancel-${id}` })
    const [first, second] = [await again(), await again()]
    expect(first.status).toBe(200)
    expect(second.text).toBe(first.text)
    expect(second.headers.get('x-idempotent-replay')).toBe('true')
  })

  test('and the end of a run race: one of the two wins', async () => {
    const ada = await world.person({ cents: 1_000 })
    const kind = define(kindOf(report))
    const ids = await Promise.all(Array.from({ length: 30 }, () => accept(ada, kind)))
    const running = run(kind)
    const answers = await Promise.all(ids.map((id) => ada.send('POST', `jobs/${id}/cancel`)))
    await running
    const jobs = await Promise.all(ids.map((id) => get(ada, id)))
    for (const [at, job] of jobs.entries()) {
      const isCancelled = answers[at]!.status === 200
      const ended = isCancelled ? { status: 'failed', error: 'cancelled' } : { status: 'completed', error: null }
      expect(job).toMatchObject(ended)
    }
    const completed = jobs.filter(({ status }) => status === 'completed').length
    expect(await walletOf(ada)).toEqual({ cents: 1_000 - 3 * completed, held: 0 })
    expect(await verify()).toEqual([])
  })
})

describe('an operator', () => {
  test('sees the jobs of everyone or of one, and cancels any, on the record of its owner', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const kind = define(kindOf(report))
    const [first, second] = [await accept(ada, kind), await accept(eve, kind)]
    const idsOf = async (owner?: string) =>
      (await publicJobs.list(operatorCall(), { limit: 100 }, owner)).jobs.map(({ id }) => id as string)
    expect(await idsOf()).toEqual(expect.arrayContaining([first, second]))
    expect(await idsOf(`user:${eve.userId}`)).toEqual([second])
    expect(await publicJobs.cancel(operatorCall(), first)).toMatchObject({ status: 'failed', error: 'cancelled' })
    expect((await ada.send('GET', `audit?entity_id=${first}`)).body).toMatchObject([{ action: 'job.cancelled' }])
  })

  test('tries a failed one again as a new job, at the price of the first', async () => {
    const ada = await world.person({ cents: 10 })
    let broken = true
    const kind = define(
      kindOf(
        async () => {
          if (broken) throw new Error('broken')
          return report()
        },
        { retry: { attempts: 1, delayMs: () => 0 } },
      ),
    )
    const id = await accept(ada, kind)
    expect(await publicJobs.retry(operatorCall(), id).catch((error) => error)).toMatchObject({ kind: 'conflict' })
    await run(kind)
    broken = false
    const next = await publicJobs.retry(operatorCall(), id)
    expect(next.id as string).not.toBe(id)
    expect(await walletOf(ada)).toEqual({ cents: 10, held: 10 })
    const poor = await publicJobs.retry(operatorCall(), id).catch((error) => error)
    expect(poor).toMatchObject({ code: 'insufficient_credits' })
    await run(kind)
    expect((await get(ada, next.id)).status).toBe('completed')
    expect((await get(ada, id)).status).toBe('failed')
    expect(await walletOf(ada)).toEqual({ cents: 7, held: 0 })
    const events = (await ada.send('GET', `audit?entity_id=${id}&action=job.retried`)).body
    expect(events).toMatchObject([{ inputSummary: { metadata: { job_id: next.id } } }])
  })
})
