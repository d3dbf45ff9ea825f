import { describe, expect, test } from 'bun:test'
import { eventually } from '../support/eventually'
import { keepsItsPromises } from './support/oracle'
import { head, open } from './support/raw'
import { startEdge } from './support/target'

/** A tenth of the usual time for bodies; connections are limited elsewhere. */
const target = await startEdge({ env: { SVC_BODY_SECONDS: '2' } })
const AUTH = `Authorization: Bearer ${target.people.secrets.k1}`
const JSON_TYPE = 'Content-Type: application/json'
const LONG_MS = 60_000

/** A connection on which something is written at once and, with `drip`, again every 100 ms while it is open. */
async function send(first: string, drip = '') {
  const socket = await open(target.port)
  const seen = { text: '', closed: false }
  const dripping = drip ? setInterval(() => socket.write(drip), 100) : undefined
  socket.on('data', (chunk) => {
    seen.text += chunk
  })
  socket.on('close', () => {
    clearInterval(dripping)
    seen.closed = true
  })
  socket.write(first)
  const statuses = () => [...seen.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
  return {
    socket,
    statuses,
    text: () => seen.text,
    closed: () => eventually(() => seen.closed),
    answered: () => eventually(statuses, (found) => found.length > 0),
  }
}

const headOf = (line: string, ...headers: string[]) => `${head(`${line} HTTP/1.1`, JSON_TYPE, ...headers)}\r\n\r\n`

describe('C. requests that do not come', () => {
  test(
    'C18 headers that never end are cut off, dripping or not',
    async () => {
      const half = head('GET /api/v1/health HTTP/1.1')
      const sockets = await Promise.all([send(half), send(`${half}\r\nX-A: `, 'a'), send('')])
      for (const socket of sockets) await socket.closed()
      expect(sockets.map(({ statuses }) => statuses())).toEqual([[], [], []])
    },
    LONG_MS,
  )

  test.each([
    ['POST /api/v1/auth/sessions', 'Content-Length: 900'],
    ['POST /api/v1/auth/signup', 'Content-Length: 16000'],
    ['POST /api/v1/auth/sessions', 'Transfer-Encoding: chunked'],
    ['POST /api/v1/billing/webhook', 'Content-Length: 900'],
    ['POST /sign-in/link', 'Content-Length: 900'],
    ['POST /api/v1/completions', 'Content-Length: 900'],
    ['POST /api/v1/chat/completions', 'Content-Length: 20000000'],
    ['POST /api/v1/keys', 'Transfer-Encoding: chunked'],
  ])(
    'C18 a body that drips is given up and its connection closed: %s, %s',
    async (line, framing) => {
      const form = line.startsWith('POST /sign-in') ? ['Content-Type: application/x-www-form-urlencoded'] : []
      const first = form.length ? `${head(`${line} HTTP/1.1`, ...form, framing)}\r\n\r\n` : headOf(line, AUTH, framing)
      const isChunked = framing.startsWith('Transfer')
      const slow = await send(first + (isChunked ? '1\r\n{\r\n' : '{'), isChunked ? '1\r\n \r\n' : ' ')
      expect(await slow.answered()).toEqual([504])
      expect(slow.text()).toContain('came too slowly')
      await slow.closed()
    },
    LONG_MS,
  )

  test(
    'C18 a body that comes slowly at more than the least rate is read to its end',
    async () => {
      const body = JSON.stringify({ prompt: 'What is 2+2?', padding: 'x'.repeat(30_000) })
      const slow = await send(headOf('POST /api/v1/completions', AUTH, `Content-Length: ${body.length}`))
      for (let at = 0; at < body.length; at += 500) {
        slow.socket.write(body.slice(at, at + 500))
        await Bun.sleep(60)
      }
      expect(await slow.answered()).toEqual([200])
      slow.socket.destroy()
    },
    LONG_MS,
  )

  test(
    'C18 an answer that left a body unread is the last on its connection',
    async () => {
      const rest = 'Content-Length: 900'
      const cases = {
        401: headOf('POST /api/v1/completions', 'Authorization: Bearer nobody', rest),
        404: headOf('POST /api/v1/nothing', AUTH, rest),
        405: headOf('PUT /api/v1/models', AUTH, rest),
        413: headOf('POST /api/v1/completions', AUTH, 'Content-Length: 30000000'),
        415: head('POST /api/v1/completions HTTP/1.1', AUTH, 'Content-Type: text/plain', `${rest}\r\n\r\n`),
        200: headOf('GET /api/v1/health', rest),
      }
      const sockets = await Promise.all(
        Object.entries(cases).map(async ([status, first]) => ({ status, sent: await send(`${first}{`, ' ') })),
      )
      for (const { status, sent } of sockets) {
        await sent.closed()
        expect(sent.statuses()).toEqual([Number(status)])
      }
    },
    LONG_MS,
  )
})

describe('C. memory without a credential', () => {
  const signIn = (password: string) => JSON.stringify({ email: 'a@example.com', password })
  const pad = (bytes: number) => signIn('x'.repeat(bytes - signIn('').length))

  test('B8 a public route takes 16 KB and no more, declared or not', async () => {
    const line = 'POST /api/v1/auth/sessions'
    const declared = await send(headOf(line, `Content-Length: ${16 * 1024 + 1}`))
    expect(await declared.answered()).toEqual([413])
    const body = pad(16 * 1024 + 1)
    const chunked = await send(
      `${headOf(line, 'Transfer-Encoding: chunked')}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    )
    expect(await chunked.answered()).toEqual([413])
    const max = pad(16 * 1024)
    const taken = await send(`${headOf(line, `Content-Length: ${max.length}`)}${max}`)
    expect((await taken.answered())[0]).toBeOneOf([400, 401])
    for (const { socket } of [declared, chunked, taken]) socket.destroy()
  })

  test(
    'B8 small bodies that stop before their end count, too: past the budget 503, while others are served',
    async () => {
      const line = 'POST /api/v1/auth/sessions'
      const max = pad(16 * 1024)
      const flood = await Promise.all(
        Array.from({ length: 700 }, () => send(`${headOf(line, `Content-Length: ${max.length}`)}${max.slice(0, -1)}`)),
      )
      const refused = () => flood.filter(({ statuses }) => statuses()[0] === 503).length
      await eventually(refused, (count) => count > 0)
      const small = pad(100)
      const meanwhile = await send(`${headOf(line, `Content-Length: ${small.length}`)}${small}`)
      expect(await meanwhile.answered()).toEqual([401])
      expect((await target.send('POST', 'completions', { body: { prompt: 'What is 2+2?' } })).status).toBe(200)
      for (const { closed } of flood) await closed()
      const again = await send(`${headOf(line, `Content-Length: ${max.length}`)}${max}`)
      expect((await again.answered())[0]).toBeOneOf([400, 401])
      for (const { socket } of [meanwhile, again]) socket.destroy()
    },
    LONG_MS,
  )
})

keepsItsPromises(target, { faults: true })
