import { describe, expect, test } from 'bun:test'
import { startTarget } from './support'
import { hasNotBlocked, keepsItsPromises } from './support/oracle'
import { attack, type Row } from './support/rows'

const target = await startTarget()
const { send, people } = target

const invalid = { is: 400, code: 'validation_error' } as const
const bytes = (text: string, encoding: 'utf16le' | 'utf8' | 'latin1') => new Uint8Array(Buffer.from(text, encoding))
const utf32 = (text: string) => new Uint8Array(Uint32Array.from([...text].map((char) => char.codePointAt(0)!)).buffer)
const BOM = '\ufeff'
const RANDOM_ID = '00000000-0000-4000-8000-000000000000'
const NOTHING = `conversations/${RANDOM_ID}`
const unknown = { id: 'B2', is: 404, code: 'not_found' }
const nested = (depth: number, open: string, close: string) =>
  `{"prompt":"x","metadata":{"a":${open.repeat(depth)}${close.repeat(depth)}}}`

/** docs/attacks.md B1: what is no object, on every route that takes one. */
const NO_OBJECTS = ['', 'null', '[]', '"x"', '1', 'true', '{', '{"prompt":', "{'prompt':'x'}", 'undefined', 'NaN']
const TAKERS = [
  'POST completions',
  'POST chat/completions',
  'POST auth/signup',
  'POST auth/sessions',
  `PATCH ${NOTHING}`,
  `PUT keys/${people.keyIds.k1}`,
]

const shapes: Row[] = [
  ...TAKERS.flatMap((ask) =>
    NO_OBJECTS.map(
      (body): Row => ({ ...invalid, id: 'B1', what: `${ask} with ${body || 'an empty body'}`, ask, body }),
    ),
  ),
  { ...invalid, id: 'B1', what: 'an empty object', body: {} },
  { ...invalid, id: 'B1', what: 'an empty object for chat', ask: 'POST chat/completions', body: {} },
  ...[undefined, { arg: null }].map(
    (body): Row => ({ ...invalid, id: 'B2', what: `PATCH with ${body}`, ask: `PATCH ${NOTHING}`, body }),
  ),
  { ...unknown, what: 'DELETE without a body', ask: `DELETE ${NOTHING}` },
  { ...unknown, what: 'DELETE with null', ask: `DELETE ${NOTHING}`, body: 'null' },
  { ...unknown, what: 'DELETE with a stranger member', ask: `DELETE keys/${RANDOM_ID}`, body: { arg: null } },
  { id: 'B4', what: 'a byte order mark is read over on completions', body: `${BOM}{"prompt":"bom"}`, is: 200 },
  { id: 'B4', what: 'and on keys', ask: 'POST keys', body: `${BOM}{"name":"bom"}`, is: 201 },
  { ...invalid, id: 'B5', what: 'UTF-16', body: bytes('{"prompt":"a"}', 'utf16le') },
  { ...invalid, id: 'B5', what: 'UTF-32', body: utf32('{"prompt":"a"}') },
  { ...invalid, id: 'B5', what: 'bytes that are no UTF-8', body: bytes('{"prompt":"\xff\xfe"}', 'latin1') },
  { ...invalid, id: 'B5', what: 'an overlong slash', body: bytes('{"prompt":"\xc0\xaf"}', 'latin1') },
  { ...invalid, id: 'B5', what: 'half of a surrogate pair', body: '{"prompt":"a\\ud83d"}' },
  { ...invalid, id: 'B5', what: 'half of one in a member name', body: '{"prompt":"a","metadata":{"\\ud83d":1}}' },
  { ...invalid, id: 'B7', what: 'an escaped NUL in the prompt', body: '{"prompt":"a\\u0000b"}' },
  { ...invalid, id: 'B7', what: 'an escaped NUL in metadata', body: '{"prompt":"a","metadata":{"k\\u0000":"v"}}' },
  { ...invalid, id: 'B7', what: 'a NUL byte', body: '{"prompt":"a\0b"}' },
  {
    id: 'B10',
    what: 'of a member given twice, the last counts everywhere',
    body: '{"prompt":"[[say:first]]","prompt":"[[say:last]]"}',
    is: 200,
    also: ({ body }) => expect(body.content).toBe('last'),
  },
]
attack('B. bodies', target, shapes)

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]))
const withMetadata = (metadata: object) => ({ id: 'B13', body: { prompt: 'x', metadata } })
const quickly: Row['also'] = () => hasNotBlocked(target)
const hostile: Row[] = [
  { ...invalid, id: 'B11', what: '100,000 lists in each other', body: '['.repeat(100_000), also: quickly },
  { ...invalid, id: 'B11', what: '50,000 objects in each other', body: '{"a":'.repeat(50_000), also: quickly },
  { ...invalid, id: 'B11', what: 'the same in metadata', body: nested(50_000, '[', ']'), also: quickly },
  { ...invalid, id: 'B13', what: 'metadata 65 deep', body: nested(65, '[', ']') },
  { id: 'B13', what: 'metadata 60 deep', body: nested(60, '[', ']'), is: 200 },
  { ...invalid, ...withMetadata(many(100_000)), what: 'metadata of 100,000 members' },
  { ...invalid, ...withMetadata({ ['k'.repeat(1_000_000)]: 1 }), what: 'a member name of 1 MB' },
  { ...invalid, ...withMetadata({ a: 'x'.repeat(16_384) }), what: 'a value of 16 KB' },
  { ...invalid, id: 'B11', what: 'a number of 400,000 digits', body: nested(400_000, '9', '') },
  {
    id: 'B16',
    what: 'a cookie named __proto__ is ignored',
    body: { prompt: 'x' },
    headers: { cookie: '__proto__=%7B%22a%22%3A1%7D; constructor=x' },
    is: 200,
  },
]
attack('B. hostile sizes and encodings', target, hostile)

describe('B. prototypes', () => {
  const poison = '{"isAdmin":true,"toString":1}'
  test.each([
    ['at the top', `{"prompt":"a","__proto__":${poison}}`],
    ['in metadata', `{"prompt":"a","metadata":{"__proto__":${poison},"constructor":{"prototype":${poison}}}}`],
    ['escaped', `{"prompt":"a","metadata":{"\\u005f_proto__":${poison}}}`],
    ['in a persona', `{"prompt":"a","persona":{"system_prompt":"x","__proto__":${poison}}}`],
    ['in a tool', `{"prompt":"a","tools":[{"name":"t","description":"d","input_schema":{"__proto__":${poison}}}]}`],
    [
      'in the inline conversation',
      `{"prompt":"a","conversation":{"messages":[{"role":"user","content":"x","__proto__":${poison}}]}}`,
    ],
  ])('B14 %s leave no trace', async (_, body) => {
    const { status, text } = await send('POST', 'completions', { body })
    expect(status).toBe(200)
    expect(text).not.toContain('__proto__')
    expect((await send('GET', 'rate-limits')).text).not.toContain('isAdmin')
  })
})

keepsItsPromises(target)
