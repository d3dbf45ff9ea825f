import { describe, expect, test } from 'bun:test'
import { actingIdentityOf, createBackgroundCallers } from '../../../src/accounts'
import { KeyId } from '../../../src/kernel/ids'
import { callOf, operatorCaller, sessionCaller } from '../../support/callers'
import { openTestStore } from '../../support/store'
import { createAuthWorld } from './world'

const store = await openTestStore()
const asOperator = callOf(operatorCaller())

function node() {
  const world = createAuthWorld(store)
  return { ...world, callerOf: createBackgroundCallers({ store, keys: world.lookup, orgs: world.orgs }) }
}

describe('work without a request', () => {
  test('of a key runs as that key, until it is revoked', async () => {
    const { addUser, withKey, session, keys, callerOf } = node()
    const ada = await addUser()
    const { key, call } = await withKey(ada.id)
    const behalf = actingIdentityOf(call.caller)
    expect(await callerOf(behalf)).toEqual({ ...call.caller, secretHash: null } as never)
    await keys.revoke(await session(ada.id), key.id)
    expect(await callerOf(behalf)).toBeNull()
    expect(await callerOf({ ...behalf, api_key_id: KeyId.create() })).toBeNull()
  })

  test('of a session runs as its person in the organization of then, while both are open', async () => {
    const { addUser, addOrg, orgs, callerOf } = node()
    const ada = await addUser()
    const org = await addOrg(ada.id)
    const inOrg = actingIdentityOf(sessionCaller({ userId: ada.id, activeOrgId: org.id }))
    const alone = actingIdentityOf(sessionCaller({ userId: ada.id }))
    const shape = { type: 'session', userId: ada.id, sessionId: null, orgId: null } as const
    expect(await callerOf(inOrg)).toEqual({ ...shape, activeOrgId: org.id })
    expect(await callerOf(alone)).toEqual({ ...shape, activeOrgId: null })
    await orgs.setOrgSuspended(asOperator, org.id, true)
    expect(await callerOf(inOrg)).toBeNull()
    expect(await callerOf(alone)).toEqual({ ...shape, activeOrgId: null })
  })

  test('of a disabled account or a stranger to the organization runs not at all', async () => {
    const { addUser, addOrg, orgs, callerOf } = node()
    const [ada, bob] = [await addUser(), await addUser('bob')]
    const org = await addOrg(ada.id)
    expect(await callerOf(actingIdentityOf(sessionCaller({ userId: bob.id, activeOrgId: org.id })))).toBeNull()
    await orgs.setUserDisabled(asOperator, bob.id, true)
    expect(await callerOf(actingIdentityOf(sessionCaller({ userId: bob.id })))).toBeNull()
  })
})
