import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { sessions } from '../../src/accounts/auth/table'
import { users } from '../../src/accounts/orgs/table'
import { createWorld, type World } from '../support/world'

const world = await createWorld()
const { store } = world.app.container
type Role = 'admin' | 'reviewer' | 'security_reviewer' | null

/** An account with a role, and its session's cookie. */
async function operator(role: Role, from: World = world) {
  const person = await from.person()
  const setRole = (now: Role) =>
    from.app.container.store.write((tx) =>
      tx
        .update(tx.of(users))
        .set({ platform_role: now })
        .where(eq(tx.of(users).id, person.userId)),
    )
  await setRole(role)
  const { key: token } = await from.signedIn(person)
  const ask = async (path: string, { method = 'GET', body, ...headers }: Record<string, unknown> = {}) => {
    const response = await from.app.api.handle(
      new Request(`http://localhost/ops/v1/${path}`, {
        method: method as string,
        headers: {
          ...{ cookie: `svc_session=${token}`, host: 'localhost', 'sec-fetch-site': 'same-origin' },
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(headers as Record<string, string>),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }
  return { ...person, ask, setRole }
}

describe('the operator API in a browser', () => {
  test('gives a role only to whom proved a short while ago who they are', async () => {
    const admin = await operator('admin')
    const { userId } = await world.person()
    const give = () => admin.ask(`users/${userId}`, { method: 'PATCH', body: { operator_role: 'viewer' } })
    expect((await give()).body.operator_role).toBe('viewer')
    const rows = store.read.of(sessions)
    await store.write((tx) => tx.update(tx.of(sessions)).set({ proved_at: 1 }).where(eq(rows.user_id, admin.userId)))
    expect(await give()).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } })
  })

  test('is for a session whose account has a role, with that role', async () => {
    const admin = await operator('admin')
    expect((await admin.ask('status')).status).toBe(200)
    expect((await admin.ask('orgs', { method: 'POST', body: { name: 'Made here' } })).status).toBe(200)
    const reviewer = await operator('security_reviewer')
    expect((await reviewer.ask('status')).status).toBe(200)
    expect((await reviewer.ask('orgs', { method: 'POST', body: { name: 'Not made' } })).status).toBe(403)
  })

  test('refuses everybody else', async () => {
    const admin = await operator('admin')
    const nobody = await operator(null)
    const { key } = admin
    const refused = async (ask: typeof admin.ask, how: Record<string, unknown> = {}) =>
      (await ask('status', how)).status
    expect({
      'no role': await refused(nobody.ask),
      'owner of another, without a role': (await nobody.ask(`usage?owner=${admin.userId}`)).status,
      'page of another site': await refused(admin.ask, { 'sec-fetch-site': 'cross-site' }),
      'page of a sibling': await refused(admin.ask, { 'sec-fetch-site': 'same-site' }),
      'change from another site': await refused(admin.ask, {
        method: 'POST',
        body: {},
        'sec-fetch-site': 'cross-site',
      }),
      'change without a sign of its page': await refused(admin.ask, { method: 'POST', body: {}, 'sec-fetch-site': '' }),
      'cookie and bearer': await refused(admin.ask, { authorization: `Bearer ${key}` }),
      'operator key alone': await refused(admin.ask, { cookie: '', authorization: 'Bearer svc_op_x' }),
      'another cookie': await refused(admin.ask, { cookie: 'svc_session=svc_ds_nonsense' }),
      'no cookie': await refused(admin.ask, { cookie: '' }),
    }).toEqual({
      'no role': 403,
      'owner of another, without a role': 403,
      'page of another site': 403,
      'page of a sibling': 403,
      'change from another site': 403,
      'change without a sign of its page': 403,
      'cookie and bearer': 404,
      'operator key alone': 404,
      'another cookie': 401,
      'no cookie': 404,
    })
  })

  test('ends with the role, at once', async () => {
    const admin = await operator('admin')
    expect((await admin.ask('status')).status).toBe(200)
    await admin.setRole(null)
    expect((await admin.ask('status')).status).toBe(403)
  })

  test('records once an hour whose owner was looked at', async () => {
    const [admin, ada] = [await operator('admin'), await world.person()]
    for (const _ of [1, 2, 3]) expect((await admin.ask(`usage?owner=${ada.userId}`)).status).toBe(200)
    expect((await ada.send('GET', 'audit?action=operator.viewed_owner')).body).toHaveLength(1)
  })

  test.each([{ console: 'off' }, { consoleOperators: 'off' }] as const)('is not there with %j', async (config) => {
    const closed = await createWorld({ config })
    expect((await (await operator('admin', closed)).ask('status')).status).toBe(404)
    const page = await closed.app.api.handle(new Request('http://localhost/console'))
    expect(page.status === 404).toBe('console' in config)
  })

  test('shows the configuration, and of a secret only whether it is set', async () => {
    const { settings } = (await (await operator('reviewer')).ask('config')).body
    const named = (env: string) => settings.find((one: { env: string }) => one.env === env)
    expect(named('SVC_CONSOLE')).toMatchObject({ name: 'console', value: 'on', origin: 'default' })
    expect(named('SVC_STRIPE_SECRET_KEY').value).toBe('not set')
  })

  test('a refused request changes nothing', async () => {
    const nobody = await operator(null)
    const before = (await store.read.select().from(store.read.of(users))).length
    await nobody.ask('users', { method: 'POST', body: { email: 'eve@example.com' } })
    expect(await store.read.select().from(store.read.of(users))).toHaveLength(before)
  })
})
