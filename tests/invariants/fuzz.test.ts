import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { startTarget } from '../catalogue/support'
import { keepsItsPromises } from '../catalogue/support/oracle'
import { sendRaw } from '../catalogue/support/raw'
import { PIXEL } from '../support/pixel'

const target = await startTarget()
const RUNS = 1_200
const AT_ONCE = 16

/** Good requests of every route, as a start for what mutation makes of them. */
const GOOD: [string, string, object | null][] = [
  [
    'POST',
    'completions',
    {
      prompt: 'x',
      mode: 'fast',
      temperature: 1,
      metadata: { a: 1 },
      skills: ['a'],
      persona: 'svc',
      conversation_id: null,
      max_iterations: 2,
    },
  ],
  [
    'POST',
    'completions',
    {
      prompt: 'x',
      stream: true,
      format: 'compat',
      response_style: { format: 'table' },
      model_overrides: { fast: 'svc-1-flash' },
    },
  ],
  [
    'POST',
    'completions',
    {
      prompt: 'x',
      attachments: [{ type: 'image_base64', data: PIXEL, mime_type: 'image/png' }],
      conversation: { messages: [{ role: 'user', content: 'y' }] },
    },
  ],
  [
    'POST',
    'completions',
    {
      prompt: 'x',
      tools: [
        { name: 't', description: 'd', input_schema: { type: 'object' }, endpoint: { url: 'https://example.com' } },
      ],
    },
  ],
  [
    'POST',
    'chat/completions',
    {
      model: 'svc-1-flash',
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: [{ type: 'text', text: 'x' }] },
      ],
      stream: true,
      stream_options: { include_usage: true },
    },
  ],
  [
    'POST',
    'chat/completions',
    {
      messages: [{ role: 'user', content: 'x' }],
      tools: [],
      tool_choice: 'auto',
      response_format: { type: 'text' },
      n: 1,
    },
  ],
  [
    'POST',
    'keys',
    {
      name: 'k',
      scopes: ['completions'],
      daily_cap_cents: 5,
      allowed_origins: ['https://a.example'],
      expires_at: '2030-01-01T00:00:00.000Z',
    },
  ],
  ['PUT', 'keys/00000000-0000-4000-8000-000000000000', { name: 'k', brand_soul: { enabled: true, tone: 'dry' } }],
  ['PATCH', 'conversations/00000000-0000-4000-8000-000000000000', { title: 't' }],
  ['POST', 'auth/sessions', { email: 'u1@example.com', password: 'no' }],
  ['GET', 'conversations?limit=5&q=x&cursor=abc', null],
  ['GET', 'audit?limit=5&from=2026-01-01&to=2026-01-02&action=key.*&status=200', null],
  ['GET', 'models/svc-1-flash', null],
  ['DELETE', 'conversations/00000000-0000-4000-8000-000000000000', null],
]

const STRANGE: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  '',
  ' ',
  '\u200b',
  "' OR 1=1--",
  '../../etc/passwd',
  '\u202e',
  'a'.repeat(300),
  [],
  {},
  [[]],
  { $ne: null },
  ['__proto__'],
  '0000-13-99',
  '+275761-01-01T00:00:00Z',
  '$(jndi:x)',
  '=cmd|x',
  'NaN',
  [null],
  { length: 1e9 },
  '%00',
  '😀'.repeat(40),
]
const strange = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...STRANGE) },
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
)

type Change = { path: readonly number[]; value: unknown; how: 'set' | 'drop' | 'add' | 'wrap' }
const change: fc.Arbitrary<Change> = fc.record({
  path: fc.array(fc.nat(9), { minLength: 1, maxLength: 4 }),
  value: strange,
  how: fc.constantFrom('set', 'set', 'set', 'drop', 'add', 'wrap'),
})

/** Walks down as the numbers say and changes what stands there. */
function mutate(body: unknown, { path: [step = 0, ...rest], value, how }: Change): unknown {
  if (body === null || typeof body !== 'object') return value
  const copy = structuredClone(body) as Record<string, unknown>
  const names = Object.keys(copy)
  const name = names[step % Math.max(names.length, 1)]
  if (name === undefined || how === 'add') return { ...copy, [String(value).slice(0, 40)]: value }
  if (rest.length && typeof copy[name] === 'object') copy[name] = mutate(copy[name], { path: rest, value, how })
  else if (how === 'drop') delete copy[name]
  else copy[name] = how === 'wrap' ? [copy[name]] : value
  return copy
}

const inQuery = (path: string, value: unknown) =>
  `${path}${path.includes('?') ? '&' : '?'}limit=${encodeURIComponent(String(value).toWellFormed())}`

describe('I42, I43 whatever is sent', () => {
  test(`${RUNS} mutated requests are answered as the contract says, never with 5xx, by the same process`, async () => {
    const requests = fc.sample(
      fc.record({
        route: fc.nat(GOOD.length - 1),
        changes: fc.array(change, { minLength: 1, maxLength: 3 }),
        anonymous: fc.nat(19),
      }),
      { numRuns: RUNS, seed: 43 },
    )
    const failures: string[] = []
    const workers = Array.from({ length: AT_ONCE }, async () => {
      for (let request = requests.pop(); request; request = requests.pop()) {
        const [method, path, body] = GOOD[request.route]!
        const changed = body && request.changes.reduce<unknown>(mutate, body)
        const where = body ? path : request.changes.reduce((at, { value }) => inQuery(at, value), path)
        const as = request.anonymous === 0 ? null : 'k1'
        // The shape of each answer is checked on the way; what it may not be is a fault of the server.
        const { status, text } = await target.send(method, where, {
          as,
          ...(body ? { body: JSON.stringify(changed) ?? '' } : {}),
        })
        if (status >= 500) failures.push(`${method} ${where} ${JSON.stringify(changed)}: ${status} ${text}`)
      }
    })
    await Promise.all(workers)
    expect(failures).toEqual([])
  }, 60_000)

  test('800 broken bodies are 400 or, where they are still good, answered', async () => {
    const texts = GOOD.flatMap(([method, path, body]) => (body ? [[method, path, JSON.stringify(body)] as const] : []))
    const cuts = fc.sample(
      fc.record({
        which: fc.nat(texts.length - 1),
        at: fc.nat(300),
        length: fc.nat(4),
        put: fc.uint8Array({ maxLength: 6 }),
      }),
      { numRuns: 800, seed: 44 },
    )
    const failures: string[] = []
    const workers = Array.from({ length: AT_ONCE }, async () => {
      for (let cut = cuts.pop(); cut; cut = cuts.pop()) {
        const [method, path, text] = texts[cut.which]!
        const bytes = Buffer.from(text)
        const at = cut.at % bytes.length
        const broken = Buffer.concat([bytes.subarray(0, at), cut.put, bytes.subarray(at + cut.length)])
        const { status } = await target.send(method, path, { body: new Uint8Array(broken) })
        if (status >= 500) failures.push(`${method} ${path} ${broken.toString('latin1')}: ${status}`)
      }
    })
    await Promise.all(workers)
    expect(failures).toEqual([])
  }, 60_000)

  test('300 broken request heads end in a refusal, an answer or a closed connection', async () => {
    const head = `GET /api/v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${target.people.secrets.k1}\r\nConnection: close\r\n\r\n`
    const cuts = fc.sample(
      fc.record({ at: fc.nat(head.length - 1), length: fc.nat(5), put: fc.uint8Array({ maxLength: 5 }) }),
      { numRuns: 300, seed: 45 },
    )
    const statuses = new Set<number>()
    const workers = Array.from({ length: 32 }, async () => {
      for (let cut = cuts.pop(); cut; cut = cuts.pop()) {
        const bytes = Buffer.from(head, 'latin1')
        const broken = Buffer.concat([
          bytes.subarray(0, cut.at),
          cut.put,
          bytes.subarray(cut.at + cut.length),
          Buffer.from('\r\n\r\n'),
        ])
        for (const status of (await sendRaw(target.port, new Uint8Array(broken), 1)).statuses) statuses.add(status)
      }
    })
    await Promise.all(workers)
    expect([...statuses].filter((status) => ![200, 400, 401, 404, 405, 431, 505].includes(status))).toEqual([])
  }, 60_000)
})

keepsItsPromises(target)
