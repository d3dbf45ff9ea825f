import type { AuditLog } from '../audit'
import type { Call, OperatorCaller, OwnerScope, SessionCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { Store, Tx } from '../kernel/store'
import { normalizeEmail, type OrgService, type UserRow } from '../orgs'
import type { Attempt, Attempts } from './attempts'
import { invalidCredentials, invalidSession, sessionNeeded, signUpClosed } from './errors'
import type { Passwords } from './passwords'
import type { Me, Session, SignIn, SignUp, User } from './schema'
import type { OpenedSession, Sessions } from './sessions'

export type AuthService = ReturnType<typeof createAuth>

/** A call by someone who is not authenticated yet. */
export type Visit = Omit<Call, 'caller'> & { readonly ip: string }

/** What an operator states when creating an account. */
export type NewAccount = {
  email: string
  name?: string | null
  password: string
  platformRole?: UserRow['platform_role']
}

type Deps = {
  store: Store
  audit: AuditLog
  orgs: OrgService
  sessions: Sessions
  passwords: Passwords
  attempts: Attempts
  clock: Clock
  signup: 'open' | 'closed'
  /** Credits the initial balance of a new account; provided by a later room. */
  grantInitial(tx: Tx, owner: OwnerScope): Promise<void>
}

/** Accounts for their users: sign up, sign in, sign out, read one's own (contract 1.2). */
export function createAuth({ store, audit, orgs, sessions, passwords, attempts, signup, grantInitial }: Deps) {
  return { signUp, signIn, signOut, me, createAccount }

  /** Creates an account. Throws 403 `forbidden` while sign-up is closed, 409 `conflict` for a known address, 429. */
  async function signUp(visit: Visit, { email, password, name }: SignUp): Promise<Session> {
    if (signup !== 'open') throw signUpClosed()
    await attempts.begin(null, visit.ip)
    const passwordHash = await passwords.hash(password)
    return store.write(async (tx) => {
      const user = await orgs.createUser(tx, { email, name: name ?? null, passwordHash })
      await grantInitial(tx, `user:${user.id}`)
      return openSession(tx, visit, user, 'auth.signup')
    })
  }

  /** Throws 401 `invalid_credentials`, with the same text and timing for a wrong password and an unknown address; 429. */
  async function signIn(visit: Visit, { email, password }: SignIn): Promise<Session> {
    const account = normalizeEmail(email)
    await attempts.assertOpen(account, visit.ip)
    const user = await orgs.userByEmail(store.read, account)
    // Counted when its turn comes: at most as many are open as are checked at once, so right ones refuse no one.
    const counted = Promise.withResolvers<Attempt>()
    const isRight = await passwords.verify(password, user?.password_hash ?? null, async () =>
      counted.resolve(await attempts.begin(account, visit.ip)),
    )
    if (!user || !isRight || user.disabled_at !== null) throw invalidCredentials()
    const attempt = await counted.promise
    return store.write(async (tx) => {
      await attempts.right(tx, attempt)
      return openSession(tx, visit, user, 'auth.login')
    })
  }

  /** Ends the calling session. Throws 401 `invalid_session` for an API key. */
  async function signOut(call: Call): Promise<void> {
    const { caller } = call
    if (caller.type !== 'session' || caller.sessionId === null) throw sessionNeeded()
    const { sessionId } = caller
    await store.write(async (tx) => {
      await sessions.end(tx, sessionId)
      await audit.record(tx, call, { action: 'auth.logout', entityType: 'user', entityId: caller.userId })
    })
  }

  /** `GET /auth/me`. An org's key sees only its own org, because people other than its maker may hold it. */
  async function me({ caller }: Call): Promise<Me> {
    const [user, mine] = await Promise.all([
      orgs.user(store.read, caller.userId),
      orgs.listFor(store.read, caller.userId),
    ])
    if (!user) throw invalidSession()
    const reached = caller.orgId ? mine.filter(({ id }) => id === caller.orgId) : mine
    return { user: present(user), active_org_id: caller.activeOrgId, orgs: reached }
  }

  /** For operators: creates an account even while sign-up is closed. Throws 409 `conflict` for a known address. */
  async function createAccount(call: Call<OperatorCaller>, { password, ...order }: NewAccount): Promise<UserRow> {
    const passwordHash = await passwords.hash(password)
    return store.write(async (tx) => {
      const user = await orgs.createUser(tx, { ...order, passwordHash })
      await grantInitial(tx, `user:${user.id}`)
      const scope = `user:${user.id}` as const
      await audit.record(tx, call, { action: 'user.created', entityType: 'user', entityId: user.id, scope })
      return user
    })
  }

  async function openSession(tx: Tx, visit: Visit, user: UserRow, action: string): Promise<Session> {
    const opened = await sessions.open(tx, user.id)
    await attempts.welcome(tx, user.email, visit.ip)
    const caller = callerOf(user, opened)
    await audit.record(tx, { ...visit, caller }, { action, entityType: 'user', entityId: user.id })
    return { user: present(user), session_token: opened.token, expires_at: iso(opened.expiresAt) }
  }
}

const callerOf = (user: UserRow, { id }: OpenedSession): SessionCaller => ({
  type: 'session',
  userId: user.id,
  sessionId: id,
  orgId: null,
  activeOrgId: null,
})

const present = ({ id, email, name, created_at }: UserRow): User => ({ id, email, name, created: iso(created_at) })
