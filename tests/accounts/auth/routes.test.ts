// Both databases: attempts and links are counted and used up by its statements.
import { describe, expect, test } from 'bun:test'
import { refusals } from '../../support/refusals'
import { createWorld } from '../../support/world'

const world = await createWorld({ config: { signup: 'open' } })
const PASSWORD = 'correct horse'

const email = () => `ada.${crypto.randomUUID()}@example.com`
const signUp = async (address = email()) =>
  (await world.send('POST', 'auth/signup', { email: address, password: PASSWORD, name: 'Ada' })).body
const signIn = (address: string, password = PASSWORD) =>
  world.send('POST', 'auth/sessions', { email: address, password })

describe('/auth', () => {
  test('signs up, in, tells who is asking, and signs out', async () => {
    const address = email()
    const made = await world.send('POST', 'auth/signup', { email: address, password: PASSWORD, name: 'Ada' })
    expect(made.status).toBe(201)
    const { user } = made.body
    expect(made.body).toEqual({
      user: { id: user.id, email: address, name: 'Ada', created: user.created },
      session_token: expect.stringMatching(/^svc_ds_[0-9A-Za-z]{48}$/),
      expires_at: expect.any(String),
      request_id: made.headers.get('x-request-id'),
    })

    const opened = await signIn(address)
    expect({ status: opened.status, user: opened.body.user }).toEqual({ status: 201, user })
    const bearer = { authorization: `Bearer ${opened.body.session_token}` }
    const me = await world.send('GET', 'auth/me', undefined, bearer)
    expect(me.body).toEqual({
      ...{ user, has_password: true, confirmed_until: expect.any(String), operator_role: null },
      ...{ active_org_id: null, orgs: [], request_id: me.body.request_id },
    })

    const out = await world.send('DELETE', 'auth/sessions', undefined, bearer)
    expect(out.body).toEqual({ deleted: true, request_id: out.body.request_id })
    expect(out.headers.get('set-cookie')).toBe('svc_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0')
    const after = await world.send('GET', 'auth/me', undefined, bearer)
    expect({ status: after.status, code: after.body.error.code }).toEqual({ status: 401, code: 'invalid_session' })
  })

  test('lists the sessions of a person, ends one or all others, and changes the name', async () => {
    const { user } = await signUp()
    const open = async (agent: string) =>
      (await world.send('POST', 'auth/sessions', { email: user.email, password: PASSWORD }, { 'user-agent': agent }))
        .body
    const bearerOf = ({ session_token }: { session_token: string }) => ({ authorization: `Bearer ${session_token}` })
    const [phone, laptop] = [bearerOf(await open('Phone')), bearerOf(await open('Desk'))]
    const { sessions } = (await world.send('GET', 'auth/sessions', undefined, laptop)).body
    const agents = new Map(sessions.map((one: { user_agent: string }) => [one.user_agent, one]))
    expect(sessions.length).toBe(3)
    expect(agents.get('Desk')).toEqual({
      ...{ id: expect.any(String), created: expect.any(String), last_used_at: expect.any(String) },
      ...{ user_agent: 'Desk', ip: expect.any(String), current: true },
    })
    const { id } = agents.get('Phone') as { id: string }
    const gone = await world.send('DELETE', `auth/sessions/${id}`, undefined, laptop)
    expect(gone.body).toEqual({ ended: 1, request_id: gone.body.request_id })
    expect((await world.send('GET', 'auth/me', undefined, phone)).status).toBe(401)
    expect((await world.send('DELETE', `auth/sessions/${id}`, undefined, laptop)).status).toBe(404)
    const stranger = bearerOf(await signUp())
    const mine = (await world.send('GET', 'auth/sessions', undefined, stranger)).body.sessions[0].id
    expect((await world.send('DELETE', `auth/sessions/${mine}`, undefined, laptop)).status).toBe(404)
    const others = await world.send('DELETE', 'auth/sessions?others=1', undefined, laptop)
    expect(others.body).toEqual({ deleted: true, ended: 1, request_id: others.body.request_id })
    expect((await world.send('PATCH', 'auth/me', { name: 'Ada L.' }, laptop)).body.user.name).toBe('Ada L.')
    const { key } = (await world.send('POST', 'keys', {}, laptop)).body
    const byKey = (method: string, path: string, body?: unknown) => world.byKey(key).send(method, path, body)
    const refused = [
      await byKey('GET', 'auth/sessions'),
      await byKey('DELETE', `auth/sessions/${id}`),
      await byKey('PATCH', 'auth/me', { name: 'Eve' }),
      await byKey('POST', 'auth/confirm', { password: PASSWORD }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401])
  })

  test('proves who it is with the password, for a quarter of an hour', async () => {
    const bearer = { authorization: `Bearer ${(await signUp()).session_token}` }
    expect((await world.send('POST', 'auth/confirm', { password: 'wrong horse' }, bearer)).status).toBe(401)
    const { confirmed_until } = (await world.send('POST', 'auth/confirm', { password: PASSWORD }, bearer)).body
    expect(Date.parse(confirmed_until) - Date.now()).toBeGreaterThan(14 * 60_000)
    expect((await world.send('GET', 'auth/me', undefined, bearer)).body.confirmed_until).toBe(confirmed_until)
  })

  test('sets a cookie that scripts cannot read and that opens the same session', async () => {
    const { user } = await signUp()
    const { headers, body } = await signIn(user.email)
    const cookie = headers.get('set-cookie')!
    expect(cookie).toBe(`svc_session=${body.session_token}; Path=/; HttpOnly; SameSite=Strict`)
    expect((await world.send('GET', 'auth/me', undefined, { cookie: cookie.split(';')[0]! })).body.user).toEqual(user)
  })

  test('lets a session manage keys, and holds it to 120 requests a minute', async () => {
    const { user, session_token } = await signUp()
    const bearer = { authorization: `Bearer ${session_token}` }
    const made = await world.send('POST', 'keys', {}, bearer)
    expect(made.status).toBe(201)
    expect(made.headers.get('x-ratelimit-limit-requests')).toBe('120')
    const me = await world.byKey(made.body.key).send('GET', 'auth/me')
    expect(me.body.user).toEqual(user)
  })

  test("tells an org's key of its own org and of no other of its maker", async () => {
    const { session_token } = await signUp()
    const bearer = { authorization: `Bearer ${session_token}` }
    const { body: org } = await world.send('POST', 'orgs', { name: 'Acme' }, bearer)
    await world.send('POST', 'orgs', { name: 'Elsewhere' }, bearer)
    const { body: key } = await world.send('POST', 'keys', { org_id: org.id }, bearer)
    const namesFor = async (headers: Record<string, string>) =>
      (await world.send('GET', 'auth/me', undefined, headers)).body.orgs.map(({ name }: { name: string }) => name)
    expect(await namesFor({ authorization: `Bearer ${key.key}` })).toEqual(['Acme'])
    expect(await namesFor(bearer)).toEqual(['Elsewhere', 'Acme'])
  })

  test('lets the cookie change nothing from another site', async () => {
    const { session_token } = await signUp()
    const post = (headers: Record<string, string>) =>
      world.send('POST', 'keys', {}, { cookie: `svc_session=${session_token}`, host: 'localhost', ...headers })
    const elsewhere: Record<string, string>[] = [
      { origin: 'https://evil.test' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of elsewhere) {
      expect(await post(headers)).toMatchObject({ status: 403, body: { error: { code: 'origin_not_allowed' } } })
    }
    expect((await post({ 'sec-fetch-site': 'same-origin', origin: 'http://localhost' })).status).toBe(201)
    expect((await post({ origin: 'http://localhost' })).status).toBe(201)
  })

  test('lets a program sign out with the cookie alone', async () => {
    const cookie = `svc_session=${(await signUp()).session_token}`
    const out = await world.send('DELETE', 'auth/sessions', undefined, { cookie })
    expect(out).toMatchObject({ status: 200, body: { deleted: true } })
    expect((await world.send('GET', 'auth/me', undefined, { cookie })).status).toBe(401)
  })

  test('puts neither password nor token into the log', async () => {
    const { user, session_token } = await signUp()
    await signIn(user.email, 'a canary password')
    await world.send('GET', `auth/me?access_token=${session_token}`)
    const log = world.logged.join('')
    expect(log).not.toContain('a canary password')
    expect(log).not.toContain(session_token.slice(8))
  })
})

const account = { email: 'a@example.com', password: PASSWORD }
const signingUp = { world, as: await world.person(), anonymous: true, request: 'POST auth/signup' }
refusals('POST /auth/signup refuses', signingUp, [
  ['an address that is none', { ...account, email: 'ada' }, '"email" is "ada"'],
  ['a password of 7', { ...account, password: '1234567' }, ''],
  ['a password of 201', { ...account, password: 'x'.repeat(201) }, ''],
  ['no password', { email: account.email }, '"password" is missing'],
])
refusals('POST /auth/sessions refuses', { ...signingUp, request: 'POST auth/sessions' }, [
  ['a wrong password', { ...account, email: 'nobody@example.com' }, '', { status: 401, code: 'invalid_credentials' }],
  ['a password that is a number', { ...account, password: 5 }, ''],
])

describe('what /auth refuses', () => {
  test('everyone while sign-up is closed, and guesses after ten', async () => {
    const closed = await createWorld()
    const refused = await closed.send('POST', 'auth/signup', { email: email(), password: PASSWORD })
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 403, code: 'forbidden' })
    expect(refused.body.error.message).toContain('SVC_SIGNUP=open')
    for (let n = 0; n < 10; n++) await closed.send('POST', 'auth/sessions', { email: 'a@example.com', password: 'x' })
    const late = await closed.send('POST', 'auth/sessions', { email: 'a@example.com', password: 'x' })
    expect({ status: late.status, code: late.body.error.code }).toEqual({ status: 429, code: 'rate_limit_exceeded' })
    expect(Number(late.headers.get('retry-after'))).toBeWithin(800, 901)
  })

  test('to end a session for an API key', async () => {
    const refused = await (await world.person()).send('DELETE', 'auth/sessions')
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 401, code: 'invalid_session' })
  })

  const places: [string, (key: string) => [string, Record<string, string>]][] = [
    ['a cookie', (key) => ['auth/me', { cookie: `api_key=${key}` }]],
    ['another header', (key) => ['auth/me', { 'x-api-key': key }]],
  ]
  test.each(places)('a key in %s (A7)', async (_place, sent) => {
    const ada = await world.person()
    const [path, headers] = sent(ada.key)
    const refused = await world.send('GET', path, undefined, headers)
    expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 401, code: 'invalid_api_key' })
    expect(world.logged.join('')).not.toContain(ada.key.slice(16))
  })
})
