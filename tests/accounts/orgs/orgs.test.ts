import { describe, expect, test } from 'bun:test'
import { normalizeEmail, teamOf } from '../../../src/accounts'
import { callOf, keyCaller, operatorCaller } from '../../support/callers'
import { openTestStore } from '../../support/store'
import { createWorld } from '../keys/world'

const store = await openTestStore()
const asOperator = () => callOf(operatorCaller())

describe('an org', () => {
  test('has its maker as owner, an audit row in its own chain, and a slug from its name', async () => {
    const { orgs, audit, addUser, addOrg } = createWorld(store)
    const ada = await addUser()
    const acme = await addOrg(ada.id, 'Tide & Sons')
    expect(acme).toMatchObject({ name: 'Tide & Sons', slug: 'tide-sons', type: 'team' })
    expect(await orgs.roleOf(store.read, acme.id, ada.id)).toBe('owner')
    const rows = (await audit.list(store.read, `org:${acme.id}`, { limit: 5 })).items
    expect(rows).toMatchObject([{ action: 'org.created', entityType: 'organization', entityId: acme.id }])
  })

  test('gets a tail when a slug made from its name is taken', async () => {
    const { addUser, addOrg } = createWorld(store)
    const ada = await addUser()
    const [first, second] = [await addOrg(ada.id, 'Twin'), await addOrg(ada.id, 'Twin')]
    expect(second.slug).toMatch(new RegExp(`^${first.slug}-[0-9a-f]{8}$`))
  })

  test('is found by id, slug or exact name, and not by a name that two have', async () => {
    const { orgs, addUser, addOrg } = createWorld(store)
    const ada = await addUser()
    const acme = await addOrg(ada.id, 'Findable')
    for (const ref of [acme.id, acme.slug, 'Findable']) {
      expect(await orgs.find(store.read, ref)).toMatchObject({ id: acme.id })
    }
    await addOrg(ada.id, 'Findable')
    expect(orgs.find(store.read, 'Findable')).rejects.toMatchObject({ code: 'validation_error' })
    expect(orgs.find(store.read, 'nobody')).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the active org', () => {
  test('cannot be a foreign, an unknown or a malformed one, which answer alike', async () => {
    const { orgs, addUser, addOrg, session } = createWorld(store)
    const [ada, eve] = [await addUser('ada'), await addUser('eve')]
    const acme = await addOrg(ada.id)
    for (const id of [acme.id, crypto.randomUUID(), 'acme']) {
      const refusal = await orgs.activate(await session(eve.id), id).catch((error: Error) => error)
      expect(refusal).toMatchObject({ code: 'not_found', message: 'No organization with this id.' })
    }
  })

  test('counts for nothing while it is suspended', async () => {
    const { orgs, addUser, addOrg, session } = createWorld(store)
    const ada = await addUser()
    const acme = await addOrg(ada.id)
    await orgs.activate(await session(ada.id), acme.id)
    await orgs.setOrgSuspended(asOperator(), acme.id, true)
    expect(await orgs.accessOf(store.read, ada.id)).toEqual({ activeOrgId: null })
    expect(await orgs.isOpen(store.read, acme.id)).toBe(false)
  })
})

describe('an account', () => {
  test('is shut out and let in again, on the record', async () => {
    const { orgs, addUser, actions } = createWorld(store)
    const ada = await addUser()
    await orgs.setUserDisabled(asOperator(), ada.id, true)
    expect(await orgs.accessOf(store.read, ada.id)).toBeNull()
    await orgs.setUserDisabled(asOperator(), ada.id, false)
    expect(await orgs.accessOf(store.read, ada.id)).toEqual({ activeOrgId: null })
    expect(await actions(ada.id)).toEqual(['user.disabled', 'user.enabled'])
  })

  test('that nobody has cannot be shut out', async () => {
    const { orgs } = createWorld(store)
    expect(orgs.setUserDisabled(asOperator(), crypto.randomUUID() as never, true)).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

test('one e-mail address is one account, however it is written', () => {
  expect(normalizeEmail('  Ada@Example.COM ')).toBe('ada@example.com')
})

test('a user without an org is a team of one', () => {
  const alone = keyCaller()
  const active = keyCaller({ activeOrgId: crypto.randomUUID() as never })
  expect(teamOf(alone)).toBe(`user:${alone.userId}`)
  expect(teamOf(active)).toBe(`org:${active.activeOrgId}`)
})
