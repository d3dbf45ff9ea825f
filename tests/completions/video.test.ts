import { describe, expect, test } from 'bun:test'
import { createWorld, type Person } from '../support/world'

const world = await createWorld()
const { jobs } = world.app.container
const ask = async (person: Person, order: object) => (await person.send('POST', 'completions', order)).body
const jobOf = async (person: Person, id: string) => (await person.send('GET', `jobs/${id}`)).body

describe('a video asked for in a completion goes on as a job (contract 2.4)', () => {
  test('the answer names it, and the job makes it', async () => {
    const ada = await world.person({ cents: 100 })
    const answer = await ask(ada, { prompt: 'a cat in the city at night', mode: 'video' })
    expect(answer).toMatchObject({
      resolved_mode: 'video',
      content: expect.stringContaining(`/api/v1/jobs/${answer.job.job_id}`),
      job: { status: 'queued', poll_url: `/api/v1/jobs/${answer.job.job_id}` },
      artifacts: [],
      usage: { cost_cents: 0 },
    })
    expect(await jobOf(ada, answer.job.job_id)).toMatchObject({ type: 'video', status: 'queued' })
    await ada.send('POST', `jobs/${answer.job.job_id}/cancel`)
  })

  test('`auto` hands over what is plainly a video', async () => {
    const ada = await world.person()
    const answer = await ask(ada, { prompt: 'Make a short video of a rocket that flies to the moon.' })
    expect(answer.resolved_mode).toBe('video')
    expect((await jobOf(ada, answer.job.job_id)).status).toBe('queued')
    await ada.send('POST', `jobs/${answer.job.job_id}/cancel`)
  })

  test('a stream says it too', async () => {
    const ada = await world.person()
    const { text } = await ada.send('POST', 'completions', { prompt: 'a cat', mode: 'video', stream: true })
    const [, id] = /"job_id":"(job_[0-9A-Za-z]{24})"/.exec(text) ?? []
    expect((await jobOf(ada, id!)).status).toBe('queued')
    await ada.send('POST', `jobs/${id}/cancel`)
  })

  test('a stealth one keeps no prompt with its file', async () => {
    const ada = await world.person()
    const answer = await ask(ada, { prompt: 'a quiet lighthouse', mode: 'stealth_video', stealth_duration: '5s' })
    await jobs.runDue('media.video')
    const made = await jobOf(ada, answer.job.job_id)
    expect(made.status).toBe('completed')
    expect((await ada.send('GET', `artifacts/${made.result_data.artifact_id}`)).body.prompt).toBeNull()
  }, 60_000)
})

test('the tool generate_video starts a job', async () => {
  const ada = await world.person()
  const action = { tool: 'generate_video', arguments: { prompt: 'a cat', seconds: 1 } }
  const { body } = await ada.send('POST', 'voice/action', action)
  expect(body).toMatchObject({ status: 'success', result: { status: 'queued' } })
  expect((await jobOf(ada, body.result.job_id)).type).toBe('video')
})
