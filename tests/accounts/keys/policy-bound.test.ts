import { describe, expect, test } from 'bun:test'
import { createWorld, type Person } from '../../support/world'

const world = await createWorld()
const rules = [{ guardrail_id: 'blocked_terms', phase: 'input', verdict: 'block', config: { terms: ['kraken'] } }]
const policyOf = async (person: Person): Promise<string> =>
  (await person.send('POST', 'guardrail-policies', { name: 'Policy', rules })).body.id
const bind = (by: Person, key: string, guardrail_policy_id: string | null) =>
  by.send('PUT', `keys/${key}/guardrails`, { guardrail_policy_id })

/** A person whose key was put under a policy, themselves in a session, and another policy of theirs. */
async function bounded() {
  const ada = await world.person()
  const [policy, other] = [await policyOf(ada), await policyOf(ada)]
  expect((await bind(ada, ada.keyId, policy)).status).toBe(200)
  return { ada, herself: await world.signedIn(ada), policy, other }
}

describe('a key that is bound to a guardrail policy', () => {
  test('cannot take it off or put another in its place', async () => {
    const { ada, policy, other } = await bounded()
    for (const id of [null, other]) {
      const { status, body } = await bind(ada, ada.keyId, id)
      expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'forbidden' })
      expect(body.error.message).toContain('"guardrail_policy_id"')
    }
    expect((await bind(ada, ada.keyId, policy)).body.guardrail_policy_id).toBe(policy)
  })

  test('neither changes nor deletes it, whatever else stands in the body', async () => {
    const { ada, policy, other } = await bounded()
    const path = `guardrail-policies/${policy}`
    const refused = [
      await ada.send('PATCH', path, { rules: [] }),
      await ada.send('PATCH', path, { rules: [{ guardrail_id: 'none', phase: 'never', verdict: 'flag' }] }),
      await ada.send('DELETE', path),
    ]
    for (const { status, body } of refused)
      expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'missing_scope' })
    expect((await ada.send('GET', path)).body.rules).toEqual(rules)
    expect((await ada.send('PATCH', `guardrail-policies/${other}`, { name: 'Renamed' })).status).toBe(200)
  })

  test('makes no keys, gets no secret of one beside it and frees none', async () => {
    const { ada, herself, policy } = await bounded()
    const { id } = (await herself.send('POST', 'keys', {})).body
    await bind(herself, id, policy)
    const refused = [
      await ada.send('POST', 'keys', {}),
      await ada.send('POST', `keys/${id}/rotate`, {}),
      await bind(ada, id, null),
    ]
    for (const { status, body } of refused)
      expect({ status, code: body.error.code }).toEqual({ status: 403, code: 'forbidden' })
    expect((await ada.send('POST', `keys/${ada.keyId}/rotate`, {})).status).toBe(200)
  })

  test('is freed by its maker in a session, and by a key of theirs without bounds', async () => {
    const { ada, herself, policy } = await bounded()
    expect((await herself.send('PATCH', `guardrail-policies/${policy}`, { rules: [] })).body.rules).toEqual([])
    expect((await bind(herself, ada.keyId, null)).body.guardrail_policy_id).toBeNull()
    const { key } = (await ada.send('POST', 'keys', {})).body
    await bind(ada, ada.keyId, policy)
    const beside = { authorization: `Bearer ${key}` }
    const freed = await world.send('PUT', `keys/${ada.keyId}/guardrails`, { guardrail_policy_id: null }, beside)
    expect(freed.body.guardrail_policy_id).toBeNull()
  })
})
