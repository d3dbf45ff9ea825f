import { describe, expect, test } from 'bun:test'
import { noise, PIXEL } from '../../files/support'
import { fakeClock } from '../../support/clock'
import { createWorld } from '../../support/world'
import { CENT, jobsIn, kindOf, report } from './support'

const clock = fakeClock()
const world = await createWorld({ clock })
const { accept, define, get, run, verify } = jobsIn(world)
const { files, jobs } = world.app.container
const research = define(kindOf(report))

describe('the list (contract 7)', () => {
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
    'answers no id number %# (catalogue S1)',
    async (id) => {
      const ada = await world.person()
      expect([400, 404]).toContain((await ada.send('GET', `jobs/${id}`)).status)
      expect([400, 404]).toContain((await ada.send('POST', `jobs/${id}/cancel`)).status)
    },
  )

  test('polled too often is 429 with Retry-After, and the job goes on (catalogue S2)', async () => {
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

  test('stands for one of more than a megabyte (catalogue S4)', async () => {
    const ada = await world.person()
    const text = noise(3_000_000).toString('base64')
    const long = define(kindOf(async () => ({ text, data: { title: 'Long' }, cost: CENT })))
    const id = await accept(ada, long)
    await run(long)
    const job = await ada.send('GET', `jobs/${id}`)
    expect(job.text.length).toBeLessThan(10_000)
    const { pathname, search } = new URL(job.body.result)
    const stored = await world.send('GET', pathname + search)
    expect(stored.body).toEqual({ result: text, result_data: { title: 'Long' } })
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
