import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import OpenAI from 'openai'
import type { JobId } from '../../src/jobs/schema'
import { jobs as jobTable } from '../../src/jobs/table'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { eventually } from '../support/eventually'
import { listen } from '../support/listening'
import { createWorld } from '../support/world'

const { world, upstream } = await createUpstreamWorld()
const baseURL = `${listen(world).origin}/v1`
const model = 'svc-1-flash'
const { jobs, publicJobs, billing, store } = world.app.container
const runDue = () => jobs.runDue('responses.background')

/** Somebody new, whose responses and credit nobody else touches. */
async function someone() {
  const person = await world.person({ cents: 100 })
  const openai = new OpenAI({ baseURL, apiKey: person.key, maxRetries: 0 })
  return {
    openai,
    send: person.send,
    begin: (words: string) => openai.responses.create({ model, background: true, input: freshPrompt(words) }),
    read: (id: string) => openai.responses.retrieve(id),
    jobOf: async (id: string) => (await person.send('GET', `jobs/job_${id.slice(5)}`)).body,
    wallet: async () => {
      const { balance, held } = await billing.balance(store.read, `user:${person.userId}`)
      return { balance, held }
    },
    /** How often it was charged or failed. */
    calls: async () => (await person.send('GET', 'audit?action=completion.created')).body.length,
  }
}

test('it is queued with its price held, runs, and is charged once', async () => {
  const ada = await someone()
  const queued = await ada.begin('[[say:one two three]]')
  expect(queued).toMatchObject({ status: 'queued', background: true, output: [], usage: null })
  expect(await ada.jobOf(queued.id)).toMatchObject({ type: 'response', status: 'queued' })
  expect((await ada.read(queued.id)).status).toBe('queued')
  expect((await ada.wallet()).held).toBeGreaterThan(0)
  const early = await ada.send('POST', 'responses', { input: 'On', previous_response_id: queued.id })
  expect({ status: early.status, param: early.body.error.param }).toEqual({
    status: 409,
    param: 'previous_response_id',
  })
  await runDue()
  const done = await ada.read(queued.id)
  expect(done).toMatchObject({ id: queued.id, created_at: queued.created_at, status: 'completed', background: true })
  expect(done.output_text).toBe('one two three')
  const { cost_cents } = (done as unknown as { svc_metadata: { cost_cents: number } }).svc_metadata
  expect(cost_cents).toBeGreaterThan(0)
  expect(await ada.wallet()).toEqual({ balance: 100_000_000 - cost_cents * 1_000_000, held: 0 })
  expect(await ada.jobOf(queued.id)).toMatchObject({ status: 'completed', usage: { cost_cents } })
  expect(await ada.calls()).toBe(1)
  expect(await publicJobs.verify(store.read)).toEqual([])
  const next = await ada.send('POST', 'responses', { model, input: freshPrompt(), previous_response_id: queued.id })
  expect(next.status).toBe(200)
})

test('without credit none is accepted, even of an engine that costs nothing', async () => {
  const free = await createWorld()
  const [poor, ada] = [await free.person({ cents: 0 }), await free.person()]
  const input = { input: freshPrompt(), background: true }
  const refused = await poor.send('POST', 'responses', input)
  expect({ status: refused.status, code: refused.body.error?.code }).toEqual({
    status: 402,
    code: 'insufficient_credits',
  })
  expect((await poor.send('GET', 'jobs')).body.jobs).toEqual([])
  expect((await ada.send('POST', 'responses', input)).body.status).toBe('queued')
})

test('it is cancelled by either route, before it runs and while it runs, and costs nothing', async () => {
  const ada = await someone()
  const before = await ada.wallet()
  const first = await ada.begin('[[say:never]]')
  expect(await ada.openai.responses.cancel(first.id)).toMatchObject({ id: first.id, status: 'cancelled' })
  expect((await ada.openai.responses.cancel(first.id)).status).toBe('cancelled')
  const second = await ada.begin('[[slow:50]][[tokens:400]]')
  const running = runDue()
  await eventually(
    () => ada.read(second.id),
    ({ status }) => status === 'in_progress',
  )
  await ada.send('POST', `jobs/job_${second.id.slice(5)}/cancel`)
  await running
  expect(await ada.read(second.id)).toMatchObject({ status: 'cancelled', error: null })
  expect(await ada.jobOf(second.id)).toMatchObject({ status: 'failed', error: 'cancelled' })
  await eventually(async () => (await ada.wallet()).held === 0)
  expect(await ada.wallet()).toEqual(before)
  const plain = await ada.openai.responses.create({ model, input: freshPrompt() })
  expect((await ada.send('POST', `responses/${plain.id}/cancel`)).status).toBe(400)
})

test('one that fails says why, and what was held is released', async () => {
  const ada = await someone()
  const before = await ada.wallet()
  const { id } = await ada.begin('[[500]]')
  await runDue()
  expect(await ada.read(id)).toMatchObject({ status: 'failed', error: { code: 'engine_unavailable' } })
  expect(await ada.jobOf(id)).toMatchObject({ status: 'failed' })
  expect(await ada.wallet()).toEqual(before)
  expect(await publicJobs.verify(store.read)).toEqual([])
})

test('its creator reads along, and every reader sees the end', async () => {
  const ada = await someone()
  const stream = await ada.openai.responses.create({
    model,
    background: true,
    stream: true,
    input: freshPrompt('[[slow:20]][[say:one two three four]]'),
  })
  const events: OpenAI.Responses.ResponseStreamEvent[] = []
  const reading = (async () => {
    for await (const event of stream) events.push(event)
  })()
  await eventually(() => events.length >= 2)
  const [created] = events
  if (created?.type !== 'response.created') throw new Error(created?.type)
  const seenLate = Array.fromAsync(await ada.openai.responses.retrieve(created.response.id, { stream: true }))
  await runDue()
  await reading
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
  expect(events.filter(({ type }) => type === 'response.output_text.delta').length).toBeGreaterThan(1)
  const end = events.at(-1)!
  expect(end).toMatchObject({ type: 'response.completed', response: { status: 'completed', background: true } })
  const again = await seenLate
  expect(again[0]!.type).toBe('response.created')
  expect(again.at(-1)).toMatchObject({ type: end.type, sequence_number: end.sequence_number })
  expect(again.filter(({ type }) => type === 'response.created')).toHaveLength(1)
})

test('a reader who leaves does not stop it', async () => {
  const ada = await someone()
  const stream = await ada.openai.responses.create({ model, background: true, stream: true, input: freshPrompt() })
  let id = ''
  for await (const event of stream) {
    if (event.type === 'response.created') id = event.response.id
    if (event.type === 'response.in_progress') break
  }
  await runDue()
  expect((await ada.read(id)).status).toBe('completed')
})

test('one whose process was lost after the charge is not run or charged again', async () => {
  const ada = await someone()
  const { id } = await ada.begin('[[say:once]]')
  await runDue()
  const before = await ada.wallet()
  const callsBefore = upstream.calls.length
  await store.write(async (tx) => {
    const t = tx.of(jobTable)
    const again = { state: 'queued' as const, completed_at: null, turn: 1, result: null }
    await tx
      .update(t)
      .set(again)
      .where(eq(t.id, `job_${id.slice(5)}` as JobId))
  })
  await runDue()
  expect((await ada.jobOf(id)).status).toBe('completed')
  expect(upstream.calls.length).toBe(callsBefore)
  expect(await ada.wallet()).toEqual(before)
})

test('it needs to be stored, and is deleted with its run', async () => {
  const ada = await someone()
  const refused = await ada.send('POST', 'responses', { input: 'Hi', background: true, store: false })
  expect(refused).toMatchObject({ status: 400, body: { error: { param: 'background' } } })
  const { id } = await ada.begin('[[say:gone]]')
  expect((await ada.send('DELETE', `responses/${id}`)).body.deleted).toBe(true)
  await runDue()
  expect((await ada.send('GET', `responses/${id}`)).status).toBe(404)
  expect((await ada.wallet()).held).toBe(0)
})

test('an owner has at most 50 of them open', async () => {
  const ada = await someone()
  const all = await Promise.all(
    Array.from({ length: 51 }, () => ada.send('POST', 'responses', { model, background: true, input: freshPrompt() })),
  )
  const refused = all.filter(({ status }) => status !== 200)
  expect(refused).toMatchObject([{ status: 429, body: { error: { code: 'rate_limit_exceeded' } } }])
  for (const { body } of all) if (body.id) await ada.send('POST', `responses/${body.id}/cancel`)
  expect((await ada.wallet()).held).toBe(0)
})
