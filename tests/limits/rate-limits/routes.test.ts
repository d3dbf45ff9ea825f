import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../../support/clock'
import { createWorld, type Reply } from '../../support/world'

const clock = fakeClock()
const world = await createWorld({ clock })

const rates = ({ headers }: Reply) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-ratelimit-')))

describe('the requests of a key', () => {
  test('sixty a minute on Free, the next is 429 and says when (I-1)', async () => {
    const ada = await world.person({ tier: 'free' })
    const replies = await Promise.all(Array.from({ length: 61 }, () => ada.send('GET', 'models')))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(60)
    const refused = replies.find(({ status }) => status === 429)!
    expect(refused.body.error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' })
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBe(60)
    // Nodes count in Redis, by its clock.
    if (world.nodes.length > 1) return
    clock.advance((wait - 1) * 1_000)
    expect((await ada.send('GET', 'models')).status).toBe(429)
    clock.advance(1_000)
    expect((await ada.send('GET', 'models')).status).toBe(200)
  })

  test('are counted for refusals too, and a spoofed address changes nothing (I-7, I-14)', async () => {
    const ada = await world.person({ tier: 'free', scopes: ['completions'] })
    const attempts = [
      ['GET', 'models', 200],
      ['GET', 'nowhere', 404],
      ['DELETE', 'models', 405],
      ['GET', 'keys', 403],
      ['POST', 'completions', 400],
    ] as const
    let left = 60
    for (const [method, path, status] of attempts) {
      const body = method === 'POST' ? {} : undefined
      const reply = await ada.send(method, path, body, { 'x-forwarded-for': `203.0.113.${left}` })
      expect(reply.status).toBe(status)
      expect(rates(reply)).toMatchObject({
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': String(--left),
        'x-ratelimit-reset-requests': '60s',
        'x-ratelimit-limit-tokens': '100000',
        'x-ratelimit-remaining-tokens': '100000',
        'x-ratelimit-reset-tokens': '0s',
      })
    }
  })

  test('without a credential are shown an informational window of their address and never 429', async () => {
    // Each node counts what it is sent: nobody is refused for it.
    const tries = Array.from({ length: 70 * world.nodes.length }, () => world.send('GET', 'models'))
    const refused = await Promise.all(tries)
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]))
    expect(rates(refused.at(-1)!)).toMatchObject({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '0',
    })
    expect((await world.send('GET', 'health')).headers.get('x-ratelimit-limit-tokens')).toBe('100000')
  })
})

describe('tokens', () => {
  test('of a prompt that can never fit are 429 and say so (I-5)', async () => {
    const ada = await world.person({ tier: 'free' })
    const reply = await ada.send('POST', 'completions', { prompt: 'word '.repeat(105_000), mode: 'fast' })
    expect(reply.status).toBe(429)
    expect(reply.body.error).toMatchObject({ code: 'token_limit_exceeded', type: 'rate_limit_error' })
    expect(reply.body.error.message).toContain('can never fit')
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('go down by what a call really used', async () => {
    const ada = await world.person({ tier: 'free' })
    const reply = await ada.send('POST', 'completions', { prompt: 'What is 2 + 2?', mode: 'fast' })
    expect(reply.status).toBe(200)
    const status = (await ada.send('GET', 'rate-limits')).body
    expect(status.usage.tokens.remaining).toBe(100_000 - reply.body.usage.total_tokens)
  })
})

test('GET /rate-limits needs any valid key, whatever its scopes, and shows its own windows', async () => {
  const reply = await (await world.person({ tier: 'starter', scopes: [] })).send('GET', 'rate-limits')
  expect(reply.status).toBe(200)
  expect(reply.body).toEqual({
    tier: 'starter',
    window_seconds: 60,
    limits: { rpm: 300, tpm: 500_000 },
    mode_limits: { text: 300, stealth: 150, image: 100, research: 75, video: 50 },
    usage: {
      requests: { limit: 300, remaining: 299, reset: '60s' },
      tokens: { limit: 500_000, remaining: 500_000, reset: '0s' },
      modes: expect.objectContaining({ text: { limit: 300, remaining: 300, reset: '0s' } }),
    },
    key_overrides: { rpm_limit: null, tpm_limit: null },
    pending_request: null,
    request_id: reply.headers.get('x-request-id'),
  })
})
