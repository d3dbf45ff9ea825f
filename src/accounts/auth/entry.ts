import type { AuditLog } from '../../audit'
import type { Call, Caller, SessionCaller } from '../../kernel/caller'
import { iso } from '../../kernel/clock'
import type { SessionId } from '../../kernel/ids'
import type { Tx } from '../../kernel/store'
import type { OrgService } from '../orgs/service'
import type { UserRow } from '../orgs/table'
import type { Attempts } from './attempts'
import { authErrors } from './errors'
import { signInLinkRepository as links } from './repository'
import type { Session, User } from './schema'
import type { OpenedSession, Sessions } from './sessions'

/** A call of someone who is not authenticated yet. */
export type VisitorCall = Omit<Call, 'caller'> & { readonly ip: string; readonly userAgent?: string | null }

type Deps = {
  audit: Pick<AuditLog, 'record'>
  orgs: Pick<OrgService, 'setPassword'>
  sessions: Pick<Sessions, 'open' | 'endAllOf'>
  attempts: Pick<Attempts, 'welcome'>
}

export type SignInSteps = ReturnType<typeof createSignInSteps>

/** Steps that all ways to sign in share. They run in the caller's transaction. */
export function createSignInSteps({ audit, orgs, sessions, attempts }: Deps) {
  return { openSession, setPassword }

  /** Opens a session. Returns it with a call that has the signed-in user as its caller. */
  async function openSession(tx: Tx, visit: VisitorCall, user: UserRow, action: string, byLink = false) {
    const opened = await sessions.open(tx, user.id, { byLink, ip: visit.ip, userAgent: visit.userAgent })
    await attempts.welcome(tx, user.email, visit.ip)
    const call = { ...visit, caller: callerOf(user, opened) }
    await audit.record(tx, call, { action, entityType: 'user', entityId: user.id })
    const session: Session = {
      user: present(user),
      session_token: opened.token,
      expires_at: iso(opened.expiresAt),
    }
    return { call, id: opened.id, session }
  }

  /**
   * Sets the password of `user`, given as it was read. Ends the account's sign-in links and all its sessions except
   * `but`. Returns the number of ended sessions. Throws 409 `conflict` when the password changed since the read.
   */
  async function setPassword(tx: Tx, call: Call<Caller>, user: UserRow, hash: string, but: SessionId | null) {
    if (!(await orgs.setPassword(tx, user, hash))) throw authErrors.passwordChangedMeanwhile()
    const ended = await sessions.endAllOf(tx, user.id, but)
    await links.removeAllOf(tx, user.id)
    const input = { metadata: { sessions: ended } }
    const scope = `user:${user.id}` as const
    await audit.record(tx, call, { action: 'auth.password_set', entityType: 'user', entityId: user.id, scope, input })
    return ended
  }
}

const callerOf = (user: UserRow, { id }: OpenedSession): SessionCaller => ({
  type: 'session',
  userId: user.id,
  sessionId: id,
  orgId: null,
  activeOrgId: null,
})

/** An account as its user sees it. */
export const present = ({ id, email, name, created_at }: UserRow): User => ({
  id,
  email,
  name,
  created: iso(created_at),
})
