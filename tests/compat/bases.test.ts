// SQLite only: what the edge does before any module is asked.
import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld()
const { key } = await world.person()
const order = { model: 'auto', messages: [{ role: 'user', content: 'hi' }] }

async function send(method: string, path: string, headers: Record<string, string>, body?: object) {
  const reply = await world.app.api.handle(
    new Request(`http://localhost${path}`, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )
  return { status: reply.status, headers: reply.headers, text: await reply.text() }
}

describe('the base addresses of clients (docs/api.md 32.1)', () => {
  test.each([
    '/api/v1/chat/completions',
    '/v1/chat/completions',
    '/v1/chat/completions/',
    '/v1//chat/completions?x=1',
    '/api/v1/v1/chat/completions',
    '/openai/v1/chat/completions?api-version=2024-10-21',
    '/openai/deployments/svc-1-flash/chat/completions',
  ])('POST %s answers a chat', async (path) => {
    const { status, text } = await send('POST', path, { authorization: `Bearer ${key}` }, order)
    expect({ path, status }).toEqual({ path, status: 200 })
    expect(JSON.parse(text)).toMatchObject({ object: 'chat.completion' })
  })

  test.each(['/v1/models', '/openai/models?api-version=1', '/openai/v1/models/svc-1-flash', '/api/v1/v1/models'])(
    'GET %s lists or tells models, and another method is 405',
    async (path) => {
      expect((await send('GET', path, { authorization: `Bearer ${key}` })).status).toBe(200)
      expect((await send('PUT', path, { authorization: `Bearer ${key}` }, {})).status).toBe(405)
    },
  )

  test.each(['/api/v1/models/', '/api/v1//models', '//api/v1/models//', '/api/v1/keys/', '/v1//models/'])(
    'slashes count once and none at the end: %s',
    async (path) => {
      expect((await send('GET', path, { authorization: `Bearer ${key}` })).status).toBe(200)
      const other = await send('PUT', path, { authorization: `Bearer ${key}` }, {})
      expect({ status: other.status, allow: other.headers.get('allow') }).toEqual({
        status: 405,
        allow: expect.stringContaining('GET'),
      })
    },
  )

  test('messages keep their form behind slashes too', async () => {
    const { status, text } = await send('GET', '/api/v1//messages/', { 'x-api-key': key })
    expect({ status, type: JSON.parse(text).type }).toEqual({ status: 405, type: 'error' })
  })

  test.each([
    ['HEAD', '/'],
    ['HEAD', '/v1'],
    ['GET', '/v1'],
    ['GET', '/api/v1'],
    ['GET', '/api/v1/'],
  ])('%s %s says that somebody is there, to whoever asks', async (method, path) => {
    const { status, text } = await send(method, path, {})
    expect({ status, text }).toEqual({ status: 200, text: '' })
  })

  test.each(['/v1/keys', '/openai/keys', '/openai/chat/completions', '/openai/deployments/x/models'])(
    'POST %s is no path of clients',
    async (path) => {
      expect((await send('POST', path, { authorization: `Bearer ${key}` }, {})).status).toBe(404)
    },
  )
})

describe('a base address that is wrong (docs/api.md 32.1)', () => {
  test.each([
    ['/v1/nothing', 'Set the base URL to http://127.0.0.1:3400/v1.'],
    ['/chat/completions', 'Set the base URL to http://127.0.0.1:3400/v1.'],
    ['/api/chat/completions', 'Set the base URL to http://127.0.0.1:3400/v1.'],
    ['/v1/v1/chat/completions', 'Set the base URL to http://127.0.0.1:3400/v1.'],
    ['/openai/chat/completions', 'Set the base URL to http://127.0.0.1:3400/v1.'],
    ['/v1/openai/embeddings', 'Set the base URL to http://127.0.0.1:3400/v1.'],
    ['/v1/chat/completions/chat/completions', 'the base URL is too long. Set it to http://127.0.0.1:3400/v1.'],
    ['/v1/chat/completions/v1/embeddings', 'the base URL is too long. Set it to http://127.0.0.1:3400/v1.'],
    ['/v1/v1/messages', 'Set the base URL to http://127.0.0.1:3400.'],
    ['/anthropic/v1/messages', 'Set the base URL to http://127.0.0.1:3400.'],
    ['/v1/messages/v1/messages', 'the base URL is too long. Set it to http://127.0.0.1:3400.'],
    ['/messages', 'Set the base URL to http://127.0.0.1:3400/v1.'],
  ])('POST %s is 404 and names the one to set', async (path, advice) => {
    const { status, text, headers } = await send('POST', path, { authorization: `Bearer ${key}` }, order)
    expect({ status, location: headers.get('location') }).toEqual({ status: 404, location: null })
    expect(JSON.parse(text).error.message).toEndWith(advice)
  })
})

describe('where the key may stand (docs/api.md 29.2, 33.6.21)', () => {
  test.each([
    ['/v1/models', { 'x-api-key': key }, 200],
    ['/v1/models', { authorization: 'Bearer sk-ant-other', 'x-api-key': key }, 200],
    ['/v1/models', { authorization: `Bearer ${key}`, 'x-api-key': 'sk-other' }, 200],
    ['/v1/models', { 'x-api-key': 'sk-other' }, 401],
    ['/v1/models', { 'api-key': key }, 401],
    ['/openai/models', { 'api-key': key }, 200],
    ['/openai/models', { 'x-api-key': key }, 401],
    ['/api/v1/models', { 'x-api-key': key }, 401],
    ['/api/v1/models', { 'api-key': key }, 401],
    ['/api/v1/v1/models', { 'x-api-key': key }, 401],
    ['/openai/v1/models', { 'x-api-key': key }, 401],
  ])('GET %s with %o is %d', async (path, headers, status) => {
    const got = await send('GET', path, headers as unknown as Record<string, string>)
    expect({ path, status: got.status }).toEqual({ path, status })
  })

  test.each(['/v1', '/api/v1', '/api/v1/v1', '/openai/v1'])('messages take it in x-api-key under %s', async (base) => {
    const messages = { ...order, max_tokens: 5 }
    for (const path of ['messages', 'messages/count_tokens'])
      expect((await send('POST', `${base}/${path}`, { 'x-api-key': key }, messages)).status).toBe(200)
    const fromAzure = await send('POST', `${base}/messages`, { 'api-key': key }, messages)
    expect(fromAzure.status).toBe(base === '/openai/v1' ? 200 : 401)
  })
})
