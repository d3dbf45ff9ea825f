import { describe, expect, test } from 'bun:test'
import { centsToMicro } from '../../../src/kernel/money'
import { createWorld, operatorCall } from '../../support/world'
import { createTeam } from './team'

const world = await createWorld()
const { billing, orgs, keys, store } = world.app.container

async function richTeam() {
  const team = await createTeam(world)
  const owner = `org:${team.id}` as const
  const input = { owner, amount: centsToMicro(500), ref: owner, kind: 'grant', note: null } as const
  await store.write((tx) => billing.grant(tx, input))
  return { ...team, scope: owner }
}

describe('deleting an org', () => {
  test('shuts out everyone and every key of it, at once', async () => {
    const team = await richTeam()
    const made = [await team.orgKey(team.owner), await team.orgKey(team.admin)]
    for (const key of made) expect((await key.send('POST', 'completions', { prompt: 'hi' })).status).toBe(200)
    expect((await team.owner.send('DELETE', `orgs/${team.id}`)).body.deleted).toBe(true)
    for (const key of made) expect((await key.send('POST', 'completions', { prompt: 'hi' })).status).toBe(401)
    for (const person of [team.owner, team.admin, team.member, team.viewer]) {
      expect((await person.send('GET', `orgs/${team.id}`)).status).toBe(404)
      expect((await person.send('GET', 'orgs')).body.organizations).toEqual([])
    }
    expect((await team.owner.send('DELETE', `orgs/${team.id}`)).status).toBe(404)
  })

  test('leaves its credit, its keys and its record as they were, for the operator to see', async () => {
    const team = await richTeam()
    await (await team.orgKey(team.owner)).send('POST', 'completions', { prompt: 'hi' })
    const before = await billing.balance(store.read, team.scope)
    await team.owner.send('DELETE', `orgs/${team.id}`)
    expect(await billing.balance(store.read, team.scope)).toEqual(before)
    expect(before.balance).toBeGreaterThan(0)
    expect(await orgs.find(store.read, team.id)).toMatchObject({ name: 'Acme', deleted_at: expect.any(Number) })
    const { items } = await world.app.container.audit.list(store.read, team.scope, { limit: 10 })
    expect(items.slice(0, 2).map(({ action }) => action)).toEqual(['org.deleted', 'key.revoked'])
    expect(await world.app.container.audit.verify(store.read)).toEqual([])
  })

  test('frees the slug, and the name no longer finds it', async () => {
    const team = await createTeam(world, 'Gone for good')
    await team.owner.send('DELETE', `orgs/${team.id}`)
    expect(orgs.find(store.read, 'Gone for good')).rejects.toMatchObject({ code: 'not_found' })
    const again = await team.viewer.send('POST', 'orgs', { name: 'other', slug: team.slug })
    expect({ status: again.status, slug: again.body.slug }).toEqual({ status: 201, slug: team.slug })
  })

  test('leaves personal keys and other orgs of its people alone', async () => {
    const [team, other] = [await createTeam(world), await createTeam(world)]
    await other.join('admin', team.owner)
    const elsewhere = await other.orgKey(team.owner)
    await team.owner.send('DELETE', `orgs/${team.id}`)
    expect((await team.owner.send('GET', 'models')).status).toBe(200)
    expect((await elsewhere.send('GET', 'models')).status).toBe(200)
  })

  test('lets a call that is running end, and pay', async () => {
    const team = await richTeam()
    const input = { owner: team.scope, keyId: null, caps: { daily: null, monthly: null }, ref: team.id, amount: 100 }
    const hold = await store.write((tx) => billing.reserve(tx, input))
    await team.owner.send('DELETE', `orgs/${team.id}`)
    await store.write((tx) => billing.release(tx, hold!))
    expect(await billing.verify(store.read)).toEqual([])
  })

  test('revokes many keys in one unit', async () => {
    const team = await createTeam(world)
    const call = { userId: team.owner.userId, orgId: team.id } as const
    for (let made = 0; made < 120; made++) await team.orgKey(team.owner)
    await team.owner.send('DELETE', `orgs/${team.id}`)
    const { items } = await keys.list(operatorCall(), { limit: 100, org: call.orgId })
    expect(items.map(({ status }) => status)).toEqual(Array(100).fill('revoked'))
  })
})
