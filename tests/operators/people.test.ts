import { describe, expect, test } from 'bun:test'
import { createTeam } from '../accounts/orgs/team'
import { createWorld } from '../support/world'
import { operatorSender } from './support'

const world = await createWorld({ config: { signup: 'open' } })
const send = operatorSender(world)

const newUser = async () => (await send('POST', 'users', { email: `${crypto.randomUUID()}@example.com` })).body

describe('orgs on the operator API', () => {
  test('go from one made for someone to one that is gone', async () => {
    const { id: owner, email } = await newUser()
    const made = await send('POST', 'orgs', { name: 'Acme Ops', owner: email, plan_note: 'pilot' })
    expect(made.body).toMatchObject({ slug: 'acme-ops', member_count: 1, plan_note: 'pilot', deleted_at: null })
    const { id } = made.body
    expect((await send('GET', 'orgs')).body.orgs).toContainEqual(expect.objectContaining({ id }))
    const changed = await send('PATCH', `orgs/${id}`, { type: 'broker', plan_note: null })
    expect(changed.body).toMatchObject({ type: 'broker', plan_note: null, name: 'Acme Ops' })
    await send('POST', 'keys', { name: 'k', org: id })
    await send('POST', 'credits', { owner: id, amount_cents: 250 })
    expect((await send('GET', 'orgs/acme-ops')).body).toMatchObject({ id, key_count: 1, balance_cents: 250 })
    expect((await send('DELETE', 'orgs/acme-ops')).body).toMatchObject({ id, member_count: 0, slug: id })
    expect((await send('GET', 'orgs/acme-ops')).status).toBe(404)
    expect((await send('GET', `orgs/${id}`)).body).toMatchObject({ key_count: 0, balance_cents: 250 })
    expect((await send('GET', `users/${owner}`)).body.orgs).toEqual([])
    for (const [method, path, body] of [
      ['PATCH', `orgs/${id}`, { name: 'x' }],
      ['DELETE', `orgs/${id}`, undefined],
      ['POST', `orgs/${id}/members`, { user: owner, role: 'owner' }],
      ['POST', `orgs/${id}/invitations`, { email, role: 'owner' }],
    ] as const) {
      expect((await send(method, path, body)).status).toBe(404)
    }
  })

  test('keep their books when they are deleted: all can be read and corrected, nothing more comes in', async () => {
    const { body: org } = await send('POST', 'orgs', { name: 'Gone', owner: (await newUser()).id })
    await send('POST', 'credits', { owner: org.id, amount_cents: 250 })
    await send('DELETE', `orgs/${org.id}`)
    const read = async (path: string) => (await send('GET', `${path}owner=${org.id}`)).body
    expect(await read('credits?')).toMatchObject({ balance_cents: 250 })
    expect((await read('credits/ledger?')).entries).toHaveLength(1)
    expect((await read('audit?limit=1&')).events).toMatchObject([{ action: 'org.deleted' }])
    expect(await read('usage?')).toMatchObject({ totals: { requests: 0 } })
    const refused = [await send('POST', 'credits', { owner: org.id, amount_cents: 1 })]
    refused.push(await send('POST', 'keys', { name: 'k', org: org.id }))
    for (const { status, body } of refused) {
      expect(status).toBe(409)
      expect(body.error.message).toContain('"Gone" was deleted')
    }
    const returned = await send('POST', 'credits/adjustments', { owner: org.id, amount_cents: -250 })
    expect(returned.body).toMatchObject({ balance_cents: 0 })
  })

  test('keep what an operator did, with who and why, on the record of the org', async () => {
    const team = await createTeam(world)
    await send('PATCH', `orgs/${team.id}`, { plan_note: 'vip' }, { 'x-svc-operator': 'sam', 'x-svc-reason': 'deal' })
    const { items } = await world.app.container.audit.list(world.app.store.read, `org:${team.id}`, { limit: 1 })
    expect(items[0]).toMatchObject({
      action: 'org.updated',
      inputSummary: { fields: ['plan_note'], operator: { name: 'sam', reason: 'deal' } },
    })
    expect((await team.owner.send('GET', `orgs/${team.id}`)).text).not.toContain('vip')
  })
})

describe('members on the operator API', () => {
  test('come in, change and go, whatever the operator is in the org', async () => {
    const team = await createTeam(world)
    const { id, email } = await newUser()
    expect((await send('POST', `orgs/${team.id}/members`, { user: email, role: 'admin' })).body.role).toBe('admin')
    expect((await send('POST', `orgs/${team.id}/members`, { user: id, role: 'viewer' })).body.role).toBe('viewer')
    const path = `orgs/${team.id}/members/${encodeURIComponent(email)}`
    expect((await send('PATCH', path, { role: 'owner' })).body.role).toBe('owner')
    expect((await send('GET', `orgs/${team.id}/members`)).body.members).toHaveLength(5)
    expect((await send('DELETE', path)).body.deleted).toBe(true)
    expect((await send('GET', `orgs/${team.id}/members`)).body.members).toHaveLength(4)
  })

  test('never leave an org without an owner', async () => {
    const team = await createTeam(world)
    const path = `orgs/${team.id}/members/${team.owner.userId}`
    for (const [method, body] of [
      ['PATCH', { role: 'admin' }],
      ['DELETE', undefined],
    ] as const) {
      const refused = await send(method, path, body)
      expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 409, code: 'conflict' })
    }
    const added = await send('POST', `orgs/${team.id}/members`, { user: team.owner.userId, role: 'viewer' })
    expect(added.status).toBe(409)
  })

  test('are invited with a token that is shown once and opens once', async () => {
    const team = await createTeam(world)
    const email = `${crypto.randomUUID()}@example.com`
    const { body } = await send('POST', `orgs/${team.id}/invitations`, { email, role: 'member' })
    expect(body).toMatchObject({ object: 'invitation', org_id: team.id, email, status: 'pending' })
    expect(body.token).toMatch(/^svc_iv_[0-9A-Za-z]{43}$/)
    const { body: eve } = await world.send('POST', 'auth/signup', { email, password: 'correct horse battery' })
    const session = { authorization: `Bearer ${eve.session_token}` }
    const joined = await world.send('POST', `invitations/${body.token}/accept`, undefined, session)
    expect({ status: joined.status, role: joined.body.organization.role }).toEqual({ status: 200, role: 'member' })
    const { items } = await world.app.container.audit.list(world.app.store.read, `org:${team.id}`, { limit: 5 })
    expect(JSON.stringify(items)).not.toContain(body.token)
  })
})

describe('users on the operator API', () => {
  test('are made with a first password that signs in, while sign-up is whatever it is', async () => {
    const email = `${crypto.randomUUID()}@example.com`
    const { body } = await send('POST', 'users', { email, name: 'Ada', platform_role: 'reviewer' })
    expect(body).toMatchObject({ object: 'user', email, name: 'Ada', platform_role: 'reviewer', disabled_at: null })
    expect(body.password).toMatch(/^[0-9A-Za-z]{20}$/)
    expect((await world.send('POST', 'auth/sessions', { email, password: body.password })).status).toBe(201)
    expect((await send('GET', `users/${body.id}`)).body).toMatchObject({ session_count: 1, orgs: [] })
    expect((await send('POST', 'users', { email: `x${email}`, password: 'of their own' })).body.password).toBeNull()
    const { items } = await world.app.container.audit.list(world.app.store.read, `user:${body.id}`, { limit: 5 })
    expect(items.map(({ action }) => action)).toContain('user.created')
    expect(JSON.stringify(items) + world.logged.join('')).not.toContain(body.password)
  })

  test('are shut out and let in: keys work again, sessions are over', async () => {
    const ada = await world.person()
    const { email, id, password } = await newUser()
    const { body } = await world.send('POST', 'auth/sessions', { email, password })
    const session = { authorization: `Bearer ${body.session_token}` }
    const signedIn = async () => (await world.send('GET', 'auth/me', undefined, session)).status
    expect(await signedIn()).toBe(200)
    for (const disabled of [true, false]) {
      await send('PATCH', `users/${id}`, { disabled })
      expect(await signedIn()).toBe(401)
    }
    expect((await world.send('POST', 'auth/sessions', { email, password })).status).toBe(201)
    expect((await send('PATCH', `users/${ada.userId}`, { disabled: true })).body.disabled_at).not.toBeNull()
    expect((await ada.send('GET', 'models')).status).toBe(401)
    expect((await send('PATCH', `users/${ada.userId}`, { disabled: false })).body.disabled_at).toBeNull()
    expect((await ada.send('GET', 'models')).status).toBe(200)
  })

  test('have a role as operators, which is given and taken', async () => {
    const { id } = await newUser()
    const roleOf = async (operator_role: string | null) => {
      const { operator_role: now, platform_role } = (await send('PATCH', `users/${id}`, { operator_role })).body
      return { now, platform_role }
    }
    expect(await roleOf('support')).toEqual({ now: 'support', platform_role: null })
    expect(await roleOf('admin')).toEqual({ now: 'admin', platform_role: 'admin' })
    expect(await roleOf('reviewer')).toEqual({ now: 'reviewer', platform_role: 'reviewer' })
    expect(await roleOf(null)).toEqual({ now: null, platform_role: null })
    const { items } = await world.app.container.audit.list(world.app.store.read, `user:${id}`, { limit: 5 })
    expect(items.map(({ action }) => action)).toContain('user.role_set')
  })

  test('have sessions that end one by one or all at once', async () => {
    const { email, id, password } = await newUser()
    const signIn = async () => (await world.send('POST', 'auth/sessions', { email, password })).body.session_token
    const tokens = [await signIn(), await signIn(), await signIn()]
    const statusOf = async (token: string) => (await world.byKey(token).send('GET', 'auth/me')).status
    const { sessions } = (await send('GET', `users/${id}/sessions`)).body
    expect(sessions).toHaveLength(3)
    expect((await send('DELETE', `users/${id}/sessions/${sessions[0].id}`)).body.ended).toBe(1)
    expect((await Promise.all(tokens.map(statusOf))).toSorted()).toEqual([200, 200, 401])
    expect((await send('DELETE', `users/${id}/sessions/all`)).body.ended).toBe(2)
    expect(await Promise.all(tokens.map(statusOf))).toEqual([401, 401, 401])
    expect((await send('DELETE', `users/${id}/sessions/all`)).body.ended).toBe(0)
  })

  test('have only their own sessions ended', async () => {
    const [one, two] = [await newUser(), await newUser()]
    await world.send('POST', 'auth/sessions', { email: two.email, password: two.password })
    const { sessions } = (await send('GET', `users/${two.id}/sessions`)).body
    expect((await send('DELETE', `users/${one.id}/sessions/${sessions[0].id}`)).status).toBe(404)
    expect((await send('GET', `users/${two.id}/sessions`)).body.sessions).toHaveLength(1)
  })
})

describe('what the operator API refuses of people', () => {
  const nobody = crypto.randomUUID()
  const rows: [string, string, unknown, number, string][] = [
    ['GET', 'orgs/nobody', undefined, 404, 'not_found'],
    ['GET', `orgs/${nobody}`, undefined, 404, 'not_found'],
    ['GET', 'orgs?limit=0', undefined, 400, 'validation_error'],
    ['GET', 'orgs?cursor=!!', undefined, 400, 'validation_error'],
    ['POST', 'orgs', {}, 400, 'validation_error'],
    ['POST', 'orgs', { name: 'x', owner: 'nobody@example.com' }, 404, 'not_found'],
    ['POST', 'orgs', { name: 'x', type: 'gang' }, 400, 'validation_error'],
    ['PATCH', 'orgs/nobody', { name: 'x' }, 404, 'not_found'],
    ['DELETE', 'orgs/nobody', undefined, 404, 'not_found'],
    ['GET', 'orgs/nobody/members', undefined, 404, 'not_found'],
    ['POST', 'orgs/nobody/members', { user: 'x@example.com', role: 'admin' }, 404, 'not_found'],
    ['POST', 'orgs/nobody/members', { user: 'x@example.com', role: 'boss' }, 400, 'validation_error'],
    ['POST', 'orgs/nobody/invitations', { email: 'x', role: 'admin' }, 400, 'validation_error'],
    ['GET', 'users/nobody', undefined, 404, 'not_found'],
    ['GET', `users/${nobody}`, undefined, 404, 'not_found'],
    ['POST', 'users', { email: 'x' }, 400, 'validation_error'],
    ['POST', 'users', { email: 'x@example.com', password: 'short' }, 400, 'validation_error'],
    ['POST', 'users', { email: 'x@example.com', platform_role: 'god' }, 400, 'validation_error'],
    ['PATCH', 'users/nobody', { disabled: true }, 404, 'not_found'],
    ['PATCH', 'users/nobody', { disabled: 'yes' }, 400, 'validation_error'],
    ['PATCH', 'users/nobody', { operator_role: 'god' }, 400, 'validation_error'],
    ['GET', 'users/nobody/sessions', undefined, 404, 'not_found'],
    ['DELETE', 'users/nobody/sessions/all', undefined, 404, 'not_found'],
  ]
  test.each(rows)('%s %s %j: %d', async (method, path, body, status, code) => {
    const reply = await send(method, path, body)
    expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status, code })
  })

  test('an address that has an account, and a slug that is taken', async () => {
    const { email } = await newUser()
    expect((await send('POST', 'users', { email: email.toUpperCase() })).status).toBe(409)
    const team = await createTeam(world)
    const body = { name: 'x', slug: team.slug, owner: email }
    expect((await send('POST', 'orgs', body)).body.error).toMatchObject({ code: 'conflict' })
  })
})
