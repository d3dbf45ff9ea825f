import { describe, expect, test } from 'bun:test'
import { readFrames } from '../support/frames'
import { createWorld, type Person } from '../support/world'

const world = await createWorld()
const ask = async (person: Person, input: object) => (await person.send('POST', 'completions', input)).body
const jobOf = async (person: Person, id: string) => (await person.send('GET', `jobs/${id}`)).body

describe('a video that a completion asks for (docs/api.md 2.4)', () => {
  test('is made within the request, and a warning names its endpoint; an identical request gets the same one', async () => {
    const ada = await world.person({ cents: 100 })
    const input = { prompt: 'a cat in the city at night', mode: 'video' }
    const answer = await ask(ada, input)
    expect(answer).toMatchObject({
      resolved_mode: 'video',
      content: expect.stringContaining('A local animation'),
      warnings: [expect.stringContaining('POST /video')],
      usage: { cost_cents: 0, total_tokens: 0 },
      follow_ups: [],
    })
    expect(answer.job).toBeUndefined()
    const [clip, still] = answer.artifacts
    expect(clip).toMatchObject({ type: 'video', mime_type: 'video/mp4', duration_seconds: 5, width: 1280, height: 720 })
    expect(still).toMatchObject({ type: 'image', mime_type: 'image/png', width: 1280 })
    expect((await (await world.download(clip.url)).arrayBuffer()).byteLength).toBe(clip.size_bytes)
    expect((await ada.send('GET', 'jobs')).body.jobs).toEqual([])
    expect(await ask(ada, input)).toMatchObject({ _cached: true, artifacts: [{ id: clip.id }, { id: still.id }] })
  }, 90_000)

  test('a stealth one, as a stream, keeps no prompt with its file and names no endpoint', async () => {
    const ada = await world.person()
    const input = { prompt: 'a quiet lighthouse', mode: 'stealth_video', stealth_duration: '6s', stream: true }
    const { event, data } = readFrames((await ada.send('POST', 'completions', input)).text).at(-1)!
    expect(event).toBe('done')
    expect(data.artifacts[0]).toMatchObject({ type: 'video', duration_seconds: 6, prompt: null })
    expect(data.warnings ?? []).toEqual([])
    expect((await ada.send('GET', `artifacts/${data.artifacts[0].id}`)).body.prompt).toBeNull()
  }, 90_000)

  test('what `auto` takes for one goes on as a job', async () => {
    const ada = await world.person()
    const answer = await ask(ada, { prompt: 'Make a short video of a rocket that flies to the moon.' })
    expect(answer).toMatchObject({
      resolved_mode: 'video',
      content: expect.stringContaining(`/api/v1/jobs/${answer.job.job_id}`),
      job: { status: 'queued', poll_url: `/api/v1/jobs/${answer.job.job_id}` },
      artifacts: [],
      follow_ups: [],
      usage: { cost_cents: 0 },
    })
    expect(answer.warnings).toBeUndefined()
    expect(await jobOf(ada, answer.job.job_id)).toMatchObject({ type: 'video', status: 'queued' })
    await ada.send('POST', `jobs/${answer.job.job_id}/cancel`)
  })
})

test('the tool generate_video starts a job', async () => {
  const ada = await world.person()
  const action = { tool: 'generate_video', arguments: { prompt: 'a cat', seconds: 1 } }
  const { body } = await ada.send('POST', 'voice/action', action)
  expect(body).toMatchObject({ status: 'success', result: { status: 'queued' } })
  expect((await jobOf(ada, body.result.job_id)).type).toBe('video')
})
