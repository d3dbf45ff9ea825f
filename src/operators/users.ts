import type { AuditLog } from '../audit'
import type { AuthService, InboxLinks, Sessions, SignInLinks } from '../auth'
import type { Call, OperatorCaller } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { randomBase62 } from '../kernel/crypto'
import { mapPage, type Page, type PageQuery } from '../kernel/page'
import type { Store } from '../kernel/store'
import type { OrgService, UserRow } from '../orgs'
import { sessionNotFound, userIsDisabled } from './errors-people'
import { findUser } from './members'
import type {
  CreatedUser,
  InboxLink,
  InboxLinkOrder,
  NewOperatorUser,
  OpenSession,
  OperatorUser,
  UserDetail,
} from './schema-people'

type Deps = {
  store: Store
  audit: AuditLog
  orgs: OrgService
  auth: Pick<AuthService, 'createAccount'>
  sessions: Pick<Sessions, 'openOf' | 'end'>
  signInLinks: Pick<SignInLinks, 'linkFor'>
  inboxLinks: Pick<InboxLinks, 'linkFor'>
  clock: Clock
}
type OperatorCall = Call<OperatorCaller>

/** 119 random bits, and short enough to be read out over the telephone. */
const PASSWORD_CHARS = 20

/** How long an inbox link waits to be used. */
const INBOX_LINK_S = 8 * 3_600

/** What operators do with accounts and their dashboard sessions (dx 2.9). */
export function createUserVerbs({ store, audit, orgs, auth, sessions, signInLinks, inboxLinks, clock }: Deps) {
  return { list, get, create, inboxLink, setDisabled, sessionsOf, endSession }

  /** Newest first. */
  async function list(_call: OperatorCall, query: PageQuery): Promise<Page<OperatorUser>> {
    return mapPage(await orgs.users(store.read, query), present)
  }

  /** By id or e-mail address, with orgs and sessions. */
  async function get(_call: OperatorCall, ref: string): Promise<UserDetail> {
    const user = await findUser(orgs, store.read, ref)
    const memberships = await orgs.listFor(store.read, user.id)
    return {
      ...present(user),
      orgs: memberships.map(({ id, slug, role }) => ({ id, slug, role })),
      session_count: (await sessions.openOf(store.read, user.id)).length,
    }
  }

  /** Without a password one is generated, or a link made; only this answer has it. Throws 409 for a known address. */
  async function create(call: OperatorCall, order: NewOperatorUser): Promise<CreatedUser> {
    const { email, name = null, platform_role = null } = order
    const generated = order.password === undefined ? randomBase62(PASSWORD_CHARS) : null
    const password = order.password ?? generated!
    const user = await auth.createAccount(call, { email, name, password, platformRole: platform_role })
    if (order.link) return { ...present(user), password: null, sign_in_link: signInLinks.linkFor(user) }
    return { ...present(user), password: generated, sign_in_link: null }
  }

  /** A link that signs this person in once and opens the inbox. Throws 404, and 409 for a disabled account. */
  function inboxLink(
    call: OperatorCall,
    ref: string,
    { ttl_seconds = INBOX_LINK_S }: InboxLinkOrder,
  ): Promise<InboxLink> {
    return store.write(async (tx) => {
      const user = await findUser(orgs, tx, ref)
      if (user.disabled_at !== null) throw userIsDisabled(user.email)
      const until = clock.now() + ttl_seconds * 1_000
      const scope = `user:${user.id}` as const
      await audit.record(tx, call, { action: 'auth.link_made', entityType: 'user', entityId: user.id, scope })
      return { email: user.email, link: inboxLinks.linkFor(user, until), expires_at: iso(until) }
    })
  }

  /** Disables or enables an account: its keys follow at once, and its sessions end either way. */
  async function setDisabled(call: OperatorCall, ref: string, disabled: boolean): Promise<OperatorUser> {
    const { id, disabled_at } = await findUser(orgs, store.read, ref)
    if ((disabled_at !== null) !== disabled) await orgs.setUserDisabled(call, id, disabled)
    return present(await findUser(orgs, store.read, id))
  }

  /** Open sessions, last used first. */
  async function sessionsOf(_call: OperatorCall, ref: string): Promise<OpenSession[]> {
    const { id } = await findUser(orgs, store.read, ref)
    return (await sessions.openOf(store.read, id)).map((row) => ({
      id: row.id,
      object: 'session',
      user_id: row.user_id,
      created: iso(row.created_at),
      last_seen_at: iso(row.last_seen_at),
      expires_at: iso(row.expires_at),
    }))
  }

  /** Ends one session, or with `all` every session of the user. */
  function endSession(call: OperatorCall, ref: string, sessionId: string): Promise<{ ended: number }> {
    return store.write(async (tx) => {
      const user = await findUser(orgs, tx, ref)
      const open = await sessions.openOf(tx, user.id)
      const chosen = open.filter(({ id }) => sessionId === 'all' || id === sessionId)
      if (!chosen.length && sessionId !== 'all') throw sessionNotFound()
      for (const { id } of chosen) await sessions.end(tx, id)
      if (chosen.length) {
        const scope = `user:${user.id}` as const
        const input = { metadata: { sessions: chosen.length } }
        await audit.record(tx, call, { action: 'auth.logout', entityType: 'user', entityId: user.id, scope, input })
      }
      return { ended: chosen.length }
    })
  }
}

const present = (row: UserRow): OperatorUser => ({
  id: row.id,
  object: 'user',
  email: row.email,
  name: row.name,
  platform_role: row.platform_role,
  active_org_id: row.active_org_id,
  disabled_at: row.disabled_at === null ? null : iso(row.disabled_at),
  created: iso(row.created_at),
})
