import { expect, test } from 'bun:test'
import { startTarget } from './support'
import { keepsItsPromises } from './support/oracle'

/*
 * docs/attacks.md I-1, I-3, I-5, I-6, I-7, I-8 and I-14, docs/promises.md I14 and the 120 requests of a session are in
 * tests/limits/rate-limits.
 */
const target = await startTarget()
const { send, people } = target
const freeKey = async () => (await people.newcomer({ tier: 'free', cents: 100 })).key

test('I-13 streams count once each, when they start', async () => {
  const key = await freeKey()
  const chat = (content: string) => ({ messages: [{ role: 'user', content }], stream: true, model: 'svc-1-flash' })
  const replies = await Promise.all(
    Array.from({ length: 61 }, (_, n) => send('POST', 'chat/completions', { key, body: chat(`s${n}`) })),
  )
  const refused = replies.filter(({ status }) => status !== 200)
  // Each claims its tokens as well: 100,000 of them are fewer than 61 such calls may use (docs/promises.md I14).
  expect(refused.length).toBeWithin(0, 61)
  const codes = new Set(refused.map(({ body }) => body.error.code))
  expect(codes).toContain('rate_limit_exceeded')
  codes.delete('token_limit_exceeded')
  expect(codes.size).toBe(1)
  expect((await send('GET', 'rate-limits', { key })).body.error.code).toBe('rate_limit_exceeded')
})

test('I-4 what auto finds to be an image is counted as one, before any engine is asked', async () => {
  const key = await freeKey()
  const ask = (body: object) => send('POST', 'completions', { key, body })
  for (let n = 0; n < 20; n++) await ask({ prompt: 'a cat', mode: 'image' })
  const calls = target.upstream.calls.length
  const refused = await ask({ prompt: 'Draw a picture of a cat on a mat' })
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'mode_rate_limit_exceeded' } } })
  expect(target.upstream.calls.length).toBe(calls)
})

keepsItsPromises(target, { faults: true })
