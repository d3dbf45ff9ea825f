import type { AuditLog } from '../audit'
import type { Clock } from '../kernel/clock'
import { hmacHex, timingSafeEqual } from '../kernel/crypto'
import { UserId } from '../kernel/ids'
import type { Reader, Store } from '../kernel/store'
import type { OrgService, UserRow } from '../orgs'
import type { Attempts } from './attempts'
import { expiredLinkPage, linkPage } from './link-page'
import type { Passwords } from './passwords'
import type { Visit } from './service'
import type { OpenedSession, Sessions } from './sessions'

type Deps = {
  store: Store
  audit: AuditLog
  orgs: Pick<OrgService, 'user' | 'setPassword'>
  sessions: Pick<Sessions, 'open'>
  passwords: Passwords
  attempts: Pick<Attempts, 'welcome'>
  clock: Clock
  masterKey: Uint8Array
  /** The origin at which browsers reach this server. */
  origin(): string
}

export type SignInLinks = ReturnType<typeof createSignInLinks>
type Answer = { status: 200 | 400 | 404; page: string; session?: OpenedSession }

const LINK_MS = 24 * 3_600_000
const PASSWORD = { least: 8, most: 200 }

/**
 * Single-use links by which people set a password and are signed in (dx 2.9). The signature covers the current
 * password hash, so setting a password invalidates the link and nothing has to be stored.
 */
export function createSignInLinks({ store, audit, orgs, clock, masterKey, origin, ...rooms }: Deps) {
  const { sessions, passwords, attempts } = rooms
  return { linkFor, show, redeem }

  function linkFor(user: UserRow): string {
    const expiry = (clock.now() + LINK_MS).toString(36)
    return `${origin()}/sign-in/${user.id}.${expiry}.${signature(user, expiry)}`
  }

  async function show(token: string): Promise<Answer> {
    const user = await userOf(store.read, token)
    return user ? { status: 200, page: linkPage(user, null) } : { status: 404, page: expiredLinkPage() }
  }

  /** Sets the password and opens a session; works once per link. */
  async function redeem(visit: Visit, token: string, password: string): Promise<Answer> {
    const user = await userOf(store.read, token)
    if (!user) return { status: 404, page: expiredLinkPage() }
    if (password.length < PASSWORD.least || password.length > PASSWORD.most) {
      const problem = `The password has ${password.length} characters; it must have from ${PASSWORD.least} to ${PASSWORD.most}.`
      return { status: 400, page: linkPage(user, problem) }
    }
    const hash = await passwords.hash(password)
    const session = await store.write(async (tx) => {
      // Checked again inside the transaction, so that of two concurrent requests with one link only one succeeds.
      const current = await userOf(tx, token)
      if (!current || !(await orgs.setPassword(tx, current, hash))) return null
      const opened = await sessions.open(tx, user.id)
      await attempts.welcome(tx, user.email, visit.ip)
      const caller = { type: 'session', userId: user.id, sessionId: opened.id, orgId: null, activeOrgId: null } as const
      await audit.record(tx, { ...visit, caller }, { action: 'auth.login', entityType: 'user', entityId: user.id })
      return opened
    })
    return session
      ? { status: 200, page: linkPage(user, null, true), session }
      : { status: 404, page: expiredLinkPage() }
  }

  async function userOf(reader: Reader, token: string): Promise<UserRow | null> {
    const [id = '', expiry = '', given = ''] = token.split('.')
    if (!UserId.is(id) || !(Number.parseInt(expiry, 36) > clock.now())) return null
    const user = await orgs.user(reader, id)
    return user && user.disabled_at === null && timingSafeEqual(given, signature(user, expiry)) ? user : null
  }

  function signature({ id, password_hash }: UserRow, expiry: string): string {
    return hmacHex(masterKey, `sign-in-link ${id} ${expiry} ${password_hash}`)
  }
}
