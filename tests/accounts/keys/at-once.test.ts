import { describe, expect, test } from 'bun:test'
import { createWorld } from '../../support/world'

const world = await createWorld()
const ROUNDS = 8

/** Repeats what races, because a single try could miss it. */
async function often(round: () => Promise<void>): Promise<void> {
  for (let tried = 0; tried < ROUNDS; tried++) await round()
}

describe('of requests for one key at once', () => {
  test('several rotations leave one secret that works', async () => {
    const ada = await world.person()
    await often(async () => {
      const { id } = (await ada.send('POST', 'keys', {})).body
      const rotated = await Promise.all(
        [1, 2, 3].map(() => ada.send('POST', `keys/${id}/rotate`, { grace_period_seconds: 0 })),
      )
      const tried = rotated.map(({ body }) => world.byKey(body.key).send('GET', 'settings'))
      expect((await Promise.all(tried)).map(({ status }) => status).sort()).toEqual([200, 401, 401])
    })
  })

  test('one that bounds the key holds against its own that frees it', async () => {
    const ada = await world.person()
    const eve = await world.signedIn(ada)
    await often(async () => {
      const made = (await ada.send('POST', 'keys', {})).body
      const freeing = () => world.byKey(made.key).send('PUT', `keys/${made.id}`, { daily_cap_cents: null })
      await Promise.all([freeing(), eve.send('PUT', `keys/${made.id}`, { daily_cap_cents: 5 }), freeing(), freeing()])
      expect((await ada.send('GET', `keys/${made.id}`)).body.daily_cap_cents).toBe(5)
    })
  })

  test('nor does one that takes its guardrail policy off undo one that binds it', async () => {
    const ada = await world.person()
    const { id: policy } = (await ada.send('POST', 'guardrail-policies', { name: 'Calm' })).body
    await often(async () => {
      const made = (await ada.send('POST', 'keys', {})).body
      const freeing = () =>
        world.byKey(made.key).send('PUT', `keys/${made.id}/guardrails`, { guardrail_policy_id: null })
      const binding = ada.send('PUT', `keys/${made.id}/guardrails`, { guardrail_policy_id: policy })
      await Promise.all([freeing(), binding, freeing(), freeing()])
      expect((await ada.send('GET', `keys/${made.id}`)).body.guardrail_policy_id).toBe(policy)
    })
  })
})

test('a member who is removed while making keys keeps none of them', async () => {
  const owner = await world.signedIn(await world.person({ ofOrg: true }))
  const { store, orgs } = world.app.container
  await often(async () => {
    const ada = await world.person()
    const joining = { orgId: owner.orgId!, userId: ada.userId, role: 'admin' as const, invitedBy: null }
    await store.write((tx) => orgs.members.join(tx, world.callAs(owner), joining))
    const making = () => ada.send('POST', 'keys', { scope: 'org', org_id: owner.orgId })
    const [first, , ...others] = await Promise.all([
      making(),
      owner.send('DELETE', `orgs/${owner.orgId}/members/${ada.userId}`),
      making(),
      making(),
    ])
    for (const { status, body } of [first, ...others]) {
      if (status !== 201) continue
      expect((await world.byKey(body.key).send('GET', 'settings')).status).toBe(401)
    }
  })
})
