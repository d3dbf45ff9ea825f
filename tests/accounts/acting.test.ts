import { expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld()

test('a session acts in the organization that its request names, and in none that it is not in', async () => {
  const [member, other] = [await world.person({ ofOrg: true }), await world.person({ ofOrg: true })]
  const session = await world.signedIn(member)
  // The header is for every route, so no route declares its 404.
  const ask = async (path: string, key: string, org?: string) => {
    const headers = { authorization: `Bearer ${key}`, ...(org === undefined ? {} : { 'x-svc-org': org }) }
    return (await world.app.api.handle(new Request(`http://localhost/api/v1/${path}`, { headers }))).json()
  }
  const scopeOf = async (org?: string) => {
    const { scope, error } = await ask('usage', session.key, org)
    return scope ?? error.code
  }
  expect(await scopeOf()).toBe('org')
  expect(await scopeOf('personal')).toBe('user')
  expect(await scopeOf(member.orgId!)).toBe('org')
  for (const stranger of [other.orgId!, 'nothing', '', 'x'.repeat(500)])
    expect(await scopeOf(stranger)).toBe('not_found')
  // A key has an organization of its own, whatever the request says.
  expect((await ask('auth/me', member.key, other.orgId!)).active_org_id).toBe(member.orgId)
})
