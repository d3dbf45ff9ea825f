import { describe, expect, test } from 'bun:test'
import { startTarget } from './support'
import { startCanary } from './support/canary'
import { keepsItsPromises } from './support/oracle'
import { attack, type Row } from './support/rows'

const canary = await startCanary()
const target = await startTarget()
const { send } = target

const invalid = { is: 400, code: 'validation_error' } as const
const chat = { ask: 'POST chat/completions' } as const
const messages = (list: unknown) => ({ ...chat, body: { messages: list } })
const user = (content: unknown) => messages([{ role: 'user', content }])
const picture = (url: unknown) =>
  user([
    { type: 'text', text: 'see' },
    { type: 'image_url', image_url: { url } },
  ])
const tool = (input_schema: unknown) => ({
  body: { prompt: 'x', tools: [{ name: 't', description: 'd', input_schema }] },
})

const numbers: Row[] = [
  ...[0, 2].map(
    (temperature): Row => ({
      id: 'B17',
      what: `temperature ${temperature}`,
      body: { prompt: 'x', temperature },
      is: 200,
    }),
  ),
  {
    id: 'B19',
    what: 'mode research runs inline with a warning that names its job endpoint (docs/api.md 2.4 over the row)',
    body: { prompt: 'x', mode: 'research' },
    is: 200,
    also: ({ body }) => expect(body.warnings.join()).toContain('/research'),
  },
]
attack('B. numbers and words that are taken', target, numbers)

const chats: Row[] = [
  {
    ...invalid,
    ...messages(Array.from({ length: 100_001 }, () => ({ role: 'user', content: 'x' }))),
    id: 'B23',
    what: '100,001 messages',
  },
  { ...invalid, ...messages(Array.from({ length: 100_001 }, () => null)), id: 'B23', what: '100,001 times null' },
  { ...invalid, ...user('x'.repeat(20_000_000)), id: 'B23', what: 'content of 20 MB' },
  ...['svc_1', '../../x', '__proto__', 'constructor', 'gpt-4', 'm'.repeat(1_000_000)].map(
    (model): Row => ({
      ...chat,
      id: 'B26',
      what: `the model ${model.slice(0, 20)} falls back to auto`,
      body: { model, messages: [{ role: 'user', content: 'hi' }] },
      is: 200,
      also: ({ body }) => expect(body.svc_metadata.mode).toBe('auto'),
    }),
  ),
]
attack('B. chat and engines', target, chats)

const values: Row[] = [
  {
    id: 'B29',
    what: 'unknown skills are skipped and named once each (docs/api.md 2.1 over the row)',
    body: { prompt: 'x', skills: ['../x', 'twice', 'twice'] },
    is: 200,
    also: ({ body }) => expect(body.warnings).toHaveLength(2),
  },
  {
    ...tool({ $ref: `http://127.0.0.1:${canary.port}/s` }),
    id: 'B31',
    what: 'a reference to an address is refused, not followed',
    is: 400,
  },
  { ...tool({ $ref: '#' }), id: 'B31', what: 'a reference to itself', is: 200 },
  { ...tool({ description: 'x'.repeat(10_000_000) }), id: 'B31', what: 'a schema of 10 MB', is: 400 },
  ...[
    'not-base64!',
    '',
    'AAAA',
    'eyJhIjoxfQ',
    Buffer.from('[1,2]').toString('base64url'),
    Buffer.from('["x","y"]').toString('base64url'),
    `${'A'.repeat(513)}`,
  ].flatMap((cursor) =>
    ['conversations', 'keys', 'audit'].map(
      (list): Row => ({
        ...invalid,
        id: 'B34',
        what: `/${list}?cursor=${cursor.slice(0, 20)}`,
        ask: `GET ${list}?cursor=${cursor}`,
      }),
    ),
  ),
  ...['0', '101', '-1', '1.5', 'x', '1e2x'].map(
    (limit): Row => ({ ...invalid, id: 'B34', what: `limit ${limit}`, ask: `GET conversations?limit=${limit}` }),
  ),
  {
    id: 'B35',
    what: 'members that nobody knows are ignored (docs/api.md 1.1)',
    ask: 'POST keys',
    body: { name: 'a', nobody: 1 },
    is: 201,
  },
  {
    id: 'B35',
    what: 'and on chat',
    ...chat,
    body: { messages: [{ role: 'user', content: 'x' }], nobody: 1, top_p: 'x' },
    is: 200,
  },
]
attack('B. values', target, values)

const elsewhere = `http://127.0.0.1:${canary.port}/v1`
attack('J. where an engine is', target, [
  {
    id: 'J2',
    what: 'members and headers that name another host',
    headers: { 'x-svc-custom-host': elsewhere, 'x-forwarded-host': `127.0.0.1:${canary.port}` },
    body: { prompt: 'whose engine', api_base: elsewhere, base_url: elsewhere, custom_host: elsewhere },
    is: 200,
    also: () => expect(canary.connections()).toBe(0),
  },
])

describe('B. addresses in content', () => {
  test.each([
    ['the metadata service', 'http://169.254.169.254/latest/meta-data/'],
    ['loopback', `http://127.0.0.1:${canary.port}/a.png`],
    ['loopback in one number', `http://2130706433:${canary.port}/a.png`],
    ['loopback in IPv6', `http://[::ffff:127.0.0.1]:${canary.port}/a.png`],
    ['a name of loopback', `http://localhost:${canary.port}/a.png`],
    ['a file', 'file:///etc/hostname'],
    ['nothing', 'http://'],
  ])('B25 %s is refused before anyone connects', async (_, url) => {
    const { status, body } = await send('POST', 'chat/completions', picture(url))
    expect(status).toBe(400)
    expect(body.error.code).toBeOneOf(['url_blocked', 'validation_error'])
    const native = await send('POST', 'completions', {
      body: { prompt: 'see', mode: 'vision', attachments: [{ type: 'image_url', url }] },
    })
    expect(native.status).toBe(400)
    expect(canary.connections()).toBe(0)
  })

  test("B34 another's cursor shows one's own rows only", async () => {
    for (let at = 0; at < 3; at++) await send('POST', 'completions', { body: { prompt: `mine ${at}` } })
    const mine = await send('GET', 'conversations?limit=1')
    const { body } = await send('GET', `conversations?cursor=${mine.body.next_cursor}`, { as: 'k2' })
    expect(body.conversations).toEqual([])
  })

  test.each(['keys', 'jobs', 'memory', 'artifacts', 'skills', 'audit', 'requests', 'billing/ledger'])(
    'B34 GET %s refuses the cursor of another list',
    async (list) => {
      for (let at = 0; at < 2; at++) await send('POST', 'completions', { body: { prompt: `mine ${at}` } })
      const { next_cursor } = (await send('GET', 'conversations?limit=1')).body
      const { status, body } = await send('GET', `${list}?cursor=${next_cursor}`)
      expect({ status, code: body.error.code, param: body.error.param }).toEqual({
        status: 400,
        code: 'validation_error',
        param: 'cursor',
      })
    },
  )
})

keepsItsPromises(target)
