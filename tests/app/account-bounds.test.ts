import { describe, expect, test } from 'bun:test'
import { loadConfig } from '../../src/app/config'
import { fakeClock } from '../support/clock'
import { createWorld, operatorCall, type Person, type Reply } from '../support/world'

const clock = fakeClock()
const world = await createWorld({
  clock,
  config: { maxKeysPerPerson: 5, maxKeysPerOrg: 6, maxOrgsPerPerson: 3, maxPolicies: 4, maxPreferences: 4 },
})
const { orgs, keys } = world.app.container
const { store } = world.app

const policy = { name: 'p', rules: [{ guardrail_id: 'pii', phase: 'input', verdict: 'flag' }] }
const preference = { name: 'p', rules: [], examples: [] }

/** Sends 12 at once, twice, and tells how many were taken. All others are 409 and name the bound. */
async function taken(person: Person, path: string, body: object, bound: string): Promise<number> {
  const replies: Reply[] = []
  for (const _ of [1, 2]) {
    replies.push(...(await Promise.all(Array.from({ length: 12 }, () => person.send('POST', path, body)))))
  }
  const refused = replies.filter(({ status }) => status !== 201)
  expect(refused.length).toBeGreaterThan(0)
  for (const { status, body: message } of refused) {
    expect({ status, ...message.error }).toMatchObject({ status: 409, code: 'conflict', type: 'conflict_error' })
    expect(message.error.message).toContain(bound)
  }
  return replies.length - refused.length
}

describe('of requests at once, no more are taken than', () => {
  test('the personal keys of a person, among them the one that asks', async () => {
    const ada = await world.person()
    expect(await taken(ada, 'keys', {}, '5 API keys, which is the maximum here (SVC_MAX_KEYS_PER_PERSON)')).toBe(4)
    expect((await ada.send('GET', 'keys')).body.keys).toHaveLength(5)
  })

  test('the keys of an organization', async () => {
    const boss = await world.person({ ofOrg: true })
    expect(await taken(boss, 'keys', {}, '6 API keys, which is the maximum here (SVC_MAX_KEYS_PER_ORG)')).toBe(5)
  })

  test('the organizations of a person', async () => {
    const ada = await world.person()
    expect(await taken(ada, 'orgs', { name: 'Acme' }, '3 organizations, which is the maximum per person')).toBe(3)
  })

  test.each([
    ['guardrail-policies', policy, '4 guardrail policies, which is the maximum here (SVC_MAX_POLICIES)'],
    ['routing-preferences', preference, '4 routing preferences, which is the maximum here (SVC_MAX_PREFERENCES)'],
  ])('the %s of a person, and as many of their organization', async (path, body, bound) => {
    expect(await taken(await world.person(), path, body, bound)).toBe(4)
    const boss = await world.person({ ofOrg: true })
    expect(await taken(boss, path, body, bound)).toBe(4)
    expect((await (await world.signedIn(boss)).send('POST', path, { ...body, scope: 'personal' })).status).toBe(201)
  })
})

test('a server that says nothing has bounds all the same (I-15)', () => {
  const bounds = { maxKeysPerPerson: 100, maxOrgsPerPerson: 50, maxPolicies: 500, maxPreferences: 500 }
  expect(loadConfig()).toMatchObject(bounds)
})

describe('a bound', () => {
  test('on keys counts an expired one, which may be given a later end, but not a revoked one', async () => {
    const ada = await world.person()
    const soon = new Date(clock.now() + 1_000).toISOString()
    const made = await Promise.all([1, 2, 3, 4].map(() => ada.send('POST', 'keys', { expires_at: soon })))
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    clock.advance(1_000)
    expect((await ada.send('GET', `keys/${made[3]!.body.id}`)).body.status).toBe('revoked')
    expect((await ada.send('POST', 'keys', {})).status).toBe(409)
    await ada.send('DELETE', `keys/${made[0]!.body.id}`)
    expect((await ada.send('POST', 'keys', {})).status).toBe(201)
  })

  test('on organizations is not evaded by handing them over', async () => {
    const [ada, bob] = [await world.person(), await world.person()]
    const found = async (person: Person) => (await person.send('POST', 'orgs', { name: 'Acme' })).body.id as string
    for (const _ of [1, 2, 3]) await found(bob)
    const org = await found(ada)
    const bobsEmail = (await bob.send('GET', 'auth/me')).body.user.email as string
    const invite = async (role: string) =>
      (await ada.send('POST', `orgs/${org}/invitations`, { email: bobsEmail, role })).body.token as string
    const accepted = await bob.send('POST', `invitations/${await invite('owner')}/accept`)
    expect(accepted).toMatchObject({ status: 409, body: { error: { message: expect.stringContaining('You own 3') } } })
    expect((await bob.send('POST', `invitations/${await invite('member')}/accept`)).status).toBe(200)
    expect(await ada.send('PATCH', `orgs/${org}/members/${bob.userId}`, { role: 'owner' })).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('This member owns 3') } },
    })
  })

  test('does not bind operators', async () => {
    const ada = await world.person()
    await taken(ada, 'keys', {}, 'SVC_MAX_KEYS_PER_PERSON')
    const call = operatorCall()
    await store.write((tx) => keys.createIn(tx, call, { userId: ada.userId, orgId: null }))
    for (const name of ['A', 'B', 'C', 'D']) await store.write((tx) => orgs.createOrg(tx, call, ada.userId, { name }))
    expect((await ada.send('GET', 'keys')).body.keys).toHaveLength(6)
  })
})
