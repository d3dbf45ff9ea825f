import { expect, test } from 'bun:test'
import { members, orgs as orgTable } from '../../../src/accounts/orgs/table'
import type { OrgId } from '../../../src/kernel/ids'
import { createWorld } from '../../support/world'
import { createTeam } from './team'

const world = await createWorld()
const { orgs, store } = world.app.container

test('finds an org without an owner and members of an org that is not there', async () => {
  const [team, gone] = [await createTeam(world), await createTeam(world)]
  await gone.owner.send('DELETE', `orgs/${gone.id}`)
  expect(await orgs.verify(store.read)).toEqual([])
  const nowhere = crypto.randomUUID() as OrgId
  await store.write(async (tx) => {
    await tx.update(tx.of(members)).set({ role: 'viewer' })
    const row = { org_id: nowhere, user_id: team.owner.userId, role: 'owner', joined_at: 1, org_created_at: 1 } as const
    await tx.insert(tx.of(members)).values(row)
  })
  const found = await orgs.verify(store.read)
  expect(found).toContain(`organization ${team.id} has no owner`)
  expect(found).toContain(`user ${team.owner.userId} belongs to organization ${nowhere}, which does not exist`)
  await store.write(async (tx) => {
    await tx.update(tx.of(orgTable)).set({ deleted_at: 1 })
  })
  expect((await orgs.verify(store.read)).some((line) => line.includes('has no owner'))).toBe(false)
})
