import { describe, expect, test } from 'bun:test'
import { createWorld, type Person } from '../support/world'

const world = await createWorld()
const ada = await world.person()

const rule = { guardrail_id: 'max_length', phase: 'input', verdict: 'block', config: { max_chars: 10 } }
const created = async (by: Person, input: object = {}): Promise<string> =>
  (await by.send('POST', 'guardrail-policies', { name: 'Support, safe', rules: [rule], ...input })).body.id

describe('guardrail policies (docs/api.md 12)', () => {
  test('a new one is as it was sent, and bound to no key', async () => {
    const input = { name: 'Short prompts', description: 'For the shop', rules: [rule] }
    const { status, body } = await ada.send('POST', 'guardrail-policies', input)
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.any(String),
      object: 'guardrail_policy',
      ...input,
      scope: 'personal',
      org_id: null,
      is_default: false,
      bound_key_count: 0,
      created: expect.any(String),
      updated: body.created,
      request_id: expect.any(String),
    })
    expect((await ada.send('GET', `keys/${ada.keyId}`)).body.guardrail_policy_id).toBeNull()
  })

  test('a name is enough', async () => {
    const { status, body } = await ada.send('POST', 'guardrail-policies', { name: 'Empty for now' })
    expect(status).toBe(201)
    expect(body).toMatchObject({ rules: [], description: null })
  })

  test('a rule without config is stored with an empty one', async () => {
    const bare = { guardrail_id: 'tool_allowlist', phase: 'tool_call', verdict: 'flag', config: { tools: ['a'] } }
    expect((await ada.send('POST', 'guardrail-policies', { name: 'Tools', rules: [bare] })).body.rules).toEqual([bare])
  })

  test('a patch changes what it names and no more', async () => {
    const id = await created(ada)
    const { status, body } = await ada.send('PATCH', `guardrail-policies/${id}`, { name: 'Renamed', scope: 'team' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'Renamed', rules: [rule], scope: 'personal', description: null })
    expect(Date.parse(body.updated)).toBeGreaterThan(Date.parse(body.created))
    expect((await ada.send('PATCH', `guardrail-policies/${id}`, { rules: [] })).body.rules).toEqual([])
  })
})
