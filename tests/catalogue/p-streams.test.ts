import { describe, expect, test } from 'bun:test'
import { eventually, startTarget } from './support'
import { parseChat, parseNative, textOfChat } from './support/frames'
import { hasNotBlocked, keepsItsPromises } from './support/oracle'
import { pricedEngines, TOKEN_CENTS } from './support/prices'
import { head, open, sendRaw } from './support/raw'
import { attack } from './support/rows'

const target = await startTarget({ engine: 'builtin', env: pricedEngines })
const { send, people } = target

const chat = (content: string, more: object = {}) => ({ messages: [{ role: 'user', content }], stream: true, ...more })
/** A whole request, as bytes. */
const posted = (version: string, path: string, body: string) =>
  `${head(
    `POST /api/v1/${path} HTTP/${version}`,
    `Authorization: Bearer ${people.secrets.k1}`,
    ...['Content-Type: application/json', `Content-Length: ${body.length}`],
  )}\r\n\r\n${body}`

/*
 * docs/attacks.md P7, P8, P14 and P16 are in tests/completions/stream, tests/completions/chat/plain and
 * tests/invariants/sse-framing, docs/attacks.md P10 in tests/contract/tenants.
 */
attack(
  'P. how a stream is resumed',
  target,
  ['\\r\\n', '8', '-1', 'x'.repeat(8_000)].map((id) => ({
    ...{ id: 'P11', what: `Last-Event-ID ${id.slice(0, 10)} is ignored`, is: 200 },
    ...{ body: { prompt: 'x', mode: 'fast', stream: true }, headers: { 'last-event-id': id } },
    also: ({ text }) => void parseNative(text),
  })),
)

test('P14 an HTTP/1.0 client gets the same frames and an end', async () => {
  const bytes = posted('1.0', 'chat/completions', JSON.stringify(chat('[[say:old client]]')))
  const { statuses, text } = await sendRaw(target.port, bytes)
  expect(statuses).toEqual([200])
  expect(textOfChat(parseChat(text.slice(text.indexOf('data: '))))).toBe('old client')
})

describe('P. an engine that fails in the middle', () => {
  test('P13 a stream that never ends is ended at the budget with finish length', async () => {
    const person = await people.newcomer({ cents: 10 })
    const { text } = await send('POST', 'chat/completions', {
      key: person.key,
      body: chat('[[never]]', { model: 'svc-1-flash' }),
    })
    expect(parseChat(text).find(({ choices }) => choices?.[0]?.finish_reason).choices[0].finish_reason).toBe('length')
    const { balance, held } = await target.moneyOf(person.email)
    expect({ held, paid: 10 - balance }).toEqual({ held: 0, paid: expect.closeTo(1_000 * TOKEN_CENTS, 6) })
    await eventually(() => target.upstream.calls.at(-1)!.aborted || target.upstream.calls.at(-1)!.ended)
  })

  test.each(['huge-event', 'flood'])(
    'P13 %s ends in an error or at the budget, never in a bill past the hold',
    async (fault) => {
      const person = await people.newcomer({ cents: 10 })
      const { status, text } = await send('POST', 'completions', {
        key: person.key,
        body: { prompt: `[[${fault}]]`, mode: 'domain_analysis', stream: true },
      })
      if (status === 200) parseNative(text)
      else expect(status).toBe(503)
      const { balance, held } = await target.moneyOf(person.email)
      expect(held).toBe(0)
      expect(balance).toBeGreaterThan(0)
    },
  )
})

test('P4 a reader who stops reading stops the engine; nothing piles up', async () => {
  const roomy = { prompt: 'slow reader [[tokens:900]] [[slow:1]]', mode: 'vision', stream: true, conversation_id: null }
  const sockets = await Promise.all(Array.from({ length: 10 }, () => open(target.port)))
  for (const socket of sockets) {
    socket.pause()
    socket.write(posted('1.1', 'completions', JSON.stringify(roomy)))
  }
  expect((await send('GET', 'models')).status).toBe(200)
  await hasNotBlocked(target)
  for (const socket of sockets) socket.destroy()
  await eventually(async () => (await target.moneyOf(people.emailOf('k1'))).held === 0)
})

keepsItsPromises(target, { faults: true })
