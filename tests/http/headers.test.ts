// SQLite only: what the edge does before any module is asked.
import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import type { Reply } from '../support/world'

const { world } = await createUpstreamWorld()
const ada = await world.person()
const scopeless = await world.person({ scopes: ['tools'] })
const poor = await world.person({ cents: 0 })

const RATE = ['limit', 'remaining', 'reset'].flatMap((what) => [
  `x-ratelimit-${what}-requests`,
  `x-ratelimit-${what}-tokens`,
])

/** One answer of every kind there is. */
const ANSWERS: [string, number, () => Promise<Reply>][] = [
  ['a read', 200, () => ada.send('GET', 'models')],
  ['HEAD', 200, () => ada.send('HEAD', 'models')],
  ['health', 200, () => world.send('GET', 'health')],
  ['the document', 200, () => world.send('GET', '/openapi.json')],
  ['a completion', 200, () => ada.send('POST', 'completions', { prompt: freshPrompt() })],
  ['a stream', 200, () => ada.send('POST', 'completions', { prompt: freshPrompt(), stream: true })],
  [
    'a chat stream',
    200,
    () => ada.send('POST', 'chat/completions', { messages: [{ role: 'user', content: 'x' }], stream: true }),
  ],
  ['an array', 200, () => ada.send('GET', 'audit')],
  ['a session', 200, async () => (await world.signedIn(ada)).send('GET', 'auth/me')],
  ['the document for clients', 200, () => ada.send('GET', 'openapi.json')],
  ['something created', 201, () => ada.send('POST', 'keys', { name: 'x' })],
  ['a bad body', 400, () => ada.send('POST', 'completions', {})],
  ['no JSON', 400, () => ada.send('POST', 'completions', '{')],
  ['no key', 401, () => world.send('GET', 'models')],
  ['no money', 402, () => poor.send('POST', 'completions', { prompt: freshPrompt() })],
  ['no scope', 403, () => scopeless.send('GET', 'models')],
  ['no such thing', 404, () => ada.send('GET', 'models/none')],
  ['no such route', 404, () => ada.send('GET', 'nowhere')],
  ['no such page', 404, () => world.send('GET', '/nowhere')],
  ['another method', 405, () => ada.send('PUT', 'models', {})],
  [
    'too much',
    413,
    () => ada.send('POST', 'completions', { prompt: 'x' }, { 'content-length': String(25 * 1024 * 1024) }),
  ],
  [
    'no JSON by its type',
    415,
    () => ada.send('POST', 'completions', 'x', { 'content-type': 'text/plain', 'content-length': '1' }),
  ],
  ['what is not connected', 503, () => ada.send('POST', 'voice/token', {})],
]

describe('every answer (docs/api.md 1.3, I-14)', () => {
  test.each(ANSWERS)('%s is %i, with its id, six rate headers and no sniffing', async (_, status, ask) => {
    const reply = await ask()
    expect(reply.status).toBe(status)
    expect(reply.headers.get('x-request-id')).toMatch(/^req_[0-9A-Za-z]{24}$/)
    for (const name of RATE) expect(reply.headers.get(name)).not.toBeNull()
    expect(reply.headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+s$/)
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
    if (status >= 400) {
      const [, page] = /^<(\/docs\/errors\/\w+)>; rel="help"$/.exec(reply.headers.get('link') ?? '') ?? []
      expect((await world.send('GET', page ?? '/none')).status).toBe(200)
    }
    expect(reply.headers.get('cache-control')).toMatch(/no-store|no-cache, no-transform/)
    if (status >= 400) {
      expect(reply.body.error.request_id).toBe(reply.headers.get('x-request-id'))
      expect(reply.headers.get('content-type')).toStartWith('application/json')
    }
    if (status === 503) expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test.each(['mine', 'a\u00e9', '<script>', 'x'.repeat(10_000)])(
    'an id sent along is ignored: %j (A23)',
    async (id) => {
      const { headers } = await ada.send('GET', 'models', undefined, { 'x-request-id': encodeURIComponent(id) })
      expect(headers.get('x-request-id')).toMatch(/^req_/)
    },
  )

  test('no two have the same id', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => ada.send('GET', 'models')))
    expect(new Set(replies.map(({ headers }) => headers.get('x-request-id'))).size).toBe(50)
  })

  test('rate headers are of the key that asks, and count down', async () => {
    const bob = await world.person({ tier: 'free' })
    const left = async () => Number((await bob.send('GET', 'models')).headers.get('x-ratelimit-remaining-requests'))
    expect(await left()).toBe(59)
    expect(await left()).toBe(58)
    expect(await left()).toBe(57)
    const { headers } = await bob.send('GET', 'models')
    expect(headers.get('x-ratelimit-limit-requests')).toBe('60')
    expect(headers.get('x-ratelimit-limit-tokens')).toBe('100000')
  })

  test('without a key they are of Free, and a 401 takes nothing from anyone’s key', async () => {
    expect((await world.send('GET', 'health')).headers.get('x-ratelimit-limit-requests')).toBe('60')
    const before = Number((await ada.send('GET', 'models')).headers.get('x-ratelimit-remaining-requests'))
    for (let round = 0; round < 5; round++) await world.send('GET', 'models')
    expect(Number((await ada.send('GET', 'models')).headers.get('x-ratelimit-remaining-requests'))).toBe(before - 1)
  })

  test('over http no browser is told to insist on https; behind a public https address it is', async () => {
    expect((await world.send('GET', 'health')).headers.get('strict-transport-security')).toBeNull()
  })
})

describe('the tokens of an answer', () => {
  test('are taken off when it begins and corrected when it ends', async () => {
    const bob = await world.person({ tier: 'free' })
    const left = (reply: Reply) => Number(reply.headers.get('x-ratelimit-remaining-tokens'))
    const reply = await bob.send('POST', 'completions', { prompt: freshPrompt('[[tokens:50]]'), mode: 'fast' })
    expect(left(reply)).toBe(100_000 - reply.body.usage.total_tokens)
    expect(left(await bob.send('GET', 'models'))).toBe(100_000 - reply.body.usage.total_tokens)
  })

  test('of a remembered answer are none', async () => {
    const bob = await world.person({ tier: 'free' })
    const input = { prompt: freshPrompt(), mode: 'fast' }
    const first = await bob.send('POST', 'completions', input)
    const second = await bob.send('POST', 'completions', input)
    expect(second.body._cached).toBe(true)
    expect(second.headers.get('x-ratelimit-remaining-tokens')).toBe(first.headers.get('x-ratelimit-remaining-tokens')!)
  })
})
