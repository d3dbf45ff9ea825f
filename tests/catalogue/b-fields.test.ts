import { expect, test } from 'bun:test'
import { startTarget } from './support'
import { startCanary } from './support/canary'
import { keepsItsPromises } from './support/oracle'
import { attack, type Row } from './support/rows'

const canary = await startCanary()
const target = await startTarget()
const { send } = target

const invalid = { is: 400, code: 'validation_error' } as const
const chat = (messages: unknown, more: object = {}) => ({ ask: 'POST chat/completions', body: { messages, ...more } })
const user = (content: string) => ({ role: 'user', content })
const tool = (input_schema: unknown) => ({
  ...{ id: 'B31', body: { prompt: 'x', tools: [{ name: 't', description: 'd', input_schema }] } },
})
const packed = (text: string) => Buffer.from(text).toString('base64url')
const CURSORS = ['not-base64!', '', 'AAAA', packed('{"a":1}'), packed('[1,2]'), packed('["x","y"]'), 'A'.repeat(513)]
const elsewhere = `http://127.0.0.1:${canary.port}/v1`

/*
 * docs/attacks.md B17, B19, B25, B26 and B29 are in tests/completions: refusals, modes, fields, stream, attachments,
 * chat/plain and chat/images; an address in a schema (docs/attacks.md B31) is in l-tools.
 */
attack('B. values', target, [
  { ...invalid, ...chat(Array(100_001).fill(user('x'))), id: 'B23', what: '100,001 messages' },
  { ...invalid, ...chat(Array(100_001).fill(null)), id: 'B23', what: '100,001 times null' },
  { ...invalid, ...chat([user('x'.repeat(20_000_000))]), id: 'B23', what: 'content of 20 MB' },
  { ...tool({ $ref: '#' }), what: 'a reference to itself', is: 200 },
  { ...tool({ description: 'x'.repeat(10_000_000) }), what: 'a schema of 10 MB', is: 400 },
  ...CURSORS.flatMap((cursor) => ['conversations', 'keys', 'audit'].map((list) => `${list}?cursor=${cursor}`))
    .concat(['0', '101', '-1', '1.5', 'x', '1e2x'].map((limit) => `conversations?limit=${limit}`))
    .map((path): Row => ({ ...invalid, id: 'B34', what: path.slice(0, 50), ask: `GET ${path}` })),
  {
    ...{ id: 'B35', what: 'members that nobody knows are ignored (docs/api.md 1.1)', ask: 'POST keys' },
    ...{ body: { name: 'a', nobody: 1 }, is: 201 },
  },
  { ...chat([user('x')], { nobody: 1, top_p: 'x' }), id: 'B35', what: 'and on chat', is: 200 },
  {
    id: 'J2',
    what: 'members and headers that name another host',
    headers: { 'x-svc-custom-host': elsewhere, 'x-forwarded-host': `127.0.0.1:${canary.port}` },
    body: { prompt: 'whose engine', api_base: elsewhere, base_url: elsewhere, custom_host: elsewhere },
    is: 200,
    also: () => expect(canary.connections()).toBe(0),
  },
])

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
    const refused = await send('GET', `${list}?cursor=${next_cursor}`)
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'validation_error', param: 'cursor' } } })
  },
)

keepsItsPromises(target)
