import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { fakeClock } from '../support/clock'
import type { Person } from '../support/world'

const clock = fakeClock('2026-03-15T12:34:56.000Z')
const { world } = await createUpstreamWorld({ clock })

const benchmarks = async (person: Person, query = '') => {
  clock.advance(5_000)
  return person.send('GET', `benchmarks${query}`)
}
const ask = (person: Person, members: object) =>
  person.send('POST', 'completions', { prompt: freshPrompt('Write a haiku about rain'), ...members })

const correct = async (person: Person, message: { completion_id?: string; prompt?: string; expected_mode: string }) => {
  expect((await person.send('POST', 'routing-corrections', message)).status).toBe(201)
}

describe('GET /benchmarks (docs/api.md 21)', () => {
  test('tells nothing but zeros of someone who never called', async () => {
    const { status, body } = await benchmarks(await world.person())
    expect(status).toBe(200)
    expect(body).toEqual({
      window: '24h',
      latency_by_mode: {},
      ttft_by_mode: {},
      classification: null,
      counters: { total: 0, failover_count: 0, routing_accuracy: 1, total_tokens: 0, total_cost_cents: 0, by_mode: {} },
      bucket: '2026-03-15T12',
      request_id: expect.any(String),
    })
  })

  test('tells of plain, streamed, chosen and cached calls', async () => {
    const ada = await world.person()
    const plain = await ask(ada, { mode: 'think' })
    await ask(ada, { mode: 'code', stream: true })
    const auto = await ask(ada, { mode: 'auto' })
    const again = { prompt: freshPrompt('again'), mode: 'think' }
    await ask(ada, again)
    await ask(ada, again)
    const { body } = await benchmarks(ada, '?window=7d')
    expect(body.window).toBe('7d')
    expect(body.latency_by_mode).toMatchObject({ think: { count: 3 }, code: { count: 1 } })
    expect(body.ttft_by_mode).toEqual({ code: { p50: expect.any(Number), p95: expect.any(Number), count: 1 } })
    expect(body.classification).toEqual({ p50: expect.any(Number), p95: expect.any(Number), count: 1 })
    expect(body.counters).toMatchObject({ total: 5, failover_count: 0, routing_accuracy: 1 })
    expect(body.counters.by_mode).toMatchObject({ think: 3, code: 1 })
    expect(body.counters.total_cost_cents).toBeGreaterThan(plain.body.usage.cost_cents + auto.body.usage.cost_cents)
  })

  test('counts a choice that was corrected once, and one that was confirmed not at all', async () => {
    const ada = await world.person()
    const [one, two] = [await ask(ada, { mode: 'auto' }), await ask(ada, { mode: 'auto' })]
    await correct(ada, { completion_id: one.body.id, expected_mode: 'roast' })
    await correct(ada, { completion_id: one.body.id, expected_mode: 'genui' })
    await correct(ada, { completion_id: two.body.id, expected_mode: two.body.resolved_mode })
    expect((await benchmarks(ada)).body.counters.routing_accuracy).toBe(0.5)
  })

  test('counts what is said of a prompt, or of a mode that was asked for, as no choice of ours', async () => {
    const ada = await world.person()
    const chat = { model: 'svc-1-auto', messages: [{ role: 'user', content: freshPrompt('Write a haiku') }] }
    const wrong = (await ada.send('POST', 'chat/completions', chat)).body.id
    for (const _ of [1, 2, 3]) await ask(ada, { mode: 'auto' })
    const named = await ask(ada, { mode: 'think' })
    await correct(ada, { prompt: 'something else', expected_mode: 'roast' })
    await correct(ada, { prompt: 'and another', expected_mode: 'roast' })
    await correct(ada, { completion_id: named.body.id, expected_mode: 'roast' })
    await correct(ada, { completion_id: wrong, expected_mode: 'roast' })
    await correct(ada, { completion_id: wrong.replace('chatcmpl_', 'cmpl_'), expected_mode: 'genui' })
    expect((await benchmarks(ada)).body.counters.routing_accuracy).toBe(0.75)
  })

  test('measures answers: a call that failed is counted and has no latency', async () => {
    const ada = await world.person()
    expect((await ask(ada, { mode: 'fast', prompt: freshPrompt('[[401]]') })).status).toBe(503)
    const { body } = await benchmarks(ada)
    expect(body.latency_by_mode).toEqual({})
    expect(body.counters.by_mode).toEqual({ fast: 1 })
  })

  test("is of the caller's own calls: another user's and another org's are not in it", async () => {
    const [ada, bob, org] = [await world.person(), await world.person(), await world.person({ ofOrg: true })]
    const { id } = (await ask(ada, { mode: 'auto' })).body
    await correct(ada, { completion_id: id, expected_mode: 'roast' })
    for (const other of [bob, org])
      expect((await benchmarks(other)).body.counters).toMatchObject({ total: 0, routing_accuracy: 1, by_mode: {} })
    await ask(org, { mode: 'fast' })
    expect((await benchmarks(org)).body.counters).toMatchObject({ total: 1, by_mode: { fast: 1 } })
    expect((await benchmarks(ada)).body.counters).toMatchObject({ total: 1, routing_accuracy: 0 })
  })

  test('read again at once are the same figures under a request id of their own', async () => {
    const ada = await world.person()
    const [first, again] = [await benchmarks(ada), await ada.send('GET', 'benchmarks')]
    for (const { body, headers } of [first, again]) expect(body.request_id).toBe(headers.get('x-request-id'))
    expect(again.body).toEqual({ ...first.body, request_id: again.body.request_id })
  })

  test.each(['?window=1h', '?window=24H', '?window=', '?window=7d&window=30d'])('refuses %s', async (query) => {
    const { status, body } = await benchmarks(await world.person(), query)
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
  })
})
