import { describe, expect, test } from 'bun:test'
import { eventually, startTarget } from './support'
import { parseChat, parseNative, textOfChat, textOfNative } from './support/frames'
import { hasNotBlocked, keepsItsPromises } from './support/oracle'
import { pricedEngines, TOKEN_CENTS } from './support/prices'
import { head, open, sendRaw } from './support/raw'
import { attack, type Row } from './support/rows'

const target = await startTarget({ engine: 'builtin', env: pricedEngines })
const { send, people } = target

const chat = (content: string, more: object = {}) => ({ messages: [{ role: 'user', content }], stream: true, ...more })
const native = (prompt: string, more: object = {}) => ({ prompt, mode: 'fast', stream: true, ...more })

const rows: Row[] = [
  ...['\\r\\n', '8', '-1', 'x'.repeat(8_000)].map(
    (id): Row => ({
      id: 'P11',
      what: `Last-Event-ID ${id.slice(0, 10)} is ignored`,
      body: native('x'),
      headers: { 'last-event-id': id },
      is: 200,
      also: ({ text }) => void parseNative(text),
    }),
  ),
]
attack('P. how a stream is resumed', target, rows)

describe('P. frames', () => {
  test('a native stream is meta, tokens, done, with the text in both, and headers that no proxy buffers', async () => {
    const { text, headers } = await send('POST', 'completions', {
      body: native('plain [[say:one two three]]', { metadata: { a: 1 } }),
    })
    const frames = parseNative(text)
    expect(textOfNative(frames)).toBe('one two three')
    expect(frames.at(-1)!.data).toMatchObject({
      content: 'one two three',
      metadata: { a: 1 },
      usage: { completion_tokens: expect.any(Number) },
    })
    expect(frames[0]!.data.request_id).toBe(headers.get('x-request-id'))
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    // docs/attacks.md P16 over the row: docs/api.md 3 says no-cache where the row says no-store.
    expect(headers.get('cache-control')).toBe('no-cache, no-transform')
    expect(headers.get('x-accel-buffering')).toBe('no')
  })

  test('P14 a chat stream has one id, a role first, one finish, the usage when asked for, and [DONE]', async () => {
    const { text } = await send('POST', 'chat/completions', {
      body: chat('[[say:a b c]]', { stream_options: { include_usage: true } }),
    })
    const chunks = parseChat(text)
    expect(textOfChat(chunks)).toBe('a b c')
    expect(chunks[0]!.choices[0].delta).toEqual({ role: 'assistant', content: '' })
    expect(
      chunks.filter(({ choices }) => choices[0]?.finish_reason).map(({ choices }) => choices[0].finish_reason),
    ).toEqual(['stop'])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } })
    expect(chunks.slice(1, -2).every(({ choices }) => Object.keys(choices[0].delta).join() === 'content')).toBe(true)
  })

  test('P14 an HTTP/1.0 client gets the same frames and an end', async () => {
    const body = JSON.stringify(chat('[[say:old client]]'))
    const bytes = `${head('POST /api/v1/chat/completions HTTP/1.0', `Authorization: Bearer ${people.secrets.k1}`, 'Content-Type: application/json', `Content-Length: ${body.length}`)}\r\n\r\n${body}`
    const { statuses, text } = await sendRaw(target.port, bytes)
    expect(statuses).toEqual([200])
    expect(textOfChat(parseChat(text.slice(text.indexOf('data: '))))).toBe('old client')
  })

  const evil =
    'before\n\nevent: done\ndata: {"content":"forged"}\n\nafter\r\rdata: DONE\u2028\u2029\u0085\ufeff event: error'
  test('P8 text that looks like SSE frames is sent as text', async () => {
    const one = await send('POST', 'completions', { body: native(`[[say:${evil}]]`, { conversation_id: null }) })
    const frames = parseNative(one.text)
    expect(textOfNative(frames)).toBe(evil)
    expect(frames.at(-1)!.data.content).toBe(evil)
    const two = await send('POST', 'chat/completions', { body: chat(`[[say:${evil}]]`) })
    expect(textOfChat(parseChat(two.text))).toBe(evil)
  })
})

describe('P. an engine that fails in the middle', () => {
  test.each([
    ['cut', 'think'],
    ['truncate', 'code'],
    ['cut', 'roast'],
    ['truncate', 'genui'],
  ])('P7 %s (mode %s): what was said is paid, an error ends it, nothing says done', async (fault, mode) => {
    const person = await people.newcomer({ cents: 10 })
    const reply = await send('POST', 'completions', {
      key: person.key,
      body: { prompt: `[[${fault}]] [[tokens:40]]`, mode, stream: true },
    })
    const end = parseNative(reply.text).at(-1)!
    expect(end.event).toBe('error')
    expect(end.data.error).toMatchObject({ code: 'engine_unavailable', request_id: reply.headers.get('x-request-id') })
    expect(reply.text).not.toContain('acme-vendor')
    const { balance, held } = await target.moneyOf(person.email)
    expect(held).toBe(0)
    expect(10 - balance).toBeGreaterThan(0)
    expect((await send('GET', 'audit?action=completion.*', { key: person.key })).body[0]).toMatchObject({
      action: 'completion.failed',
      outputSummary: { error_code: 'engine_unavailable' },
    })
  })

  test('P7 a broken chat stream reports it in one frame, then sends [DONE]', async () => {
    const { text } = await send('POST', 'chat/completions', {
      body: chat('[[truncate]] [[tokens:10]]', { model: 'svc-1-flash' }),
    })
    const chunks = parseChat(text)
    expect(chunks.at(-1).error).toMatchObject({ code: 'engine_unavailable', type: 'api_error' })
    expect(chunks.some(({ choices }) => choices?.[0]?.finish_reason)).toBe(false)
  })

  test('P13 a stream that never ends is ended at the budget with finish length', async () => {
    const person = await people.newcomer({ cents: 10 })
    const { text } = await send('POST', 'chat/completions', {
      key: person.key,
      body: chat('[[never]]', { model: 'svc-1-flash' }),
    })
    expect(parseChat(text).find(({ choices }) => choices?.[0]?.finish_reason).choices[0].finish_reason).toBe('length')
    const { balance, held } = await target.moneyOf(person.email)
    expect({ held, paid: 10 - balance }).toEqual({ held: 0, paid: expect.closeTo(1_000 * TOKEN_CENTS, 6) })
    await eventually(
      () => target.upstream.calls.at(-1)!,
      ({ aborted, ended }) => aborted || ended,
    )
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

describe('P. readers', () => {
  test('P4 a reader who stops reading stops the engine; nothing piles up', async () => {
    const roomy = {
      prompt: `slow reader [[tokens:900]] [[slow:1]]`,
      mode: 'vision',
      stream: true,
      conversation_id: null,
    }
    const body = JSON.stringify(roomy)
    const sockets = await Promise.all(Array.from({ length: 10 }, () => open(target.port)))
    for (const socket of sockets) {
      socket.pause()
      socket.write(
        `${head('POST /api/v1/completions HTTP/1.1', `Authorization: Bearer ${people.secrets.k1}`, 'Content-Type: application/json', `Content-Length: ${body.length}`)}\r\n\r\n${body}`,
      )
    }
    expect((await send('GET', 'models')).status).toBe(200)
    await hasNotBlocked(target)
    for (const socket of sockets) socket.destroy()
    await eventually(
      () => target.moneyOf(people.emailOf('k1')),
      ({ held }) => held === 0,
    )
  })

  test("P10 another's conversation cannot be streamed into, nor an answer be asked for again by its id", async () => {
    const { body } = await send('POST', 'completions', { body: { prompt: 'mine', mode: 'fast' } })
    const foreign = await send('POST', 'completions', {
      as: 'k2',
      body: native('x', { conversation_id: body.conversation_id }),
    })
    const random = await send('POST', 'completions', {
      as: 'k2',
      body: native('x', { conversation_id: crypto.randomUUID() }),
    })
    expect(foreign.status).toBe(404)
    expect({ ...foreign.body.error, request_id: '' }).toEqual({ ...random.body.error, request_id: '' })
    for (const path of [`completions/${body.id}`, `conversations/${body.conversation_id}`]) {
      expect((await send('GET', path, { as: 'k2', headers: { 'last-event-id': body.id } })).status).toBe(404)
    }
  })
})

keepsItsPromises(target, { faults: true })
