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

test('a session acts with a key that its person may manage, under the limits of that key and on its record', async () => {
  const [boss, other] = [await world.person({ ofOrg: true }), await world.person({ ofOrg: true })]
  const session = await world.signedIn(boss)
  const ask = async (key: string, headers: Record<string, string> = {}) => {
    const init = { method: 'POST', body: JSON.stringify({ prompt: `hello ${crypto.randomUUID()}` }) }
    const request = new Request('http://localhost/api/v1/completions', {
      ...init,
      headers: { 'content-type': 'application/json', 'x-svc-as-key': key, ...headers },
    })
    const response = await world.app.api.handle(request)
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  const bearer = { authorization: `Bearer ${session.key}` }
  const answered = await ask(boss.keyId, bearer)
  expect(answered.status).toBe(200)
  expect(answered.headers.get('x-ratelimit-limit-requests')).not.toBe('120')
  const { requests } = (await boss.send('GET', `requests?q=${answered.body.request_id}`)).body
  expect(requests[0]).toMatchObject({ api_key_id: boss.keyId, user_id: boss.userId })
  const model = { model: 'svc-1-flash' }
  for (const [path, body] of [
    ['responses', { ...model, input: 'hello' }],
    ['messages', { ...model, max_tokens: 50, messages: [{ role: 'user', content: 'hello' }] }],
  ] as const) {
    const { request_id } = (await session.send('POST', path, body, { 'x-svc-as-key': boss.keyId })).body
    expect((await boss.send('GET', `requests?q=${request_id}`)).body.requests[0]?.api_key_id).toBe(boss.keyId)
  }
  for (const foreign of [other.keyId, 'nothing', crypto.randomUUID()])
    expect((await ask(foreign, bearer)).body.error.code).toBe('not_found')
  // The cookie counts for pages of this server alone, also here.
  const cookie = { cookie: `svc_session=${session.key}`, host: 'localhost' }
  expect((await ask(boss.keyId, { ...cookie, origin: 'https://evil.test' })).status).toBe(403)
  expect((await ask(boss.keyId, { ...cookie, 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  const gone = (await session.send('POST', 'keys', { name: 'gone' })).body.id
  await session.send('DELETE', `keys/${gone}`)
  expect((await ask(gone, bearer)).status).toBe(404)
})

test('a session asks for a higher tier for one key', async () => {
  const [person, other] = [await world.person({ tier: 'free' }), await world.person({ tier: 'free' })]
  const session = await world.signedIn(person)
  const input = { requested_tier: 'pro', use_case: 'tests', expected_volume: 'some', key_id: person.keyId }
  const made = await session.send('POST', 'rate-limits/request-increase', input)
  expect({ status: made.status, key_id: made.body.key_id }).toEqual({ status: 201, key_id: person.keyId })
  const foreign = await session.send('POST', 'rate-limits/request-increase', { ...input, key_id: other.keyId })
  expect(foreign.status).toBe(404)
  expect((await person.send('GET', 'rate-limits')).body.pending_request.id).toBe(made.body.id)
})
