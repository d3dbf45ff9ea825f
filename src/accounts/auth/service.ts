import type { AuditLog } from '../../audit'
import type { Call, OperatorCaller, OwnerScope, TenantCaller } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { notFound } from '../../kernel/errors'
import type { SessionId } from '../../kernel/ids'
import type { Store, Tx } from '../../kernel/store'
import { mayDo, normalizeEmail, operatorRoleOf } from '../orgs/rules'
import { PERMISSIONS } from '../orgs/schema'
import type { OrgService } from '../orgs/service'
import type { UserRow } from '../orgs/table'
import type { Attempt, Attempts } from './attempts'
import { present, type SignInSteps, type VisitorCall } from './entry'
import { authErrors, currentNeeded, invalidSession } from './errors'
import type { Passwords } from './passwords'
import { assertNewPassword } from './rules'
import type { Me, MePatch, NewPassword, OwnSessions, PasswordSet, Session, SignIn, SignUp } from './schema'
import { FRESH_MS, type Sessions } from './sessions'

export type AuthService = ReturnType<typeof createAuth>

/** Input of an operator who creates an account. Without a password, only a sign-in link opens the account. */
export type NewAccount = {
  email: string
  name?: string | null
  password: string | null
  platformRole?: UserRow['platform_role']
}

type Deps = {
  store: Store
  audit: AuditLog
  orgs: OrgService
  sessions: Pick<Sessions, 'end' | 'endAllOf' | 'byId' | 'openOf' | 'prove'>
  production: boolean
  passwords: Passwords
  attempts: Attempts
  entry: SignInSteps
  clock: Clock
  signup: 'open' | 'closed'
  /** Credits the initial balance of a new account; provided by a later module. */
  grantInitial(tx: Tx, owner: OwnerScope): Promise<void>
}

/** Throws 401 `invalid_session` for an API key. */
function sessionOf(caller: TenantCaller): SessionId {
  if (caller.type !== 'session' || caller.sessionId === null) throw authErrors.sessionNeeded()
  return caller.sessionId
}

/** Accounts for their users: sign up, sign in, sign out, change the password, read one's own (docs/api.md 1.2). */
export function createAuth({ store, audit, orgs, sessions, passwords, attempts, entry, clock, ...deps }: Deps) {
  const { signup, grantInitial, production } = deps
  const ofAccount = { me, updateMe, confirm, listSessions, endSession, endOthers }
  return { signUp, signIn, signOut, changePassword, ...ofAccount, createAccount, resetPassword }

  /**
   * Creates an account. Throws 403 `forbidden` while sign-up is closed (unless `invited`), 409 `conflict` for a known
   * address, 400 for a password like the address, 429.
   */
  async function signUp(visit: VisitorCall, { email, password, name }: SignUp, invited = false): Promise<Session> {
    if (signup !== 'open' && !invited) throw authErrors.signUpClosed()
    assertNewPassword(password, email, 'password')
    await attempts.count('sign-up', visit.ip)
    const passwordHash = await passwords.hash(password)
    return store.write(async (tx) => {
      const user = await orgs.createUser(tx, { email, name: name ?? null, passwordHash })
      await grantInitial(tx, `user:${user.id}`)
      return (await entry.openSession(tx, visit, user, 'auth.signup')).session
    })
  }

  /** Throws 401 `invalid_credentials`, with equal text and timing for a wrong password and an unknown address; 429. */
  async function signIn(visit: VisitorCall, { email, password }: SignIn): Promise<Session> {
    const account = normalizeEmail(email)
    await attempts.assertOpen(account, visit.ip)
    const user = await orgs.userByEmail(store.read, account)
    const attempt = await tried(account, visit.ip, password, user)
    if (!user || !attempt || user.disabled_at !== null) throw authErrors.invalidCredentials()
    return store.write(async (tx) => {
      // A password change and disabling the account both end all sessions. Reading again keeps a new session from
      // starting during either.
      const now = await orgs.user(tx, user.id)
      if (now?.password_hash !== user.password_hash || now?.disabled_at !== null) throw authErrors.invalidCredentials()
      await attempts.right(tx, attempt)
      return (await entry.openSession(tx, visit, user, 'auth.login')).session
    })
  }

  /** Returns the counted attempt when the password is correct, else null. Takes equally long without an account. */
  async function tried(account: string, ip: string, password: string, user: UserRow | undefined) {
    // Counts when the check leaves the queue. So only attempts under check are open, and correct ones cannot exhaust
    // the limit.
    const counted = Promise.withResolvers<Attempt>()
    const isRight = await passwords.verify(password, user?.password_hash ?? null, async () =>
      counted.resolve(await attempts.begin(account, ip)),
    )
    return isRight ? counted.promise : null
  }

  /** Ends the calling session. Throws 401 `invalid_session` for an API key. */
  async function signOut(call: Call): Promise<void> {
    const { caller } = call
    const sessionId = sessionOf(caller)
    await store.write(async (tx) => {
      await sessions.end(tx, sessionId)
      await audit.record(tx, call, { action: 'auth.logout', entityType: 'user', entityId: caller.userId })
    })
  }

  /**
   * Sets the caller's password, and ends their other sessions and sign-in links. `current` may be omitted for 15
   * minutes after a sign-in by link. Throws 400 for a password like the address or a missing `current`, 401
   * `invalid_credentials` for a wrong one, 401 `invalid_session` for a key, 429 after too many wrong ones.
   */
  async function changePassword(
    call: Call & { ip: string },
    { current, new: wanted }: NewPassword,
  ): Promise<PasswordSet> {
    const { caller, ip } = call
    if (caller.type !== 'session' || caller.sessionId === null) throw authErrors.passwordNeedsSession()
    const { sessionId } = caller
    const user = await orgs.user(store.read, caller.userId)
    if (!user) throw invalidSession()
    assertNewPassword(wanted, user.email, 'new')
    if (current === undefined) {
      // Only a session that a sign-in link opened recently may omit the current password.
      const linkedAt = (await sessions.byId(sessionId))?.link_at
      if (typeof linkedAt !== 'number' || clock.now() - linkedAt >= FRESH_MS) throw currentNeeded()
    }
    let attempt: Attempt | null = null
    if (current !== undefined) {
      await attempts.assertOpen(user.email, ip)
      attempt = await tried(user.email, ip, current, user)
      if (!attempt) throw authErrors.wrongPassword()
    }
    const hash = await passwords.hash(wanted)
    return store.write(async (tx) => {
      if (attempt) await attempts.right(tx, attempt)
      return { ended: await entry.setPassword(tx, call, user, hash, sessionId) }
    })
  }

  /** Proves the person's identity again. Throws 401 for a wrong password and for a key, 429. */
  async function confirm(call: Call & { ip: string }, { password }: { password: string }) {
    const { caller, ip } = call
    const sessionId = sessionOf(caller)
    const user = await orgs.user(store.read, caller.userId)
    if (!user) throw invalidSession()
    await attempts.assertOpen(user.email, ip)
    const attempt = await tried(user.email, ip, password, user)
    if (!attempt) throw authErrors.wrongPassword()
    return store.write(async (tx) => {
      await attempts.right(tx, attempt)
      const now = clock.now()
      await sessions.prove(tx, sessionId, now)
      await audit.record(tx, call, { action: 'auth.confirmed', entityType: 'user', entityId: user.id })
      return { confirmed_until: iso(now + FRESH_MS) }
    })
  }

  /** Lists the caller's sessions. Throws 401 `invalid_session` for a key, because others may hold the key. */
  async function listSessions({ caller }: Call): Promise<OwnSessions> {
    const current = sessionOf(caller)
    const open = await sessions.openOf(store.read, caller.userId)
    return {
      sessions: open.map(({ id, created_at, last_seen_at, user_agent, ip }) => ({
        ...{ id, created: iso(created_at), last_used_at: iso(last_seen_at) },
        ...{ user_agent, ip, current: id === current },
      })),
    }
  }

  /** Ends one session of the caller. Throws 404, 401 for a key. */
  async function endSession(call: Call, id: string): Promise<{ ended: number }> {
    sessionOf(call.caller)
    const open = await sessions.openOf(store.read, call.caller.userId)
    const found = open.find((session) => session.id === id)
    if (!found) throw notFound('session')
    return ending(call, async (tx) => {
      await sessions.end(tx, found.id)
      return 1
    })
  }

  /** Ends every session of the caller except the current one. Throws 401 for a key. */
  function endOthers(call: Call): Promise<{ ended: number }> {
    const current = sessionOf(call.caller)
    return ending(call, (tx) => sessions.endAllOf(tx, call.caller.userId, current))
  }

  function ending(call: Call, end: (tx: Tx) => Promise<number>): Promise<{ ended: number }> {
    return store.write(async (tx) => {
      const ended = await end(tx)
      const { userId: entityId } = call.caller
      const input = { metadata: { sessions: ended } }
      await audit.record(tx, call, { action: 'auth.logout', entityType: 'user', entityId, input })
      return { ended }
    })
  }

  /** Changes the caller's name. Throws 401 for a key. */
  async function updateMe(call: Call, { name }: MePatch): Promise<Me> {
    sessionOf(call.caller)
    const { userId } = call.caller
    if (name !== undefined) {
      await store.write(async (tx) => {
        await orgs.changeUser(tx, userId, { name })
        const input = { fields: ['name'] }
        await audit.record(tx, call, { action: 'user.updated', entityType: 'user', entityId: userId, input })
      })
    }
    return me(call)
  }

  /** `GET /auth/me`. An org's key sees only its own org, because people other than its creator may hold it. */
  async function me({ caller }: Call): Promise<Me> {
    const [user, mine] = await Promise.all([
      orgs.user(store.read, caller.userId),
      orgs.listFor(store.read, caller.userId),
    ])
    if (!user) throw invalidSession()
    const reached = caller.orgId ? mine.filter(({ id }) => id === caller.orgId) : mine
    const provedAt = caller.type === 'session' && caller.sessionId && (await sessions.byId(caller.sessionId))?.proved_at
    return {
      user: present(user),
      has_password: user.password_hash !== null,
      confirmed_until: provedAt ? iso(provedAt + FRESH_MS) : null,
      operator_role: caller.type === 'session' ? operatorRoleOf(user, production) : null,
      active_org_id: caller.activeOrgId,
      orgs: reached.map((org) => ({ ...org, permissions: PERMISSIONS.filter((one) => mayDo(org.role, one)) })),
    }
  }

  /** For operators: creates an account even while sign-up is closed. Throws 409 `conflict` for a known address, 400. */
  async function createAccount(call: Call<OperatorCaller>, { password, ...input }: NewAccount): Promise<UserRow> {
    if (password !== null) assertNewPassword(password, input.email, 'password')
    const passwordHash = password === null ? null : await passwords.hash(password)
    return store.write(async (tx) => {
      const user = await orgs.createUser(tx, { ...input, passwordHash })
      await grantInitial(tx, `user:${user.id}`)
      const scope = `user:${user.id}` as const
      await audit.record(tx, call, { action: 'user.created', entityType: 'user', entityId: user.id, scope })
      return user
    })
  }

  /** For operators: sets the password of an account, and ends all its sessions and sign-in links. */
  async function resetPassword(call: Call<OperatorCaller>, user: UserRow, password: string): Promise<PasswordSet> {
    assertNewPassword(password, user.email, 'password')
    const hash = await passwords.hash(password)
    return store.write(async (tx) => ({ ended: await entry.setPassword(tx, call, user, hash, null) }))
  }
}
