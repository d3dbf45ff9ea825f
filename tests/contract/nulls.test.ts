// SQLite only: what is read before anything is stored.
import { describe, expect, test } from 'bun:test'
import { checked, checkedQuery, nullable, oneOf, SchemaRefusal, t } from '../../src/kernel/schema'
import { createUpstreamWorld } from '../completions/upstream-world'

const Part = t.Union([
  t.Object({ type: t.Literal('text'), text: t.String(), note: t.Optional(t.String()) }),
  t.Object({ type: t.Literal('image'), url: t.String() }),
])
const Order = t.Object({
  name: t.String(),
  mode: t.Optional(oneOf(['a', 'b'] as const)),
  title: t.Optional(nullable(t.String())),
  parts: t.Optional(t.Array(Part, { maxItems: 3 })),
  choice: t.Optional(t.Union([oneOf(['auto'] as const), t.Object({ name: t.String(), why: t.Optional(t.String()) })])),
})
const read = (value: unknown, nulls?: 'refused') =>
  checked(Order, { undeclared: 'kept', ...(nulls ? { nulls } : {}) })['~standard'].validate(value) as {
    value?: unknown
  }

test('members that a schema does not declare are dropped, unless the route keeps them (docs/api.md 1.1)', () => {
  const sent = JSON.parse('{"name":"n","owner":"o","__proto__":{"a":1},"parts":[]}')
  expect(checked(Order)['~standard'].validate(sent)).toEqual({ value: { name: 'n', parts: [] } })
  expect(read(sent).value).toBe(sent)
  const query = checkedQuery(t.Object({ limit: t.Integer({ default: 50 }) }))['~standard']
  expect(query.validate({ owner: 'o' })).toEqual({ value: { limit: 50 } })
})

describe('null for an optional member (docs/api.md 1.4)', () => {
  test.each([
    ['leaves the member out', { name: 'n', mode: null, parts: null }, { name: 'n' }],
    ['stays where null has a meaning', { name: 'n', mode: null, title: null }, { name: 'n', title: null }],
    ['in an entry', { name: 'n', parts: [{ type: 'text', text: 't', note: null }] }, { parts: [{ text: 't' }] }],
    ['in one of several forms', { name: 'n', choice: { name: 'c', why: null } }, { choice: { name: 'c' } }],
    ['beside members that no schema names', { name: 'n', mode: null, other: null }, { other: null }],
    ['beside __proto__', JSON.parse('{"name":"n","mode":null,"__proto__":{"a":1}}'), { name: 'n' }],
  ])('%s', (_, value, left) => {
    const kept = read(value).value as object
    expect(kept).toMatchObject(left)
    expect(JSON.stringify(kept).includes('mode')).toBe(false)
    expect(Object.getPrototypeOf(kept)).toBe(Object.prototype)
  })

  test.each([
    ['a required member', { name: null }, 'name'],
    ['an entry of a list', { name: 'n', parts: [null] }, 'parts.0'],
    ['a required member of an entry', { name: 'n', parts: [{ type: 'text', text: null }] }, 'parts.0.text'],
    ['a body', null, ''],
  ])('is refused for %s', (_, value, path) => {
    const refusal = (() => {
      try {
        return read(value)
      } catch (error) {
        return error as SchemaRefusal
      }
    })()
    expect(refusal).toBeInstanceOf(SchemaRefusal)
    expect((refusal as SchemaRefusal).issues[0]!.path.join('.')).toBe(path)
  })

  test('is refused in a change', () => expect(() => read({ name: 'n', mode: null }, 'refused')).toThrow(SchemaRefusal))
})

const { world } = await createUpstreamWorld({ isAlone: true })

describe('every POST takes null for what it need not have', () => {
  test.each([
    ['completions', { prompt: 'Hi', mode: null, stream: null, skills: null, tools: null, attachments: null }],
    ['completions', { prompt: 'Hi', temperature: null, persona: null, image_model: null, format: null }],
    ['completions', { prompt: 'Hi', tools: [{ name: 'f', description: 'd', input_schema: null, endpoint: null }] }],
    ['embeddings', { input: 'Hi', model: 'svc-1-embed-local', encoding_format: null, dimensions: null, user: null }],
    ['moderations', { input: 'Hi', model: null }],
    ['responses', { input: 'Hi', tools: null, tool_choice: null, text: null, reasoning: null, include: null }],
    ['messages', { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], system: null, tools: null }],
    ['messages', { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], metadata: null, thinking: null }],
    ['conversations', { items: null, metadata: null }],
    ['keys', { name: 'k', scopes: null, allowed_origins: null, test: null }],
    ['webhooks', { url: 'https://example.com/h', event_types: ['*'], secret: null, description: null }],
    ['guardrail-policies', { name: 'p', rules: [], description: null, scope: null, is_default: null }],
    ['routing-preferences', { name: 'p', rules: null, examples: null, scope: null, is_default: null }],
    ['workflows', { name: 'w', triggerType: 'manual', triggerConfig: null, enabled: null, steps: [STEP()] }],
    ['evi/canvases', { name: 'c', description: null, graph_json: null }],
    ['orgs', { name: 'o', type: null, slug: null }],
  ])('%s %j', async (path, body) => {
    const eve = await world.person()
    const { status, body: answer } = await eve.send('POST', path, body)
    expect({ ok: status < 300, error: answer.error ?? null }).toEqual({ ok: true, error: null })
  })

  test('and a PATCH or PUT takes it only where it clears something', async () => {
    const eve = await world.person()
    const { body: key } = await eve.send('POST', 'keys', { name: 'k', rpm_limit: 5 })
    const put = async (body: object) => {
      const { status, body: answer } = await eve.send('PUT', `keys/${key.id}`, body)
      return { status, param: answer.error?.param }
    }
    expect(await put({ rpm_limit: null })).toEqual({ status: 200, param: undefined })
    expect(await put({ scopes: null })).toEqual({ status: 400, param: 'scopes' })
    expect((await eve.send('PATCH', 'settings', { default_mode: null })).body.error.param).toBe('default_mode')
  })
})

function STEP() {
  return { type: 'transform', name: 's', config: { template: 'x' }, onSuccess: null, onFailure: null }
}
