import { describe, expect, test } from 'bun:test'
import { createWorld, type Person } from '../support/world'

const world = await createWorld()
const ada = await world.person()

const rule = { guardrail_id: 'max_length', phase: 'input', verdict: 'block', config: { max_chars: 10 } }
const created = async (by: Person, input: object = {}): Promise<string> =>
  (await by.send('POST', 'guardrail-policies', { name: 'Support, safe', rules: [rule], ...input })).body.id

describe('guardrail policies (contract 12)', () => {
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
    const { body } = await ada.send('POST', 'guardrail-policies', { name: 'Tools', rules: [bare] })
    expect(body.rules).toEqual([bare])
  })

  test('a patch changes what it names and no more', async () => {
    const id = await created(ada)
    const { status, body } = await ada.send('PATCH', `guardrail-policies/${id}`, { name: 'Renamed', scope: 'team' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'Renamed', rules: [rule], scope: 'personal', description: null })
    expect(Date.parse(body.updated)).toBeGreaterThan(Date.parse(body.created))
    expect((await ada.send('PATCH', `guardrail-policies/${id}`, { rules: [] })).body.rules).toEqual([])
  })

  test('a deleted one is gone, and no key is bound to it any more', async () => {
    const bob = await world.person()
    const id = await created(bob)
    await bob.send('PUT', `keys/${bob.keyId}/guardrails`, { guardrail_policy_id: id })
    expect((await bob.send('GET', `guardrail-policies/${id}`)).body.bound_key_count).toBe(1)
    const himself = await world.signedIn(bob)
    expect((await himself.send('DELETE', `guardrail-policies/${id}`)).body).toMatchObject({ deleted: true })
    expect((await bob.send('GET', `guardrail-policies/${id}`)).status).toBe(404)
    expect((await bob.send('GET', `keys/${bob.keyId}`)).body.guardrail_policy_id).toBeNull()
  })

  test('lists are newest first, in pages, and by scope', async () => {
    const bob = await world.person({ ofOrg: true })
    const [first, second] = [await created(bob), await created(bob, { name: 'Second' })]
    const page = await bob.send('GET', 'guardrail-policies?limit=1')
    expect(page.body.guardrail_policies.map(({ id }: { id: string }) => id)).toEqual([second])
    expect(page.body.has_more).toBe(true)
    const rest = await bob.send('GET', `guardrail-policies?limit=1&cursor=${page.body.next_cursor}`)
    expect(rest.body).toMatchObject({ guardrail_policies: [{ id: first }], has_more: false, next_cursor: null })
    expect((await bob.send('GET', 'guardrail-policies?scope=personal')).body.guardrail_policies).toEqual([])
    expect((await bob.send('GET', 'guardrail-policies?scope=nobody')).status).toBe(400)
  })

  test('creating one twice with one idempotency key creates one', async () => {
    const headers = { 'idempotency-key': 'policy-once' }
    const [one, two] = [
      await ada.send('POST', 'guardrail-policies', { name: 'Once' }, headers),
      await ada.send('POST', 'guardrail-policies', { name: 'Once' }, headers),
    ]
    expect(two.text).toBe(one.text)
    expect(two.headers.get('x-idempotent-replay')).toBe('true')
  })
})

describe('defaults', () => {
  test('of twenty at once, one becomes the default, and the others are conflicts (K13)', async () => {
    const bob = await world.person()
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        bob.send('POST', 'guardrail-policies', { name: `Default ${number}`, is_default: true }),
      ),
    )
    const refused = replies.filter(({ status }) => status === 409)
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(refused).toHaveLength(19)
    expect(refused[0]!.body.error).toMatchObject({ code: 'conflict', type: 'conflict_error' })
    expect((await bob.send('GET', 'guardrail-policies')).body.guardrail_policies).toHaveLength(1)
  })

  test('another can become the default once the first no longer is', async () => {
    const bob = await world.signedIn(await world.person())
    const [first, second] = [await created(bob, { is_default: true, name: 'First' }), await created(bob)]
    const refused = await bob.send('PATCH', `guardrail-policies/${second}`, { is_default: true })
    expect(refused.status).toBe(409)
    expect(refused.body.error.message).toContain('"First"')
    await bob.send('PATCH', `guardrail-policies/${first}`, { is_default: false })
    expect((await bob.send('PATCH', `guardrail-policies/${second}`, { is_default: true })).body.is_default).toBe(true)
  })

  test('a person and a team have one each', async () => {
    const bob = await world.person()
    const org = (await bob.send('POST', 'orgs', { name: 'Bobs' })).body.id
    await bob.send('POST', `orgs/${org}/activate`)
    expect((await bob.send('POST', 'guardrail-policies', { name: 'Mine', is_default: true })).status).toBe(201)
    const team = await bob.send('POST', 'guardrail-policies', { name: 'Ours', is_default: true, scope: 'team' })
    expect(team.body).toMatchObject({ scope: 'team', org_id: org, is_default: true })
  })
})
