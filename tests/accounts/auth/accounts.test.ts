import { describe, expect, test } from 'bun:test'
import { actingIdentityOf, createBackgroundCallers, removeExpiredSessions } from '../../../src/accounts'
import { KeyId } from '../../../src/kernel/ids'
import { callOf, operatorCaller, sessionCaller } from '../../support/callers'
import { openTestStore } from '../../support/store'
import { createAuthWorld, visit } from './world'

const store = await openTestStore()
const PASSWORD = 'correct horse'
const email = () => `ada.${crypto.randomUUID()}@Example.com`

describe('signing up', () => {
  test('makes an account with credit and a session', async () => {
    const { auth, bearer, granted, audit } = createAuthWorld(store)
    const address = email()
    const made = await auth.signUp(visit('POST /auth/signup'), { email: address, password: PASSWORD, name: 'Ada' })
    expect(made).toEqual({
      user: { id: made.user.id, email: address.toLowerCase(), name: 'Ada', created: '2026-01-01T00:00:00.000Z' },
      session_token: expect.stringMatching(/^svc_ds_[0-9A-Za-z]{48}$/),
      expires_at: '2026-01-01T12:00:00.000Z',
    })
    expect(granted).toEqual([`user:${made.user.id}`])
    expect(await bearer(made.session_token)).toMatchObject({ type: 'session', userId: made.user.id })
    const rows = (await audit.list(store.read, `user:${made.user.id}`, { limit: 10 })).items
    expect(rows).toMatchObject([{ action: 'auth.signup', entityType: 'user', userId: made.user.id }])
  })

  test('takes an address once, however it is written, and grants nothing the second time', async () => {
    const { auth, granted } = createAuthWorld(store)
    const address = email()
    await auth.signUp(visit(), { email: address, password: PASSWORD })
    expect(auth.signUp(visit(), { email: address.toUpperCase(), password: PASSWORD })).rejects.toMatchObject({
      code: 'conflict',
    })
    expect(granted).toHaveLength(1)
  })

  test('is bounded per network', async () => {
    const { attempts } = createAuthWorld(store)
    for (let n = 0; n < 100; n++) await attempts.count('sign-up', '2001:db8::1')
    await expect(attempts.count('sign-up', '2001:db8::2')).rejects.toThrow('Too many attempts')
    await attempts.count('sign-up', '2001:db8:1::1')
  })
})

describe('signing in', () => {
  test('opens a session of its own each time', async () => {
    const { auth, join, audit } = createAuthWorld(store)
    const { user, session_token } = await join(PASSWORD)
    const again = await auth.signIn(visit(), { email: user.email.toUpperCase(), password: PASSWORD })
    expect(again).toMatchObject({ user, expires_at: '2026-01-01T12:00:00.000Z' })
    expect(again.session_token).not.toBe(session_token)
    const [row] = (await audit.list(store.read, `user:${user.id}`, { limit: 1 })).items
    expect(row).toMatchObject({ action: 'auth.login', inputSummary: { method: 'POST', endpoint: '/auth/sessions' } })
  })

  test('says the same of a wrong password, an unknown address, a disabled account and one without a password', async () => {
    const { auth, join, orgs, addUser } = createAuthWorld(store)
    const [known, disabled] = [await join(PASSWORD), await join(PASSWORD)]
    const passwordless = await addUser()
    await orgs.setUserDisabled(callOf(operatorCaller()), disabled.user.id, true)
    const tries = [
      { email: known.user.email, password: 'wrong' },
      { email: email(), password: PASSWORD },
      { email: disabled.user.email, password: PASSWORD },
      { email: passwordless.email, password: PASSWORD },
      { email: 'not an address', password: PASSWORD },
    ]
    const answers = await Promise.all(tries.map((input) => auth.signIn(visit(), input).catch((error: Error) => error)))
    for (const answer of answers) {
      expect(answer).toMatchObject({
        code: 'invalid_credentials',
        message: 'The e-mail address or the password is wrong.',
      })
    }
  })

  test('is bounded per account and network, until the password is right or the window is over', async () => {
    const { auth, join, clock, attempts } = createAuthWorld(store)
    const { user } = await join(PASSWORD)
    const wrong = () => auth.signIn(visit(), { email: user.email, password: 'wrong' }).catch((error: Error) => error)
    for (let n = 0; n < 9; n++) await wrong()
    await auth.signIn(visit(), { email: user.email, password: PASSWORD })
    for (let n = 0; n < 10; n++) await attempts.begin(user.email, '192.0.2.1')
    expect(await wrong()).toMatchObject({ code: 'rate_limit_exceeded', retryAfterS: 900 })
    expect(
      await auth.signIn(visit('POST /auth/sessions', '198.51.100.7'), { email: user.email, password: PASSWORD }),
    ).toMatchObject({ user })
    clock.advance(15 * 60_000)
    expect(await auth.signIn(visit(), { email: user.email, password: PASSWORD })).toMatchObject({ user })
  })

  test('stores neither password nor token', async () => {
    const { orgs, join, audit } = createAuthWorld(store)
    const { user, session_token } = await join('a canary password')
    const stored = JSON.stringify([
      await orgs.user(store.read, user.id),
      (await audit.list(store.read, `user:${user.id}`, { limit: 10 })).items,
    ])
    expect(stored).toContain('$argon2id$')
    expect(stored).not.toContain('a canary password')
    expect(stored).not.toContain(session_token)
  })
})

test('who am I tells a session and a key the user, the active org and every org', async () => {
  const { auth, join, bearer, orgs, addOrg, withKey } = createAuthWorld(store)
  const { user, session_token } = await join()
  const acme = await addOrg(user.id)
  expect(await auth.me(callOf(await bearer(session_token)))).toMatchObject({
    user,
    active_org_id: null,
    orgs: [{ id: acme.id }],
  })
  await orgs.activate(callOf(await bearer(session_token)), acme.id)
  const { call } = await withKey(user.id)
  const seen = {
    user,
    active_org_id: acme.id,
    orgs: [{ id: acme.id, object: 'organization', role: 'owner', member_count: 1 }],
  }
  expect(await auth.me(callOf(await bearer(session_token)))).toMatchObject(seen)
  expect(await auth.me(call)).toMatchObject(seen)
})

const HOUR = 60 * 60_000

async function tidy({ lastSeen, clock }: ReturnType<typeof createAuthWorld>): Promise<number> {
  await lastSeen.flush()
  return removeExpiredSessions({ store, clock })
}

/** Whether a token still opens anything. */
const opens = async (world: ReturnType<typeof createAuthWorld>, token: string) =>
  Promise.try(() => world.bearer(token)).then(
    () => true,
    (error: { code: string }) => {
      expect(error.code).toBe('invalid_session')
      return false
    },
  )

describe('a session', () => {
  test('ends 12 hours after its last use', async () => {
    const world = createAuthWorld(store)
    const { session_token } = await world.join()
    for (let hours = 0; hours < 36; hours += 6) {
      expect(await opens(world, session_token)).toBe(true)
      await tidy(world)
      world.clock.advance(6 * HOUR)
    }
    world.clock.advance(6 * HOUR)
    expect(await opens(world, session_token)).toBe(false)
  })

  test('is moved on in the database too, so a restart does not shorten it', async () => {
    const world = createAuthWorld(store)
    const { session_token } = await world.join()
    world.clock.advance(6 * HOUR)
    expect(await opens(world, session_token)).toBe(true)
    await tidy(world)
    world.clock.advance(11 * HOUR)
    const restarted = createAuthWorld(store)
    restarted.clock.advance(17 * HOUR)
    expect(await opens(restarted, session_token)).toBe(true)
  })

  test('ends when its user signs out, at once, and no other', async () => {
    const world = createAuthWorld(store)
    const [mine, other] = [await world.join(), await world.join()]
    const call = callOf(await world.bearer(mine.session_token))
    await world.auth.signOut(call)
    expect(await opens(world, mine.session_token)).toBe(false)
    expect(await opens(world, other.session_token)).toBe(true)
    expect(await world.actions(mine.user.id)).toEqual(['auth.signup', 'auth.logout'])
  })

  test('does not outlive its account', async () => {
    const world = createAuthWorld(store)
    const { user, session_token } = await world.join()
    expect(await opens(world, session_token)).toBe(true)
    await world.orgs.setUserDisabled(callOf(operatorCaller()), user.id, true)
    expect(await opens(world, session_token)).toBe(false)
    await world.orgs.setUserDisabled(callOf(operatorCaller()), user.id, false)
    expect(await opens(world, session_token)).toBe(false)
  })

  test('opened while its account was being shut out is over when the account is let back in', async () => {
    const world = createAuthWorld(store)
    const [{ user }, other] = [await world.join(), await world.join()]
    await world.orgs.setUserDisabled(callOf(operatorCaller()), user.id, true)
    const late = await store.write((tx) => world.sessions.open(tx, user.id))
    await world.orgs.setUserDisabled(callOf(operatorCaller()), user.id, false)
    expect(await opens(world, late.token)).toBe(false)
    expect(await world.sessions.openOf(store.read, user.id)).toEqual([])
    expect(await opens(world, other.session_token)).toBe(true)
  })

  test('is cleared away once it is over, and not before', async () => {
    const world = createAuthWorld(store)
    while ((await tidy(world)) > 0);
    await world.join()
    expect(await tidy(world)).toBe(0)
    world.clock.advance(365 * 24 * HOUR)
    expect(await tidy(world)).toBeGreaterThan(0)
  })
})

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
