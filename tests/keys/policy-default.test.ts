import { describe, expect, test } from 'bun:test'
import { createWorld, type Person } from '../support/world'

const world = await createWorld()
const rules = [{ guardrail_id: 'blocked_terms', phase: 'input', verdict: 'block', config: { terms: ['kraken'] } }]
const policyOf = async (by: Person, order: object = {}): Promise<string> =>
  (await by.send('POST', 'guardrail-policies', { name: 'Policy', rules, ...order })).body.id
const bind = (by: Person, key: string, guardrail_policy_id: string | null) =>
  by.send('PUT', `keys/${key}/guardrails`, { guardrail_policy_id })
const codeOf = ({ status, body }: Awaited<ReturnType<typeof bind>>) => [status, body.error?.code]

/** A person under a default policy: by their first key, in a session, and by a second key. */
async function underDefault() {
  const ada = await world.person()
  const empty = await policyOf(ada, { rules: [] })
  const beside = (await ada.send('POST', 'keys', {})).body as { id: string; key: string }
  return { ada, herself: await world.signedIn(ada), empty, beside, standard: await policyOf(ada, { is_default: true }) }
}

describe('a key that is under its owner’s default policy', () => {
  test('neither changes nor deletes it, nor makes it no default', async () => {
    const { ada, herself, standard } = await underDefault()
    const path = `guardrail-policies/${standard}`
    const refused = [
      await ada.send('PATCH', path, { rules: [] }),
      await ada.send('PATCH', path, { is_default: false }),
      await ada.send('DELETE', path),
    ]
    for (const reply of refused) expect(codeOf(reply)).toEqual([403, 'missing_scope'])
    expect((await ada.send('GET', path)).body).toMatchObject({ rules, is_default: true })
    expect((await herself.send('PATCH', path, { is_default: false })).body.is_default).toBe(false)
    expect((await ada.send('PATCH', path, { rules: [] })).body.rules).toEqual([])
  })

  test('is bound to nothing but that policy, neither by itself nor by a key beside it', async () => {
    const { ada, herself, empty, beside, standard } = await underDefault()
    for (const key of [ada.keyId, beside.id]) {
      expect(codeOf(await bind(ada, key, empty))).toEqual([403, 'forbidden'])
      expect((await bind(ada, key, null)).status).toBe(200)
    }
    expect((await bind(ada, beside.id, standard)).body.guardrail_policy_id).toBe(standard)
    expect((await bind(herself, ada.keyId, empty)).body.guardrail_policy_id).toBe(empty)
  })

  test('gets keys that are under it too, and no other', async () => {
    const { ada, herself, empty, beside } = await underDefault()
    const org = (await herself.send('POST', 'orgs', { name: 'Team' })).body.id
    expect((await ada.send('POST', 'keys', {})).status).toBe(201)
    expect(codeOf(await ada.send('POST', 'keys', { org_id: org }))).toEqual([403, 'forbidden'])
    expect((await ada.send('POST', `keys/${beside.id}/rotate`, {})).status).toBe(200)
    await bind(herself, beside.id, empty)
    expect(codeOf(await ada.send('POST', `keys/${beside.id}/rotate`, {}))).toEqual([403, 'forbidden'])
  })

  test('of a team is held alike, and freed by an admin’s own key', async () => {
    const owner = await world.person()
    const org = (await owner.send('POST', 'orgs', { name: 'Team' })).body.id
    await owner.send('POST', `orgs/${org}/activate`)
    const { id, key } = (await owner.send('POST', 'keys', { org_id: org })).body
    const [standard, empty] = [
      await policyOf(owner, { scope: 'team', is_default: true }),
      await policyOf(owner, { scope: 'team', rules: [] }),
    ]
    const asKey = { authorization: `Bearer ${key}` }
    const replaced = await world.send('PUT', `keys/${id}/guardrails`, { guardrail_policy_id: empty }, asKey)
    expect(codeOf(replaced)).toEqual([403, 'forbidden'])
    const emptied = await world.send('PATCH', `guardrail-policies/${standard}`, { rules: [] }, asKey)
    expect(codeOf(emptied)).toEqual([403, 'missing_scope'])
    expect((await bind(owner, id, empty)).body.guardrail_policy_id).toBe(empty)
  })
})

describe('a key with a bound', () => {
  test('takes no key beside it out from under the default', async () => {
    const { herself, empty, beside, ada } = await underDefault()
    await bind(herself, ada.keyId, empty)
    expect(codeOf(await bind(ada, beside.id, empty))).toEqual([403, 'forbidden'])
  })

  test('changes no policy that others are under, bound to it or by default', async () => {
    const { ada, herself, empty, standard, beside } = await underDefault()
    const other = await policyOf(herself)
    await bind(herself, ada.keyId, empty)
    await bind(herself, beside.id, other)
    for (const id of [standard, other]) {
      expect(codeOf(await ada.send('PATCH', `guardrail-policies/${id}`, { rules: [] }))).toEqual([403, 'missing_scope'])
      expect(codeOf(await ada.send('DELETE', `guardrail-policies/${id}`))).toEqual([403, 'missing_scope'])
    }
    await bind(herself, beside.id, null)
    expect((await ada.send('PATCH', `guardrail-policies/${other}`, { rules: [] })).status).toBe(200)
  })
})

describe('a key that no policy is over', () => {
  test('makes policies, binds them to any key of its owner, and makes one the default', async () => {
    const ada = await world.person()
    const { id: beside } = (await ada.send('POST', 'keys', {})).body
    const [one, two] = [await policyOf(ada), await policyOf(ada)]
    for (const id of [one, two, null, one]) expect((await bind(ada, beside, id)).body.guardrail_policy_id).toBe(id)
    expect((await ada.send('PATCH', `guardrail-policies/${one}`, { rules: [] })).status).toBe(200)
    expect((await ada.send('PATCH', `guardrail-policies/${two}`, { is_default: true })).body.is_default).toBe(true)
  })
})
