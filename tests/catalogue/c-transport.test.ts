import { describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { eventually, startTarget } from './support'
import { hasNotBlocked, keepsItsPromises } from './support/oracle'
import { head, open, sendRaw, whole } from './support/raw'
import { attack, type Row } from './support/rows'

const target = await startTarget()
const { send, people } = target
const AUTH = `Authorization: Bearer ${people.secrets.k1}`

const models = { ask: 'GET models', is: 200 }
/** docs/attacks.md C10 is in tests/http/methods. */
const rows: Row[] = [
  {
    ...models,
    id: 'C14',
    what: 'a thousand ranges are answered whole',
    headers: { range: `bytes=${'0-,'.repeat(1_000)}0-` },
  },
  { ...models, id: 'C16', what: 'a traceparent that is none', headers: { traceparent: '00-<x>-\u00ff-01' } },
  { ...models, id: 'C16', what: '8 KB of baggage', headers: { baggage: 'a=b,'.repeat(2_000) } },
  {
    id: 'C7',
    what: 'forwarding headers change no address that is shown',
    ask: 'GET /openapi.json',
    as: null,
    headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', host: 'evil.example' },
    is: 200,
    also: ({ text }) => expect(text).not.toContain('evil.example'),
  },
  ...['..%2f..%2fetc', '%00', "'%20OR%201=1--", 'a'.repeat(2_000), '%F0%9F%94%91', '..', '%2e%2e%2fkeys'].flatMap(
    (id): Row[] => [
      {
        id: 'C17',
        what: `the id ${id.slice(0, 20)} of a conversation`,
        ask: `GET conversations/${id}`,
        // `..` is the base address itself, which says that somebody is there.
        is: id === '..' ? 200 : [400, 404],
      },
      { id: 'C17', what: `the id ${id.slice(0, 20)} of a key`, ask: `DELETE keys/${id}`, is: [400, 404, 405] },
      { id: 'C17', what: `the id ${id.slice(0, 20)} of a model`, ask: `GET models/${id}`, is: [200, 400, 404] },
    ],
  ),
]
attack('C. routes and headers', target, rows)

test.each([
  '/api/v1/models/../keys',
  '/%2e%2e/api/v1/keys',
  '/api/v1/models%2f..%2fkeys',
  '/api/v1/models\\..\\keys',
  '/api/v1//keys',
  '/api/v1/keys/',
  '/api/v1/./keys',
  '/api/v1/keys%00',
  '/api/v1/keys;a=b',
])(
  'C. paths that try to be others: C17 %s with a key without scopes is the route itself, refused, or no route',
  async (path) => {
    const bytes = whole(`GET ${path} HTTP/1.1`, `Authorization: Bearer ${people.secrets.k0}`)
    expect((await sendRaw(target.port, bytes, 1)).statuses[0]).toBeOneOf([400, 403, 404, 405])
  },
)

describe('C. connections', () => {
  test('C7 a forged X-Forwarded-For has no part in the anonymous count', async () => {
    const remaining = async (from: string) => {
      const { headers } = await send('GET', 'models', {
        as: null,
        headers: { 'x-forwarded-for': from, 'x-real-ip': from },
      })
      return Number(headers.get('x-ratelimit-remaining-requests'))
    }
    const [first, second] = [await remaining('10.0.0.1'), await remaining('10.0.0.2')]
    expect(second).toBeLessThan(Math.max(first, 1))
  })

  test('C19 beside 1,000 idle connections a new request is answered, and nothing holds up the event loop', async () => {
    const idle: Socket[] = []
    for (let batch = 0; batch < 10; batch++) {
      idle.push(...(await Promise.all(Array.from({ length: 100 }, () => open(target.port)))))
    }
    try {
      expect((await send('GET', 'models')).status).toBe(200)
      await hasNotBlocked(target)
    } finally {
      for (const socket of idle) socket.destroy()
    }
  })

  test('C18 a body that comes a byte at a time holds up nobody else', async () => {
    const slow = await open(target.port)
    slow.write(
      `${head('POST /api/v1/completions HTTP/1.1', AUTH, 'Content-Type: application/json', 'Content-Length: 100')}\r\n\r\n{`,
    )
    expect((await send('GET', 'models')).status).toBe(200)
    await hasNotBlocked(target)
    slow.destroy()
  })

  test('C20 100 connections reset before their answer have no effect twice, and leave no hold', async () => {
    const body = JSON.stringify({ prompt: 'reset [[held]]', conversation_id: null })
    const request = `${head('POST /api/v1/completions HTTP/1.1', AUTH, 'Content-Type: application/json', 'Cache-Control: no-cache', `Content-Length: ${body.length}`)}\r\n\r\n${body}`
    const callsBefore = target.upstream.calls.length
    const before = await target.moneyOf(people.emailOf('k1'))
    for (let round = 0; round < 5; round++) {
      const sockets = await Promise.all(Array.from({ length: 20 }, () => open(target.port)))
      const round = target.upstream.calls.length
      for (const socket of sockets) socket.write(request)
      await eventually(() => target.upstream.calls.length > round)
      for (const socket of sockets) socket.resetAndDestroy()
    }
    target.upstream.release()
    const after = await eventually(
      () => target.moneyOf(people.emailOf('k1')),
      ({ held }) => held === 0,
    )
    const calls = target.upstream.calls.length - callsBefore
    expect(calls).toBeLessThanOrEqual(100)
    const charged = (await send('GET', 'audit?limit=100')).body.reduce(
      (sum: number, { outputSummary }: { outputSummary: { cost_cents?: number } }) =>
        sum + (outputSummary.cost_cents ?? 0),
      0,
    )
    expect(before.balance - after.balance).toBeCloseTo(charged, 9)
  })
})

keepsItsPromises(target)
