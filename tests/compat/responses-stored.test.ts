import { describe, expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type ModelMessage } from 'ai'
import OpenAI from 'openai'
import { openApp } from '../../src/app/open'
import { expiredResponses } from '../../src/compat/stored'
import { createLog } from '../../src/kernel/log'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { WEATHER } from '../suites/compat'
import { fakeClock } from '../support/clock'
import { listen } from '../support/listening'
import { temporaryFolder } from '../support/temporary-folder'

const { world, upstream } = await createUpstreamWorld()
const baseURL = `${listen(world).origin}/v1`
const ada = await world.person()
const eve = await world.person()
const openai = new OpenAI({ baseURL, apiKey: ada.key, maxRetries: 0 })
const model = 'svc-1-flash'
const sent = () => JSON.stringify(upstream.calls.at(-1)!.body.messages)
const BASES = ['/api/v1', '/v1', '/openai', '/openai/v1', '/api/v1/v1']

describe('a stored response (docs/api.md 29.7)', () => {
  test('is read as it was answered, and its stream again', async () => {
    const stream = openai.responses.stream({ model, input: freshPrompt('[[say:one two three]]') })
    const events: OpenAI.Responses.ResponseStreamEvent[] = []
    for await (const event of stream) events.push(event)
    const response = await stream.finalResponse()
    const { body } = await ada.send('GET', `responses/${response.id}`)
    expect(body).toMatchObject({ id: response.id, usage: response.usage, status: 'completed' })
    expect(body.output[0].content[0].text).toBe('one two three')
    const again: OpenAI.Responses.ResponseStreamEvent[] = []
    for await (const event of await openai.responses.retrieve(response.id, { stream: true })) again.push(event)
    expect(again.at(-1)).toMatchObject({
      type: 'response.completed',
      sequence_number: events.at(-1)!.sequence_number,
      response: { output: body.output },
    })
    const rest = await openai.responses.retrieve(response.id, { stream: true, starting_after: 4 })
    expect((await Array.fromAsync(rest)).map((event) => event.sequence_number)[0]).toBe(5)
  })

  test('is gone on from, with its calls and their results (docs/api.md 33.6.7)', async () => {
    const tools = [{ type: 'function' as const, name: 'get_weather', parameters: WEATHER, strict: false }]
    const plan = '[[plan:get_weather{"location":"Oslo"}]] [[say:Snow it is.]]'
    const first = await openai.responses.create({
      model,
      input: freshPrompt(plan),
      tools,
      instructions: 'Like a pirate.',
    })
    const [call] = first.output
    if (call?.type !== 'function_call') throw new Error('no call')
    const second = await openai.responses.create({
      model,
      tools,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call.call_id, output: 'Snow.' }],
    })
    expect(second.output_text).toBe('Snow it is.')
    const third = await openai.responses.create({
      model,
      tools,
      previous_response_id: second.id,
      input: freshPrompt('[[say:Yes.]] Sure?'),
    })
    expect(third).toMatchObject({ output_text: 'Yes.', previous_response_id: second.id })
    for (const words of ['get_weather', 'Snow.', 'Snow it is.', 'Sure?']) expect(sent()).toContain(words)
    expect(sent()).not.toContain('Like a pirate.')
  })

  test('lists what it was given, page by page', async () => {
    const input = [1, 2, 3].map((number) => ({ role: 'user' as const, content: `${freshPrompt()} ${number}` }))
    const { id } = await openai.responses.create({ model, input })
    const items = await Array.fromAsync(openai.responses.inputItems.list(id, { limit: 2, order: 'asc' }))
    const texts: unknown[] = items.map(({ id: _, ...item }) => item)
    const whole = { type: 'message', role: 'user', status: 'completed' }
    expect(texts).toEqual(input.map(({ content }) => ({ ...whole, content: [{ type: 'input_text', text: content }] })))
  })

  test('is deleted', async () => {
    const { id } = await openai.responses.create({ model, input: freshPrompt() })
    expect((await ada.send('DELETE', `responses/${id}`)).body).toMatchObject({ id, object: 'response', deleted: true })
    expect((await ada.send('GET', `responses/${id}`)).status).toBe(404)
    const audit = await ada.send('GET', 'audit?action=response.deleted')
    expect(audit.body).toMatchObject([{ entityType: 'response', entityId: id }])
  })

  test('with store: false there is none, and its items are not looked up (docs/api.md 33.6.9)', async () => {
    const first = await openai.responses.create({ model, input: freshPrompt(), store: false })
    expect((await ada.send('GET', `responses/${first.id}`)).status).toBe(404)
    const { status } = await ada.send('POST', 'responses', {
      model,
      store: false,
      input: [...first.output, { role: 'user', content: freshPrompt() }],
    })
    expect(status).toBe(200)
  })

  test('what a stream broke off is stored as failed, and nothing goes on from it', async () => {
    const stream = openai.responses.stream({ model, input: freshPrompt('[[cut]][[slow:40]][[tokens:8]]') })
    const { id, status } = await stream.finalResponse()
    expect(status).toBe('failed')
    const { body } = await ada.send('GET', `responses/${id}`)
    expect(body).toMatchObject({
      status: 'failed',
      error: { code: expect.any(String) },
      output: [{ status: 'incomplete' }],
    })
    const next = await ada.send('POST', 'responses', { input: 'On', previous_response_id: id })
    expect(next.body.error).toMatchObject({ code: 'conflict' })
  })

  test('its items may be named, as the ai package does', async () => {
    const provider = createOpenAI({ baseURL, apiKey: ada.key })
    const messages: ModelMessage[] = [{ role: 'user', content: freshPrompt('[[say:Blue like the sea.]]') }]
    const first = await generateText({ model: provider(model), messages })
    messages.push(...first.response.messages, { role: 'user', content: freshPrompt('Why?') })
    await generateText({ model: provider(model), messages })
    expect(sent()).toContain('Blue like the sea.')
  })

  test('its items may be named by their ids alone, those that it was asked too', async () => {
    const { id, output } = await openai.responses.create({ model, input: freshPrompt('[[say:Green like moss.]]') })
    const { data } = await openai.responses.inputItems.list(id)
    for (const one of [output[0], data[0]]) expect(one!.id).toMatch(/^msg_[0-9A-Za-z]{24}$/)
    const named = [data[0]!.id, output[0]!.id].map((one) => ({ type: 'item_reference' as const, id: one! }))
    await openai.responses.create({ model, input: [...named, { role: 'user', content: freshPrompt('Why?') }] })
    expect(sent()).toContain('Green like moss.')
    expect(sent()).toContain('[[say:')
    const gone = await ada.send('POST', 'responses', {
      input: [{ type: 'item_reference', id: `msg_${'x'.repeat(24)}` }],
    })
    expect(gone).toMatchObject({ status: 404, body: { error: { code: 'not_found', param: 'input' } } })
  })

  test('many at once are stored each once, by the time at which they came', async () => {
    const at = Array.from({ length: 24 }, (_, number) =>
      ada.send('POST', 'responses', { model, input: freshPrompt(`[[say:Number ${number}.]]`) }),
    )
    const made = (await Promise.all(at)).map(({ body }) => body)
    const read = await Promise.all(made.map(({ id }) => ada.send('GET', `responses/${id}`)))
    expect(read.map(({ body }) => body.output)).toEqual(made.map(({ output }) => output))
    expect(new Set(made.map(({ id }) => id)).size).toBe(24)
    const { body: later } = await ada.send('POST', 'responses', { model, input: freshPrompt() })
    const begins = (id: string) => id.slice(0, 'resp_'.length + 8)
    expect(made.filter(({ id }) => begins(id) > begins(later.id))).toEqual([])
  })

  test('lists its input from an item of it, and no other', async () => {
    const { id } = await openai.responses.create({ model, input: freshPrompt() })
    const all = await openai.responses.inputItems.list(id)
    expect((await openai.responses.inputItems.list(id, { after: all.data[0]!.id! })).data).toEqual([])
    const wrong = openai.responses.inputItems.list(id, { after: 'msg_x' })
    expect(await wrong.catch(({ status, param }) => ({ status, param }))).toEqual({ status: 400, param: 'after' })
  })

  test('of somebody else is unknown at every base, whatever is done with it (docs/api.md 33.6.10)', async () => {
    const { id, output } = await openai.responses.create({ model, input: freshPrompt() })
    const unknown = `resp_${'x'.repeat(24)}`
    const own = (one: string) =>
      BASES.flatMap((base) => [
        eve.send('GET', `${base}/responses/${one}`),
        eve.send('DELETE', `${base}/responses/${one}`),
        eve.send('POST', `${base}/responses/${one}/cancel`),
        eve.send('GET', `${base}/responses/${one}/input_items`),
      ])
    const answers = async (all: ReturnType<typeof own>) =>
      (await Promise.all(all)).map(({ status, body }) => ({
        status,
        code: body.error.code,
        message: body.error.message,
      }))
    const refused = await answers(own(id))
    expect(refused.filter(({ status }) => status !== 404)).toEqual([])
    expect(refused).toEqual(await answers(own(unknown)))
    for (const base of BASES) {
      const next = await eve.send('POST', `${base}/responses`, { input: 'On', previous_response_id: id })
      expect(next).toMatchObject({ status: 404, body: { error: { code: 'previous_response_not_found' } } })
    }
    const item = await eve.send('POST', '/v1/responses', {
      input: [
        { type: 'item_reference', id: output[0]!.id },
        { role: 'user', content: 'On' },
      ],
    })
    expect(item).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    expect((await ada.send('GET', `responses/${id}`)).status).toBe(200)
  })
})

test('it is a row: another process reads it, until 30 days after its last use (docs/api.md 33.6.8)', async () => {
  const clock = fakeClock()
  const DAY_MS = 86_400_000
  const { world: aging } = await createUpstreamWorld({ clock })
  const bob = await aging.person()
  const respond = async (more: object = {}) =>
    (await bob.send('POST', 'responses', { model, input: freshPrompt(), ...more })).body.id as string
  const [used, unused] = [await respond(), await respond()]
  const dataDir = temporaryFolder('svc-again-')
  cpSync(aging.folder, dataDir, { recursive: true })
  const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
  const again = await openApp({ config: { ...aging.config, dataDir }, clock, log, serving: false })
  const request = new Request(`http://localhost/api/v1/responses/${used}`, {
    headers: { authorization: `Bearer ${bob.key}` },
  })
  const read = (await (await again.api.handle(request)).json()) as object
  await again.close()
  expect(read).toMatchObject({ id: used, output: [{ type: 'message' }] })

  const passed = async (days: number) => {
    clock.advance(days * DAY_MS)
    await expiredResponses({ store: aging.app.store, clock }).run({ signal: new AbortController().signal } as never)
    const replies = await Promise.all([used, unused].map((id) => bob.send('GET', `responses/${id}`)))
    return replies.map(({ status }) => status)
  }
  expect(await passed(29)).toEqual([200, 200])
  await respond({ previous_response_id: used })
  expect(await passed(2)).toEqual([200, 404])
  expect(await passed(28)).toEqual([404, 404])
})

test('tokens of an input are counted without a call', async () => {
  upstream.reset()
  const { body } = await ada.send('POST', 'responses/input_tokens', { model, input: 'Hello there', instructions: 'Hi' })
  expect(body.object).toBe('response.input_tokens')
  expect(body.input_tokens).toBeGreaterThan(2)
  expect(upstream.calls).toEqual([])
})
