import { describe, expect, test } from 'bun:test'
import { startTarget } from './support'
import { keepsItsPromises } from './support/oracle'
import type { Reply } from './support/reply'

const target = await startTarget()
const { send, people } = target

const freeKey = async (cents = 100) => (await people.newcomer({ tier: 'free', cents })).key
const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))
const statusesOf = (replies: readonly Reply[]) => replies.map(({ status }) => status)
describe('I. requests', () => {
  test('I-6 the limit is of the key: another key of the same user still has its own', async () => {
    await times(60, () => send('GET', 'models', { as: 'free' }))
    expect((await send('GET', 'models', { as: 'free' })).status).toBe(429)
    expect((await send('GET', 'models', { as: 'k1' })).status).toBe(200)
  })

  test('I-8 2,000 requests over the limit are cheap, and do not push the window out', async () => {
    const key = await freeKey()
    await times(60, () => send('GET', 'models', { key }))
    const first = await send('GET', 'models', { key })
    const began = performance.now()
    for (let round = 0; round < 20; round++) {
      expect(new Set(statusesOf(await times(100, () => send('GET', 'models', { key }))))).toEqual(new Set([429]))
    }
    const last = await send('GET', 'models', { key })
    const waited = Math.ceil((performance.now() - began) / 1_000)
    expect(Number(last.headers.get('retry-after'))).toBeWithin(
      Number(first.headers.get('retry-after')) - waited - 1,
      Number(first.headers.get('retry-after')) + 1,
    )
    expect((await send('GET', 'models')).status).toBe(200)
  })

  test('I-13 streams count once each, when they start', async () => {
    const key = await freeKey()
    const replies = await times(61, (n) =>
      send('POST', 'chat/completions', {
        key,
        body: { messages: [{ role: 'user', content: `s${n}` }], stream: true, model: 'svc-1-flash' },
      }),
    )
    const allowed = statusesOf(replies).filter((status) => status === 200)
    // Each claims its tokens as well: 100,000 of them are fewer than 61 such calls may use (docs/promises.md I14).
    expect(allowed.length).toBeWithin(1, 61)
    const refused = replies.filter(({ status }) => status !== 200)
    expect(refused.every(({ body }) => ['rate_limit_exceeded', 'token_limit_exceeded'].includes(body.error.code))).toBe(
      true,
    )
    expect(refused.some(({ body }) => body.error.code === 'rate_limit_exceeded')).toBe(true)
    const { body } = await send('GET', 'rate-limits', { key })
    expect(body.error.code).toBe('rate_limit_exceeded')
  })
})

describe('I. modes and tokens', () => {
  const image = (key: string) => send('POST', 'completions', { key, body: { prompt: 'a cat', mode: 'image' } })

  test('I-3 the 21st image request on Free is refused by its mode, and other modes go on', async () => {
    const key = await freeKey()
    const replies = []
    for (let n = 0; n < 21; n++) replies.push(await image(key))
    expect(statusesOf(replies.slice(0, 20))).toEqual(Array(20).fill(200))
    expect(replies[20]!.status).toBe(429)
    expect(replies[20]!.body.error.code).toBe('mode_rate_limit_exceeded')
    expect((await send('POST', 'completions', { key, body: { prompt: 'x', mode: 'fast' } })).status).toBe(200)
  })

  test('I-4 what auto finds to be an image is counted as one, before any engine is asked', async () => {
    const key = await freeKey()
    for (let n = 0; n < 20; n++) await image(key)
    const calls = target.upstream.calls.length
    const { status, body } = await send('POST', 'completions', {
      key,
      body: { prompt: 'Draw a picture of a cat on a mat' },
    })
    expect({ status, code: body.error.code }).toEqual({ status: 429, code: 'mode_rate_limit_exceeded' })
    expect(target.upstream.calls.length).toBe(calls)
  })

  test('stealth has its own column: 30 of 60', async () => {
    const key = await freeKey()
    const replies = []
    for (let n = 0; n < 31; n++)
      replies.push(await send('POST', 'completions', { key, body: { prompt: `s${n}`, mode: 'stealth_text' } }))
    expect(statusesOf(replies)).toEqual([...Array(30).fill(200), 429])
  })

  test('I14 parallel prompts of 3,000 tokens claim no more than the limit together', async () => {
    const key = await freeKey(1_000)
    const prompt = 'word '.repeat(2_700)
    const replies = await times(50, (n) =>
      send('POST', 'completions', {
        key,
        // Long enough for all fifty to have come before the first gives back what it did not use.
        body: { prompt: `${n} ${prompt} [[delay:3000]]`, mode: 'fast', conversation_id: null },
      }),
    )
    const refused = replies.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(15)
    expect(new Set(refused.map(({ body }) => body.error.code))).toEqual(new Set(['token_limit_exceeded']))
  })
})

describe('I. headers', () => {
  test('I-14 a refusal for the rate carries them too, with nothing left', async () => {
    const { status, headers } = await send('GET', 'models', { as: 'free' })
    expect(status).toBe(429)
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('0')
  })

  test('a session has 120 a minute, whatever it does', async () => {
    expect((await send('GET', 'auth/me', { as: 'session' })).headers.get('x-ratelimit-limit-requests')).toBe('120')
  })
})

keepsItsPromises(target, { faults: true })
