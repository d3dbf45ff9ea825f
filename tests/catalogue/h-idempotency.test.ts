import { describe, expect, test } from 'bun:test'
import { startTarget } from './support'
import { pricedEngines } from './support/prices'
import { sendRaw } from './support/raw'
import type { Sending } from './support/reply'

/*
 * Area H, on the routes that take a key today. docs/attacks.md H4, H16 and the other requests of docs/attacks.md H5 are
 * in tests/idempotency, docs/attacks.md H14 and H17 (kill -9) in tests/chaos.
 */
const target = await startTarget({ env: pricedEngines })
const { send, people, upstream } = target

let made = 0
const newKey = () => `h-${++made}`
const post = (path: string, key: string, body?: unknown, sending: Sending = {}) =>
  send('POST', path, { body, ...sending, headers: { 'idempotency-key': key, ...sending.headers } })
const executions = (prompt: string) => upstream.calls.filter((call) => call.prompt.includes(prompt)).length
const FRESH = { headers: { 'cache-control': 'no-cache' } }
const ask = (prompt: string) => ({ prompt, mode: 'fast', conversation_id: null })
const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) =>
  `${status} ${body.error?.code ?? 'ok'}`

test.each([
  ['letters of another alphabet', Buffer.from('ключ')],
  ['a NUL', Buffer.from('a\0')],
  ['two headers', Buffer.from('k1\r\nIdempotency-Key: k2')],
])('H1, H11 a key that is none is 400, and nothing is done: %s, byte for byte', async (_, key) => {
  const prompt = `raw key ${++made}`
  const body = JSON.stringify(ask(prompt))
  const lines = `POST /api/v1/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${people.secrets.k1}\r\n`
  const rest = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`
  const bytes = Buffer.concat([Buffer.from(`${lines}${rest}Idempotency-Key: `), key, Buffer.from(`\r\n\r\n${body}`)])
  expect((await sendRaw(target.port, bytes)).statuses).toEqual([400])
  expect(executions(prompt)).toBe(0)
})

test('H5 a key used for a different request is 409, also for what is no JSON; other methods take no key', async () => {
  const key = newKey()
  const { body } = await post('keys', key, { name: 'first' })
  expect(codeOf(await post('keys', key, '{'))).toBe('409 idempotency_conflict')
  const renamed = await send('PATCH', `keys/${body.id}`, { body: { name: 'x' }, headers: { 'idempotency-key': key } })
  expect(renamed).toMatchObject({ status: 200, body: { name: 'x' } })
})

test("H7 the same user gets the answer with another key or a session; another user's request runs again", async () => {
  const key = newKey()
  const first = await post('keys', key, {})
  for (const as of ['k1b', 'session'] as const) expect((await post('keys', key, {}, { as })).text).toBe(first.text)
  const other = await post('keys', key, {}, { as: 'k2' })
  expect(other.headers.has('x-idempotent-replay')).toBe(false)
  expect(other.body.id).not.toBe(first.body.id)
})

describe('what is refused is not stored', () => {
  test('H8 a request that was invalid may be corrected under its key', async () => {
    const key = newKey()
    expect(codeOf(await post('keys', key, { name: 7 }))).toBe('400 validation_error')
    expect((await post('keys', key, { name: 'corrected' })).status).toBe(201)
  })

  test('nor is a lack of credit, nor a lack of scope, which comes first', async () => {
    const poor = await people.newcomer({ cents: 0, scopes: ['completions'] })
    const key = newKey()
    expect(codeOf(await post('completions', key, ask('poor'), { key: poor.key }))).toBe('402 insufficient_credits')
    expect(codeOf(await post('keys', 'not a key', {}, { key: poor.key }))).toBe('403 missing_scope')
    await target.ops('POST', '/ops/v1/credits', { owner: poor.email, amount_cents: 100 })
    expect((await post('completions', key, ask('poor'), { key: poor.key })).status).toBe(200)
  })

  test('H10 an engine that fails leaves the key free, no charge, and the retry is the one effect', async () => {
    const person = await people.newcomer({ cents: 100 })
    const key = newKey()
    const body = ask('fails [[fail:9]]')
    expect(codeOf(await post('completions', key, body, { key: person.key }))).toBe('503 engine_unavailable')
    expect(await target.moneyOf(person.email)).toEqual({ balance: 100, held: 0 })
    upstream.reset()
    const again = await post('completions', key, ask('works'), { key: person.key })
    expect(again.status).toBe(200)
    const { balance } = await target.moneyOf(person.email)
    expect(balance).toBeLessThan(100)
    expect((await post('completions', key, ask('works'), { key: person.key })).text).toBe(again.text)
    expect((await target.moneyOf(person.email)).balance).toBe(balance)
  })
})

test('H13 the answer is replayed even after its resource was deleted', async () => {
  const key = newKey()
  const first = await post('keys', key, {})
  expect((await send('DELETE', `keys/${first.body.id}`)).status).toBe(200)
  expect((await post('keys', key, {})).text).toBe(first.text)
})

test('H19 a replay counts as a request and costs no credit', async () => {
  const person = await people.newcomer({ cents: 100, tier: 'free' })
  const key = newKey()
  const left = async () => {
    const reply = await post('completions', key, ask('counted'), { key: person.key })
    return Number(reply.headers.get('x-ratelimit-remaining-requests'))
  }
  const first = await left()
  const paid = await target.moneyOf(person.email)
  expect(await left()).toBe(first - 1)
  expect(await target.moneyOf(person.email)).toEqual(paid)
})

test('a stream takes no key: it runs each time, and whatever the header says', async () => {
  const body = { ...ask('streamed'), stream: true }
  for (const key of ['h-stream', 'h-stream', 'no key at all'])
    expect((await post('completions', key, body, FRESH)).status).toBe(200)
  expect(executions('streamed')).toBe(3)
})
