import { beforeEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { createWorld, type Person } from '../support/world'
import { CLIP, videoServer } from './video-server'

const server = videoServer()
const world = await createWorld({
  config: { videoBaseUrl: server.url, videoApiKey: 'sk-film', videoModel: 'filmer', videoMarker: '' },
})
const { jobs } = world.app.container
beforeEach(server.reset)

const input = { prompt: 'a red sailboat', duration: '4s', style: 'flat' }
const spentBy = async (person: Person) => (await person.send('GET', `keys/${person.keyId}`)).body.spent_today_cents
const jobOf = async (person: Person, id: string) => (await person.send('GET', `jobs/${id}`)).body

/** Orders a video and lets its job run to its end. */
async function made(person: Person, body: object = input) {
  const { status, body: accepted } = await person.send('POST', 'video', body)
  expect(status).toBe(202)
  return await eventually(
    async () => {
      await jobs.runDue('media.video-upstream')
      return jobOf(person, accepted.job_id)
    },
    ({ status: now }) => now === 'completed' || now === 'failed',
  )
}

describe('a video of an upstream (docs/api.md 6, 7)', () => {
  test('is ordered once, followed, fetched and charged for its seconds', async () => {
    const ada = await world.person({ cents: 100 })
    server.will.looks = 2
    const job = await made(ada)
    expect(job).toMatchObject({
      status: 'completed',
      usage: { cost_cents: 40 },
      result_data: { mime_type: 'video/mp4', duration_seconds: 4, width: 1280, height: 720, engine: 'svc-vision' },
    })
    expect(await spentBy(ada)).toBe(40)
    const [request, ...more] = server.of('POST', /videos$/)
    expect(more).toEqual([])
    expect(request!.body).toEqual({
      model: 'filmer',
      prompt: 'a red sailboat. Style: flat.',
      seconds: '4',
      size: '1280x720',
    })
    expect(request!.headers.get('authorization')).toBe('Bearer sk-film')
    expect(request!.headers.get('idempotency-key')).toBe(job.id)
    const file = await world.download(job.result)
    expect(Buffer.from(await file.arrayBuffer()).equals(CLIP)).toBe(true)
    const still = (await ada.send('GET', `artifacts/${job.result_data.poster_artifact_id}`)).body
    expect(still).toMatchObject({ type: 'image', width: 1, height: 1, engine: 'svc-vision', model: 'svc-1-motion' })
    expect((await ada.send('GET', 'usage')).body.totals).toMatchObject({ requests: 1, cost_cents: 40 })
  })

  test('is listed as available, and no wallet without its price gets one', async () => {
    const poor = await world.person({ cents: 10 })
    const refused = await poor.send('POST', 'video', input)
    expect(refused).toMatchObject({ status: 402, body: { error: { code: 'insufficient_credits' } } })
    const { body } = await poor.send('GET', 'models')
    expect(body.models.find(({ mode }: { mode: string }) => mode === 'video').status).toBe('available')
    expect(server.asked).toEqual([])
  })

  test('an invalid still image is left out', async () => {
    const ada = await world.person()
    server.will.still = () => new Response(null, { status: 404 })
    expect((await made(ada)).result_data.poster_artifact_id).toBeNull()
  })
})

describe('an upstream that makes none', () => {
  test.each([
    ['says so', { status: 'failed', error: { code: 'server_error', message: 'secret words' } }, 'could not create'],
    ['refuses it', { status: 'failed', error: { code: 'moderation_blocked', message: 'no' } }, 'content rules'],
  ])('%s: the job fails, nothing is charged or ordered again', async (_, state, words) => {
    const ada = await world.person({ cents: 100 })
    server.will.state = () => state
    const job = await made(ada)
    expect(job.error).not.toContain('secret words')
    expect(job).toMatchObject({ status: 'failed', usage: { cost_cents: 0 }, error: expect.stringContaining(words) })
    expect(await spentBy(ada)).toBe(0)
    expect(server.of('POST', /videos$/)).toHaveLength(1)
  })

  test('does not know it any more: the job fails', async () => {
    const ada = await world.person()
    server.will.state = () => new Response('{}', { status: 404 })
    expect((await made(ada)).error).toContain('no longer answers for this video')
  }, 20_000)

  test('answers with a text instead of a video: the job fails, and no file is kept', async () => {
    const ada = await world.person({ cents: 100 })
    server.will.content = () => new Response('<html>', { headers: { 'content-type': 'video/mp4' } })
    expect(await made(ada)).toMatchObject({ status: 'failed', error: expect.stringContaining('not a video') })
    expect(await spentBy(ada)).toBe(0)
  })

  test('turns the order down twice: the job fails after both', async () => {
    const ada = await world.person({ cents: 100 })
    server.will.order = () => Response.json({ error: { code: 'no_model' } }, { status: 404 })
    expect((await made(ada)).status).toBe('failed')
    expect(server.of('POST', /videos$/)).toHaveLength(2)
    expect(await spentBy(ada)).toBe(0)
  }, 20_000)

  test('leaves it open whether it took the order: it is never ordered again', async () => {
    const ada = await world.person({ cents: 100 })
    server.will.order = () => new Response('<html>', { status: 502 })
    expect((await made(ada)).error).toContain('was not repeated')
    expect(server.of('POST', /videos$/)).toHaveLength(1)
    expect(await spentBy(ada)).toBe(0)
  })
})

test('a cancelled one is given up at the upstream too', async () => {
  const ada = await world.person({ cents: 100 })
  server.will.looks = 1_000
  const { body } = await ada.send('POST', 'video', input)
  const due = jobs.runDue('media.video-upstream')
  await eventually(() => server.of('GET', /video_\d+$/).length > 0)
  expect((await ada.send('POST', `jobs/${body.job_id}/cancel`)).body.status).toBe('failed')
  await due
  await eventually(() => server.of('DELETE', /video_\d+$/).length === 1)
  expect(await spentBy(ada)).toBe(0)
})

test('one that takes longer than fifteen minutes fails, whatever the upstream says', async () => {
  const clock = fakeClock(new Date().toISOString())
  const slow = await createWorld({ clock, config: { videoBaseUrl: server.url } })
  const ada = await slow.person({ cents: 100 })
  server.will.looks = 100_000
  const { body } = await ada.send('POST', 'video', input)
  const due = slow.app.container.jobs.runDue('media.video-upstream')
  let over = false
  void due.then(() => {
    over = true
  })
  while (!over) {
    clock.advance(10_000)
    await Bun.sleep(5)
  }
  expect(await jobOf(ada, body.job_id)).toMatchObject({
    status: 'failed',
    error: 'It took longer than 900 seconds.',
    usage: { cost_cents: 0 },
  })
})

test('nothing of a stealth one outlives its request, here or at the upstream (docs/api.md 2.1)', async () => {
  const ada = await world.person({ cents: 100 })
  const prompt = 'a zeppelin over Uxmal'
  const { body } = await ada.send('POST', 'completions', { prompt, mode: 'stealth_video', stealth_duration: '6s' })
  expect(body.artifacts[0]).toMatchObject({ type: 'video', prompt: null })
  // A video of an earlier test may be deleted late.
  const { path: its } = server.of('GET', /video_\d+$/).at(-1)!
  await eventually(() => server.of('DELETE', /video_\d+$/).filter(({ path }) => path === its).length === 1)
  const stored = await ada.send('GET', `artifacts/${body.artifacts[0].id}`)
  expect(JSON.stringify([stored.body, (await ada.send('GET', 'audit')).body])).not.toContain('Uxmal')
  expect(world.logged.join('')).not.toContain('Uxmal')
})

describe('one within a completion (docs/api.md 2.4)', () => {
  const video = { prompt: 'a red sailboat', mode: 'video' }

  test('is ordered once, charged for its seconds, and told as what it is', async () => {
    const ada = await world.person({ cents: 100 })
    const { body } = await ada.send('POST', 'completions', video)
    expect(body).toMatchObject({
      usage: { cost_cents: 40, total_tokens: 0 },
      artifacts: [{ type: 'video', duration_seconds: 4 }, { type: 'image' }],
    })
    expect(body.warnings.join(' ')).toContain('POST /video')
    expect(await spentBy(ada)).toBe(40)
    expect(server.of('POST', /videos$/)).toHaveLength(1)
    const { body: refused } = await (await world.person({ cents: 10 })).send('POST', 'completions', video)
    expect(refused.error.code).toBe('insufficient_credits')
  })

  test.each([
    ['could not', { status: 'failed', error: { code: 'server_error', message: 'secret words' } }, 'engine_unavailable'],
    ['would not', { status: 'failed', error: { code: 'moderation_blocked', message: 'no' } }, 'validation_error'],
  ])('that the upstream %s make: the error says so, and nothing is charged or left there', async (_, state, code) => {
    const ada = await world.person({ cents: 100 })
    server.will.state = () => state
    const { body } = await ada.send('POST', 'completions', video)
    expect(body.error.code).toBe(code)
    expect(body.error.message).toContain('Nothing was charged')
    expect(await spentBy(ada)).toBe(0)
    await eventually(() => server.of('DELETE', /video_\d+$/).length === 1)
  })

  test('that is not made in time is 504: nothing is charged, and the upstream is told', async () => {
    const clock = fakeClock(new Date().toISOString())
    const slow = await createWorld({ clock, config: { videoBaseUrl: server.url } })
    const ada = await slow.person({ cents: 100 })
    server.will.looks = 100_000
    const answered = ada.send('POST', 'completions', video)
    await eventually(() => server.of('GET', /video_\d+$/).length === 1)
    clock.advance(120_000)
    const { status, body } = await answered
    expect({ status, code: body.error.code }).toEqual({ status: 504, code: 'request_timeout' })
    expect(body.error.message).toContain('POST /video')
    expect(await spentBy(ada)).toBe(0)
    const owner = `user:${ada.userId}` as const
    expect(await slow.app.container.billing.balance(slow.app.store.read, owner)).toMatchObject({ held: 0 })
    await eventually(() => server.of('DELETE', /video_\d+$/).length === 1)
  })

  test('whose caller leaves is given up, though its order is on its way', async () => {
    const ada = await world.person({ cents: 100 })
    const { promise: answer, resolve } = Promise.withResolvers<void>()
    server.will.order = () => answer.then(() => Response.json({ id: 'video_77', object: 'video', status: 'queued' }))
    const leaving = new AbortController()
    const request = new Request('http://localhost/api/v1/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(video),
      signal: leaving.signal,
    })
    const answered = world.app.api.handle(request)
    await eventually(() => server.of('POST', /videos$/).length === 1)
    leaving.abort()
    await answered
    resolve()
    await eventually(() => server.of('DELETE', /video_77$/).length === 1)
    expect(await spentBy(ada)).toBe(0)
  })
})

test('without an upstream or the built-in engine it is 503, and nothing is put in line', async () => {
  const ada = await (await createWorld({ config: { engineBuiltin: false } })).person()
  const { status, body } = await ada.send('POST', 'video', input)
  expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'engine_unavailable' })
  expect((await ada.send('GET', 'jobs')).body.jobs).toEqual([])
})
