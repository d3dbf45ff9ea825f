import { expect, test } from 'bun:test'
import { createWorld, type Person } from '../support/world'

const world = await createWorld({ config: { traceBodies: true } })
const ada = await world.person()
const detail = async (who: Person, id: string) => (await who.send('GET', `requests/${id}`)).body
const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const ask = async (body: object) => (await ada.send('POST', 'completions', body)).body

test('requests and answers are kept once the account says so, and are sent again', async () => {
  const before = await ask({ prompt: 'What is 2 + 2?' })
  expect((await detail(ada, before.request_id)).bodies).toEqual({ kept: false, until: null })
  expect((await ada.send('POST', `requests/${before.request_id}/replay`, {})).status).toBe(409)
  expect((await ada.send('PATCH', 'settings', { keep_bodies: true, keep_bodies_days: 3 })).body.keep_bodies).toBe(true)
  const kept = await ask({ prompt: 'What is 3 + 4?', mode: 'fast' })
  const { bodies } = await detail(ada, kept.request_id)
  expect(bodies).toMatchObject({
    kept: true,
    request: { prompt: 'What is 3 + 4?', mode: 'fast' },
    response: kept.content,
  })
  expect(Date.parse(bodies.until) - Date.now()).toBeGreaterThan(2 * 86_400_000)
  const rows = (await ada.send('GET', 'requests')).body.requests
  const common = { method: 'POST', has_trace: true }
  const bytes = { bytes_in: Buffer.byteLength(JSON.stringify(bodies.request)), bytes_out: kept.content.length }
  expect(rows).toMatchObject([
    { ...common, ...bytes, request_id: kept.request_id, has_bodies: true },
    { ...common, request_id: before.request_id, bytes_in: null, bytes_out: null, has_bodies: false },
  ])
  const again = await ada.send('POST', `requests/${kept.request_id}/replay`, {})
  expect(again.body).toMatchObject({ content: kept.content, metadata: { replay_of: kept.request_id } })
  const estimate = await ada.send('POST', `requests/${kept.request_id}/replay`, { dry_run: true })
  expect(estimate.body.estimate_cents).toBeNumber()
  const chat = await ada.send('POST', 'chat/completions', { messages: [{ role: 'user', content: 'Say hello' }] })
  const id = chat.headers.get('x-request-id')!
  expect((await detail(ada, id)).bodies.kept).toBe(true)
  expect((await ada.send('POST', `requests/${id}/replay`, {})).body.choices.length).toBe(1)
  expect((await (await world.person()).send('POST', `requests/${kept.request_id}/replay`, {})).status).toBe(404)
})

test('with a request its tool calls are kept: what they were given, gave back, and when they ran', async () => {
  const weather = { name: 'get_weather', description: 'Weather of a city', input_schema: CITY }
  const weatherCall = { prompt: "What's the weather in Paris?", mode: 'fast', tools: [weather] }
  const { request_id } = await ask(weatherCall)
  const { bodies, steps, tools } = await detail(ada, request_id)
  expect(tools).toEqual(['get_weather'])
  const [call] = bodies.tools
  expect(call).toMatchObject({ name: 'get_weather', arguments: '{"city":"Paris"}' })
  expect(Math.min(call.at_ms, call.ms)).toBeGreaterThanOrEqual(0)
  const outcome = call.status === 'error' ? 'failed' : 'ok'
  expect(steps.find(({ kind }: { kind: string }) => kind === 'tool')).toMatchObject({ name: 'get_weather', outcome })
  await ada.send('PATCH', 'settings', { keep_bodies: false })
  const unkept = await detail(ada, (await ask({ ...weatherCall, prompt: "What's the weather in Oslo?" })).request_id)
  expect({ tools: unkept.tools, bodies: unkept.bodies }).toEqual({
    tools: ['get_weather'],
    bodies: { kept: false, until: null },
  })
  await ada.send('PATCH', 'settings', { keep_bodies: true })
})

test('what a guardrail changed is not kept, and nothing is where the operator does not allow it', async () => {
  const rules = [{ guardrail_id: 'pii', phase: 'input', verdict: 'redact', config: {} }]
  expect((await ada.send('POST', 'guardrail-policies', { name: 'mine', is_default: true, rules })).status).toBe(201)
  expect((await detail(ada, (await ask({ prompt: 'Write to ada@example.com' })).request_id)).bodies.kept).toBe(false)
  const refused = await (await (await createWorld()).person()).send('PATCH', 'settings', { keep_bodies: true })
  expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
})

test('parameters of a chat that is sent again count as at its address, or as the key says (docs/api.md 33.1)', async () => {
  const eve = await world.person()
  await eve.send('PATCH', 'settings', { keep_bodies: true })
  const request = { messages: [{ role: 'user', content: 'Count from one to ten' }], max_completion_tokens: 2 }
  for (const [base, usual] of [
    ['/v1', 'length'],
    ['/api/v1', 'stop'],
  ] as const) {
    const chat = await eve.send('POST', `${base}/chat/completions`, request)
    const again = `requests/${chat.headers.get('x-request-id')}/replay`
    for (const [chat_parameters, ends] of [
      ['by_base', usual],
      ['ignore', 'stop'],
      ['honor', 'length'],
    ] as const) {
      await eve.send('PUT', `keys/${eve.keyId}`, { chat_parameters })
      const { body } = await eve.send('POST', again, {})
      expect({ base, chat_parameters, ends: body.choices[0].finish_reason }).toEqual({ base, chat_parameters, ends })
    }
    await eve.send('PUT', `keys/${eve.keyId}`, { chat_parameters: 'by_base' })
  }
})
