import type { AuditLog } from '../audit'
import { bind } from '../kernel/bind'
import type { Call, OperatorCaller } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { randomBase62 } from '../kernel/crypto'
import type { KeyId, UserId } from '../kernel/ids'
import { mapPage, type Page, type PageQuery } from '../kernel/page'
import { rowsOf } from '../kernel/rows'
import type { Reader, Store } from '../kernel/store'
import { assertConfirmed } from './auth/errors'
import type { SignInLinks } from './auth/links'
import type { AuthService } from './auth/service'
import type { Sessions } from './auth/sessions'
import { apiKeys } from './keys/table'
import { findUser } from './orgs/access'
import { orgErrors } from './orgs/errors'
import { orgRepository as rows } from './orgs/repository'
import { operatorRoleOf } from './orgs/rules'
import type {
  ConsoleLink,
  ConsoleLinkInput,
  CreatedUser,
  NewOperatorUser,
  OpenSession,
  OperatorUser,
  PasswordInput,
  PasswordReset,
  UserDetail,
  UserPatch,
} from './orgs/schema'
import type { OrgService } from './orgs/service'
import { type UserRow, users } from './orgs/table'

type UserDeps = {
  store: Store
  audit: AuditLog
  orgs: Pick<OrgService, 'listFor' | 'setUserDisabled'>
  auth: Pick<AuthService, 'createAccount' | 'resetPassword'>
  sessions: Pick<Sessions, 'openOf' | 'end'>
  signInLinks: Pick<SignInLinks, 'make'>
}
type OperatorCall = Call<OperatorCaller>

/** 119 random bits, and short enough to read out over the telephone. */
const PASSWORD_CHARS = 20

/** How long the first link of a new account stays valid. */
const FIRST_LINK_MS = 24 * 3_600_000

const keyRows = rowsOf(apiKeys)
const userRows = rowsOf(users)

export type UserService = ReturnType<typeof createUsers>

/** Operator actions on accounts and their dashboard sessions (docs/operating.md 2.9). */
export const createUsers = (deps: UserDeps) =>
  bind(deps, { list, get, create, consoleLink, setPassword, update, sessionsOf, endSession })

async function list({ store }: UserDeps, _call: OperatorCall, query: PageQuery): Promise<Page<OperatorUser>> {
  return mapPage(await rows.allUsers(store.read, query), present)
}

/** An account by id or e-mail address, with orgs and sessions. */
async function get({ store, orgs, sessions }: UserDeps, _call: OperatorCall, ref: string): Promise<UserDetail> {
  const user = await findUser(store.read, ref)
  const memberships = await orgs.listFor(store.read, user.id)
  return {
    ...present(user),
    orgs: memberships.map(({ id, slug, role }) => ({ id, slug, role })),
    session_count: (await sessions.openOf(store.read, user.id)).length,
  }
}

/** Creates an account. Without a password, returns a generated one or a link. Throws 409 for a known address. */
async function create(
  { store, auth, signInLinks }: UserDeps,
  call: OperatorCall,
  input: NewOperatorUser,
): Promise<CreatedUser> {
  const { email, name = null, platform_role = null } = input
  const account = { email, name, platformRole: platform_role }
  if (input.link) {
    const user = await auth.createAccount(call, { ...account, password: null })
    const { url } = await store.write((tx) => signInLinks.make(tx, user, { ttlMs: FIRST_LINK_MS }))
    return { ...present(user), password: null, sign_in_link: url }
  }
  const password = input.password ?? randomBase62(PASSWORD_CHARS)
  const user = await auth.createAccount(call, { ...account, password })
  return { ...present(user), password: input.password === undefined ? password : null, sign_in_link: null }
}

/**
 * Creates a link that signs this person in once. Throws 404, 409 for a disabled account. Throws 403 for an account with
 * a platform role unless an admin asks, because every holder of the link has those rights.
 */
function consoleLink(
  { store, audit, signInLinks }: UserDeps,
  call: OperatorCall,
  ref: string,
  { ttl_minutes, to }: ConsoleLinkInput,
): Promise<ConsoleLink> {
  return store.write(async (tx) => {
    const user = await findUser(tx, ref)
    if (user.disabled_at !== null) throw orgErrors.userIsDisabled(user.email)
    if (operatorRoleOf(user, true) !== null && call.caller.role !== 'admin') throw orgErrors.linkForAdmins(user.email)
    const scope = `user:${user.id}` as const
    const action = 'operator.console_link_created'
    await audit.record(tx, call, { action, entityType: 'user', entityId: user.id, scope })
    const ttlMs = ttl_minutes && ttl_minutes * 60_000
    const charging = { ...(ttlMs && { ttlMs }), ...(to && { leadsTo: to }) }
    const { url, expiresAt } = await signInLinks.make(tx, user, charging)
    return { url, expires_at: iso(expiresAt) }
  })
}

/** Sets a password, or generates one that only this answer contains. Ends all sessions and links. Throws 404, 400. */
async function setPassword(
  { store, auth }: UserDeps,
  call: OperatorCall,
  ref: string,
  input: PasswordInput,
): Promise<PasswordReset> {
  const user = await findUser(store.read, ref)
  const password = input.password ?? randomBase62(PASSWORD_CHARS)
  const { ended } = await auth.resetPassword(call, user, password)
  return { email: user.email, password: input.password === undefined ? password : null, ended }
}

/**
 * Disables or enables an account. The change applies to its keys at once, and its sessions end either way.
 * `operator_role` sets or removes the role, which applies from the next request on.
 */
async function update(
  { store, audit, orgs }: UserDeps,
  call: OperatorCall,
  ref: string,
  { disabled, operator_role }: UserPatch,
): Promise<OperatorUser> {
  if (operator_role !== undefined) await assertConfirmed(call.caller)
  const { id, disabled_at } = await findUser(store.read, ref)
  if (disabled !== undefined && (disabled_at !== null) !== disabled) await orgs.setUserDisabled(call, id, disabled)
  if (operator_role !== undefined) {
    await store.write(async (tx) => {
      const { platform_role } = await findUser(tx, id)
      const isReviewer = operator_role === 'reviewer'
      const reviewer = platform_role === 'security_reviewer' ? platform_role : 'reviewer'
      const platform = operator_role === 'admin' ? 'admin' : isReviewer ? reviewer : null
      await rows.changeUser(tx, id, { operator_role, platform_role: platform })
      const input = { metadata: { operator_role } }
      const about = { action: 'user.role_set', entityType: 'user', entityId: id, scope: `user:${id}` } as const
      await audit.record(tx, call, { ...about, input })
    })
  }
  return present(await findUser(store.read, id))
}

/** Open sessions, last used first. */
async function sessionsOf({ store, sessions }: UserDeps, _call: OperatorCall, ref: string): Promise<OpenSession[]> {
  const { id } = await findUser(store.read, ref)
  return (await sessions.openOf(store.read, id)).map((row) => ({
    id: row.id,
    object: 'session',
    user_id: row.user_id,
    created: iso(row.created_at),
    last_seen_at: iso(row.last_seen_at),
    expires_at: iso(row.expires_at),
    user_agent: row.user_agent,
    ip: row.ip,
  }))
}

/** Ends one session, or with `all` every session of the user. */
function endSession(
  { store, audit, sessions }: UserDeps,
  call: OperatorCall,
  ref: string,
  sessionId: string,
): Promise<{ ended: number }> {
  return store.write(async (tx) => {
    const user = await findUser(tx, ref)
    const open = await sessions.openOf(tx, user.id)
    const chosen = open.filter(({ id }) => sessionId === 'all' || id === sessionId)
    if (!chosen.length && sessionId !== 'all') throw orgErrors.sessionNotFound()
    for (const { id } of chosen) await sessions.end(tx, id)
    if (chosen.length) {
      const scope = `user:${user.id}` as const
      const input = { metadata: { sessions: chosen.length } }
      await audit.record(tx, call, { action: 'auth.logout', entityType: 'user', entityId: user.id, scope, input })
    }
    return { ended: chosen.length }
  })
}

const present = (row: UserRow): OperatorUser => ({
  id: row.id,
  object: 'user',
  email: row.email,
  name: row.name,
  platform_role: row.platform_role,
  operator_role: operatorRoleOf(row, true),
  active_org_id: row.active_org_id,
  disabled_at: row.disabled_at === null ? null : iso(row.disabled_at),
  created: iso(row.created_at),
})

/** Names of these keys or users by id. A user without a name has their address. */
export async function namesOf(db: Reader, type: 'key' | 'user', ids: readonly string[]): Promise<Map<string, string>> {
  if (!ids.length) return new Map()
  if (type === 'key') return new Map((await keyRows.all(db, { id: ids as KeyId[] })).map(({ id, name }) => [id, name]))
  const found = await userRows.all(db, { id: ids as UserId[] })
  return new Map(found.map(({ id, name, email }) => [id, name || email]))
}
