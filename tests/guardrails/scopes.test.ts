import { describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import type { Role } from '../../src/accounts/orgs/schema'
import { emailOf, issueInvitation } from '../accounts/orgs/team'
import { createUpstreamWorld } from '../completions/upstream-world'
import type { Person } from '../support/world'
import { onTerms } from './support'

const { world } = await createUpstreamWorld()
const rules = [onTerms('input', 'block', ['kraken'])]
const make = (by: Person, input: object = {}) =>
  by.send('POST', 'guardrail-policies', { name: 'Policy', rules, ...input })
const bind = (by: Person, key: string, id: string | null) =>
  by.send('PUT', `keys/${key}/guardrails`, { guardrail_policy_id: id })
const isBlocked = async (by: Person): Promise<boolean> =>
  (await by.send('POST', 'completions', { prompt: `kraken ${randomUUID()}`, mode: 'fast' })).body.error?.code ===
  'guardrail_blocked'

/** An org whose owner has a colleague in this role; both have it active. */
async function team(role: Role) {
  const [owner, colleague] = [await world.person(), await world.person()]
  const org = (await owner.send('POST', 'orgs', { name: 'Team' })).body.id
  const { token } = await issueInvitation(world, org, await emailOf(world, colleague), role)
  await colleague.send('POST', `invitations/${token}/accept`)
  for (const each of [owner, colleague]) await each.send('POST', `orgs/${org}/activate`)
  const made = await owner.send('POST', 'keys', { name: 'org', org_id: org })
  return { owner, colleague, org, key: made.body as { id: string; key: string } }
}

describe('team policies (docs/api.md 12)', () => {
  test('need an active organization', async () => {
    const { status, body } = await make(await world.person(), { scope: 'team' })
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'org_required' })
  })

  test.each([
    ['admin', 201, 200],
    ['member', 403, 403],
    ['viewer', 403, 403],
  ] as const)('as %s making one is %d and changing one %d', async (role, making, changing) => {
    const { owner, colleague } = await team(role)
    const { body: theirs } = await make(owner, { scope: 'team' })
    expect((await make(colleague, { scope: 'team' })).status).toBe(making)
    if (making === 403) {
      const bad = [{ guardrail_id: 'pii', phase: 'never', verdict: 'flag' }]
      expect((await make(colleague, { scope: 'team', rules: bad })).status).toBe(403)
    }
    const path = `guardrail-policies/${theirs.id}`
    expect((await colleague.send('GET', path)).status).toBe(200)
    const changed = [
      await colleague.send('PATCH', path, { name: 'Renamed' }),
      await colleague.send('PATCH', path, { is_default: true }),
      await colleague.send('DELETE', path),
    ]
    expect(changed.map(({ status }) => status)).toEqual(Array(3).fill(changing))
    if (changing === 403) expect(changed[0]!.body.error.code).toBe('missing_scope')
  })

  test("an organization's key creates and lists team policies, and no personal ones", async () => {
    const person = await world.person({ ofOrg: true })
    const made = await make(person)
    expect(made.body).toMatchObject({ scope: 'team', org_id: person.orgId })
    expect((await make(person, { scope: 'personal' })).body.error.code).toBe('missing_scope')
    const { body } = await person.send('GET', 'guardrail-policies')
    expect(body.guardrail_policies.map(({ id }: { id: string }) => id)).toEqual([made.body.id])
  })

  test('end with their organization', async () => {
    const { owner, org } = await team('member')
    const { body } = await make(owner, { scope: 'team', is_default: true })
    expect((await owner.send('DELETE', `orgs/${org}`)).status).toBe(200)
    expect((await owner.send('GET', `guardrail-policies/${body.id}`)).status).toBe(404)
    expect((await owner.send('GET', `audit?entity_id=${body.id}`)).text).not.toContain('guardrail_policy.deleted')
  })
})

describe('bindings (docs/api.md 13)', () => {
  test('a policy is bound to keys of its owner only', async () => {
    const { owner, key } = await team('member')
    const [personal, ours] = [(await make(owner)).body.id, (await make(owner, { scope: 'team' })).body.id]
    const bound = await bind(owner, owner.keyId, personal)
    expect(bound.body).toMatchObject({ object: 'api_key', id: owner.keyId, guardrail_policy_id: personal })
    expect((await bind(owner, key.id, ours)).body.guardrail_policy_id).toBe(ours)
    for (const [to, id] of [
      [owner.keyId, ours],
      [key.id, personal],
    ] as const) {
      const { status, body } = await bind(owner, to, id)
      expect({ status, ...body.error }).toMatchObject({
        status: 400,
        code: 'validation_error',
        param: 'guardrail_policy_id',
      })
    }
    expect((await bind(await world.signedIn(owner), key.id, null)).body.guardrail_policy_id).toBeNull()
  })

  test('a foreign, an unknown and a malformed id are the same 404', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const theirs = (await make(ada)).body.id
    for (const id of [theirs, randomUUID(), 'nonsense', '']) {
      const { status, body } = await bind(eve, eve.keyId, id)
      expect(status).toBe(404)
      expect(body.error.message).toBe('No guardrail policy with this id.')
    }
    expect((await bind(eve, ada.keyId, null)).status).toBe(404)
  })

  test('binding, changing and deleting a policy take effect with the next request', async () => {
    const ada = await world.person()
    const { id } = (await make(ada)).body
    expect(await isBlocked(ada)).toBe(false)
    await bind(ada, ada.keyId, id)
    expect(await isBlocked(ada)).toBe(true)
    const herself = await world.signedIn(ada)
    await herself.send('PATCH', `guardrail-policies/${id}`, { rules: [] })
    expect(await isBlocked(ada)).toBe(false)
    await herself.send('PATCH', `guardrail-policies/${id}`, { rules })
    expect(await isBlocked(ada)).toBe(true)
    await herself.send('DELETE', `guardrail-policies/${id}`)
    expect(await isBlocked(ada)).toBe(false)
  })

  test('bound keys are counted, revoked ones are not', async () => {
    const ada = await world.person()
    const { id } = (await make(ada)).body
    const other = (await ada.send('POST', 'keys', {})).body.id
    await bind(ada, ada.keyId, id)
    await bind(ada, other, id)
    const count = async () => (await ada.send('GET', `guardrail-policies/${id}`)).body.bound_key_count
    expect(await count()).toBe(2)
    await ada.send('DELETE', `keys/${other}`)
    expect(await count()).toBe(1)
  })
})

describe('which policy is in force (docs/api.md 12)', () => {
  test('a personal default applies to personal keys, unless another policy is bound', async () => {
    const ada = await world.person()
    const { id } = (await make(ada, { is_default: true })).body
    expect(await isBlocked(ada)).toBe(true)
    const open = (await make(ada, { rules: [] })).body.id
    const herself = await world.signedIn(ada)
    await bind(ada, ada.keyId, open)
    expect(await isBlocked(ada)).toBe(false)
    await bind(herself, ada.keyId, null)
    await ada.send('PATCH', `guardrail-policies/${id}`, { is_default: false })
    expect(await isBlocked(ada)).toBe(false)
  })

  test("a team's default applies to its keys, not to its members' own", async () => {
    const { owner, org, key } = await team('member')
    await make(owner, { scope: 'team', is_default: true })
    expect(await isBlocked(owner)).toBe(false)
    const store = world.app.container
    await store.store.write((tx) =>
      store.billing.grant(tx, { owner: `org:${org}`, amount: 1e9, ref: org, kind: 'grant', note: null }),
    )
    const asKey = { authorization: `Bearer ${key.key}` }
    const { body } = await world.send('POST', 'completions', { prompt: 'kraken', mode: 'fast' }, asKey)
    expect(body.error?.code).toBe('guardrail_blocked')
  })

  test("one person's default applies to nobody else", async () => {
    const [ada, bob] = [await world.person(), await world.person()]
    await make(ada, { is_default: true })
    expect({ ada: await isBlocked(ada), bob: await isBlocked(bob) }).toEqual({ ada: true, bob: false })
  })
})
