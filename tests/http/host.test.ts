// SQLite only: a request with a false host reaches no row.
import { expect, test } from 'bun:test'
import { sendRaw } from '../catalogue/support/raw'
import { startTargetOn } from '../catalogue/support/target'

const target = await startTargetOn(null, { engine: 'builtin' })
const { k1 } = target.people.secrets
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'

const FALSE = ['evil"><script>', 'a/api/v1', 'x://y', '[::1', 'a:99999', 'a b', '%zz', 'xn--zzzzzz', ':80', '[::1]x']
const REQUESTS = [
  ['POST /mcp', CALL],
  ['GET /api/v1/models', ''],
  ['GET /api/v1/health', ''],
  ['GET /docs', ''],
] as const

const pending = (request: string, body: string, host: string | null) =>
  [
    `${request} HTTP/${host === null ? '1.0' : '1.1'}`,
    ...(host === null ? [] : [`Host: ${host}`]),
    `Authorization: Bearer ${k1}`,
    ...(body ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : []),
    'Accept: application/json, text/event-stream',
    'Connection: close',
    '',
    body,
  ].join('\r\n')

test.each(REQUESTS)('%s with a Host that is none is 400, in the envelope', async (request, body) => {
  for (const host of FALSE) {
    const { statuses, text } = await sendRaw(target.port, pending(request, body, host), 1)
    expect({ host, statuses }).toEqual({ host, statuses: [400] })
    expect(text).toContain('"code":"validation_error"')
    expect(text).toContain('The Host header')
  }
})

test.each(REQUESTS)('%s is served without a Host, which HTTP/1.0 does not ask for', async (request, body) => {
  for (const host of [null, '']) {
    const { statuses } = await sendRaw(target.port, pending(request, body, host), 1)
    expect({ host, statuses }).toEqual({ host, statuses: [200] })
  }
})
