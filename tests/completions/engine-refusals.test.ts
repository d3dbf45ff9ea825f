import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const TOO_LONG = "Acme's maximum context length is 8192 tokens. However, your messages resulted in 10029 tokens."

const message = new Map<string, { status: number; body: unknown }>([
  ['too long', { status: 400, body: { error: { message: TOO_LONG, code: 'context_length_exceeded' } } }],
  ['vague', { status: 413, body: {} }],
  ['picture', { status: 422, body: { error: { message: 'acme-5 could not read the image' } } }],
  ['no model', { status: 404, body: { error: { message: 'no such model at Acme', code: 'model_not_found' } } }],
  ['no key', { status: 401, body: { error: { message: 'Acme key expired', code: 'invalid_api_key' } } }],
])

const clock = fakeClock()
const { world, upstream } = await createUpstreamWorld({
  isAlone: true,
  clock,
  upstream: { reply: (prompt) => [...message].find(([words]) => prompt.includes(words))?.[1] },
})
const ada = await world.person()

const wallet = () => world.app.container.billing.balance(world.app.store.read, `user:${ada.userId}`)
const lineOf = (requestId: string | null) =>
  world.logged.map((line) => JSON.parse(line)).find((line) => line.request_id === requestId && line.failure)

const ask = (words: string, members: object = {}) =>
  ada.send('POST', 'completions', { prompt: freshPrompt(words), mode: 'fast', ...members })

describe('a request that the engine refuses (docs/api.md 22.3)', () => {
  test.each([{}, { stream: true }])(
    'is 400 with both numbers, charged nothing, and logged whole: %j',
    async (members) => {
      const before = await wallet()
      const { status, headers, body } = await ask('too long', members)
      expect(status).toBe(400)
      expect(body.error).toMatchObject({
        code: 'validation_error',
        type: 'invalid_request_error',
        param: 'prompt',
        message:
          'This request comes to 10029 tokens; the maximum context length of the engine is 8192. Shorten it or split it.',
        details: [{ path: 'prompt', message: '10029 tokens, at most 8192' }],
      })
      expect(lineOf(headers.get('x-request-id'))).toMatchObject({
        failure: 'rejected',
        target: 'default:scripted',
        upstream_said: expect.stringContaining(TOO_LONG),
      })
      expect(await wallet()).toEqual(before)
      const [row] = (await ada.send('GET', 'audit?action=completion.failed')).body
      expect(row.outputSummary).toMatchObject({ status: 400, error_code: 'validation_error', cost_cents: 0 })
    },
  )

  test('names "messages" to chat clients', async () => {
    const messages = [{ role: 'user', content: freshPrompt('too long') }]
    const { status, body } = await ada.send('POST', 'chat/completions', { messages })
    expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'messages' })
    expect(body.error.message).toContain('maximum context length')
  })

  test('names our own count where the engine states none', async () => {
    const { body } = await ask('vague')
    expect(body.error.message).toMatch(/^This request comes to about \d+ tokens, which is more than/)
  })

  test('says what it was that could not be taken, and never who refused it', async () => {
    const { status, body, text } = await ask('picture')
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
    expect(body.error.message).toStartWith('The engine could not take an image of this request.')
    expect(text).not.toMatch(/acme/i)
  })

  test('is not written down word for word in a stealth mode', async () => {
    const { headers, status } = await ask('too long', { mode: 'stealth_text' })
    expect(status).toBe(400)
    expect(lineOf(headers.get('x-request-id'))).toMatchObject({ failure: 'rejected' })
    expect(lineOf(headers.get('x-request-id'))).not.toHaveProperty('upstream_said')
  })

  test('keeps nobody else out, and is no fault of the engine', async () => {
    for (let time = 0; time < 6; time++) expect((await ask('too long')).status).toBe(400)
    expect((await ask('Hello')).status).toBe(200)
    expect((await world.send('GET', 'health')).body.status).toBe('healthy')
  })
})

describe.each(['no model', 'no key'])('an upstream that has %s for us', (words) => {
  test('is the operator’s fault: 503, logged with its cause, degraded until it answers', async () => {
    const before = await wallet()
    const { status, headers, body, text } = await ask(words)
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'engine_unavailable' })
    expect(text).not.toMatch(/acme/i)
    const line = lineOf(headers.get('x-request-id'))
    expect(line).toMatchObject({ level: 50, failure: 'config', target: 'default:scripted' })
    expect(line.msg).toContain(words === 'no key' ? '401 (invalid_api_key)' : '404 (model_not_found)')
    expect(await wallet()).toEqual(before)
    const sick = (await world.send('GET', 'health')).body
    expect(sick.status).toBe('degraded')
    expect(sick.providers['svc-core'].status).toBe('down')
    expect((await ask('Hello')).status).toBe(200)
    expect((await world.send('GET', 'health')).body.status).toBe('healthy')
    expect(upstream.faults).toEqual([])
  })
})
