import { describe, expect, test } from 'bun:test'
import { PERMISSIONS, type Permission } from '../../../src/accounts/orgs/schema'
import { callOf, keyCaller, sessionCaller } from '../../support/callers'
import { createWorld } from '../../support/world'
import { createTeam } from './team'

const world = await createWorld()
const team = await createTeam(world)
const { orgs, store } = world.app.container

const EVERYTHING = [...PERMISSIONS]

/** The matrix of docs/api.md 1.2, once more and by hand. */
const MATRIX: Record<'owner' | 'admin' | 'member' | 'viewer' | 'outsider', Permission[]> = {
  owner: EVERYTHING,
  admin: EVERYTHING,
  member: ['manageSkills', 'viewUsage'],
  viewer: ['viewUsage'],
  outsider: [],
}

const cells = Object.entries(MATRIX).flatMap(([who, held]) =>
  PERMISSIONS.map((permission) => ({ who: who as keyof typeof MATRIX, permission, may: held.includes(permission) })),
)

describe('every role and every permission, in the org', () => {
  test('are forty cells', () => {
    expect(cells).toHaveLength(40)
  })

  test.each(cells)('$who, $permission: $may', async ({ who, permission, may }) => {
    const { userId } = team[who]
    const callers = [
      sessionCaller({ userId, activeOrgId: team.id }),
      keyCaller({ userId, activeOrgId: team.id }),
      keyCaller({ userId, activeOrgId: team.id, orgId: team.id }),
    ]
    for (const caller of callers) {
      const request = orgs.assertPermission(store.read, callOf(caller).caller, permission)
      if (may) expect(await request).toBeUndefined()
      else
        expect(request).rejects.toMatchObject({
          kind: 'forbidden',
          code: 'forbidden',
          message: expect.stringContaining(permission),
        })
    }
    expect(await orgs.orgIdsWith(store.read, userId, permission)).toEqual(may ? [team.id] : [])
  })

  test.each(EVERYTHING)('a user without an org is alone and has %s', async (permission) => {
    expect(await orgs.assertPermission(store.read, sessionCaller(), permission)).toBeUndefined()
  })
})
