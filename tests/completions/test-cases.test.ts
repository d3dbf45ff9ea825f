import { expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld()
const { jobs } = world.app.container
const ada = await world.person()
const make = async (body: object) => ada.send('POST', 'test-cases', { name: 'one', checks: [], ...body })

test('cases run on engines as a job: each answer is judged, billed and told apart by its request', async () => {
  const prompt = 'What is 2 + 2?'
  const checks = [
    { type: 'contains', value: '4' },
    { type: 'matches', value: '\\d' },
    { type: 'max_ms', value: 60_000 },
    { type: 'not_contains', value: 'banana' },
  ]
  const good = (await make({ request: { prompt }, checks, tags: ['sums'] })).body
  const chat = { messages: [{ role: 'user', content: prompt }], model: 'auto' }
  const bad = (await make({ request: chat, checks: [{ type: 'contains', value: 'banana' }] })).body
  const start = (body: object) =>
    ada.send('POST', 'test-cases/run', { models: ['svc-1-flash'], most_cents: 100, ...body })
  const { status, body } = await start({ ids: [good.id, bad.id] })
  expect({ status, cases: body.cases }).toEqual({ status: 202, cases: 2 })
  await jobs.runDue('completions.tests')
  const { result, result_data } = (await ada.send('GET', `jobs/${body.job_id}`)).body
  expect(result).toBe('1 of 2 passed')
  const [first, second] = result_data.runs
  expect(first).toMatchObject({ case_id: good.id, model: 'svc-1-flash', passed: true, failed_checks: [] })
  expect(second).toMatchObject({ case_id: bad.id, passed: false, failed_checks: ['contains banana'] })
  expect((await ada.send('GET', `requests?q=${first.request_id}`)).body.requests[0].cost_cents).toBe(first.cost_cents)
  expect((await start({ tag: 'sums' })).body.cases).toBe(1)
  expect((await start({ tag: 'nothing' })).status).toBe(404)
  expect(
    (await (await world.person()).send('POST', 'test-cases/run', { ids: [good.id], models: ['a'], most_cents: 1 }))
      .status,
  ).toBe(404)
})

test.each<[string, object]>([
  ['a request that is no call', { request: { nothing: true } }],
  ['a request above 256 KiB', { request: { prompt: 'x'.repeat(300_000) } }],
  ['a number where a text belongs', { request: { prompt: 'x' }, checks: [{ type: 'contains', value: 1 }] }],
  ['a pattern that has to backtrack', { request: { prompt: 'x' }, checks: [{ type: 'matches', value: '(a)\\1' }] }],
  ['a pattern that is none', { request: { prompt: 'x' }, checks: [{ type: 'matches', value: '(' }] }],
  ['a schema that is none', { request: { prompt: 'x' }, checks: [{ type: 'json_schema', value: { type: 'nope' } }] }],
])('refuses %s', async (_, body) => {
  expect((await make(body)).status).toBe(400)
})

test('a search finds what the caller owns by the beginning of its name or id, and nothing of others', async () => {
  const [bea, eve] = [await world.person(), await world.person()]
  const { id } = (await bea.send('POST', 'guardrail-policies', { name: 'Quiet hours' })).body
  await bea.send('POST', 'webhooks', { url: 'https://203.0.112.7/quiet', event_types: ['*'] })
  const found = async (who: typeof bea, q: string) =>
    (await who.send('GET', `search?q=${encodeURIComponent(q)}`)).body.results.map((one: { type: string }) => one.type)
  expect(await found(bea, 'quiet')).toEqual(['guardrail_policy'])
  expect(await found(bea, id.slice(0, 8))).toEqual(['guardrail_policy'])
  expect(await found(bea, 'https://203')).toEqual(['webhook'])
  expect(await found(bea, bea.keyId.slice(0, 10))).toEqual(['api_key'])
  expect(await found(eve, 'quiet')).toEqual([])
  expect((await bea.send('GET', 'search?q=q')).status).toBe(400)
})
