import type { AuditLog } from '../audit'
import type { Clock } from '../kernel/clock'
import { hmacHex, randomBase62, timingSafeEqual } from '../kernel/crypto'
import { html, page } from '../kernel/html'
import { UserId } from '../kernel/ids'
import type { Reader, Store } from '../kernel/store'
import type { OrgService, UserRow } from '../orgs'
import { usedLinkRepository as used } from './repository'
import type { Visit } from './service'
import type { OpenedSession, Sessions } from './sessions'

type Deps = {
  store: Store
  audit: AuditLog
  orgs: Pick<OrgService, 'user'>
  sessions: Pick<Sessions, 'open'>
  clock: Clock
  masterKey: Uint8Array
  /** The origin at which browsers reach this server. */
  origin(): string
}
type Answer = { status: 200 | 303 | 404; page: string; session?: OpenedSession }
type Read = { user: UserRow; once: string; until: number }

export type InboxLinks = ReturnType<typeof createInboxLinks>

const ONCE_CHARS = 22

/**
 * Single-use links that sign one person in and lead to the inbox (dx 5.3). Opening one shows a button only, so that no
 * program that looks at links uses it up. A new password ends them, too.
 */
export function createInboxLinks({ store, audit, orgs, sessions, clock, masterKey, origin }: Deps) {
  return { linkFor, show, redeem }

  /** Works once, until `until` in epoch ms. */
  function linkFor(user: UserRow, until: number): string {
    const [once, expiry] = [randomBase62(ONCE_CHARS), until.toString(36)]
    return `${origin()}/sign-in/inbox/${user.id}.${expiry}.${once}.${signature(user, expiry, once)}`
  }

  async function show(token: string): Promise<Answer> {
    const found = await read(store.read, token)
    const isGood = found && !(await used.has(store.read, found.once))
    return isGood ? { status: 200, page: entrance(found.user) } : OVER
  }

  async function redeem(visit: Visit, token: string): Promise<Answer> {
    return store.write(async (tx) => {
      const found = await read(tx, token)
      // Of two who open it at once, only one writes this row.
      if (!found || !(await used.take(tx, found, clock.now()))) return OVER
      const { user } = found
      const session = await sessions.open(tx, user.id)
      const caller = {
        type: 'session',
        userId: user.id,
        sessionId: session.id,
        orgId: null,
        activeOrgId: null,
      } as const
      await audit.record(tx, { ...visit, caller }, { action: 'auth.login', entityType: 'user', entityId: user.id })
      return { status: 303, page: '', session }
    })
  }

  async function read(reader: Reader, token: string): Promise<Read | null> {
    const [id = '', expiry = '', once = '', given = ''] = token.split('.')
    const until = Number.parseInt(expiry, 36)
    if (!UserId.is(id) || !(until > clock.now())) return null
    const user = await orgs.user(reader, id)
    const isGood = user && user.disabled_at === null && timingSafeEqual(given, signature(user, expiry, once))
    return isGood ? { user, once, until } : null
  }

  function signature({ id, password_hash }: UserRow, expiry: string, once: string): string {
    return hmacHex(masterKey, `inbox-link ${id} ${expiry} ${once} ${password_hash}`)
  }
}

const entrance = ({ email }: UserRow): string =>
  page(
    'Sign in',
    html`<h1>Answer visitors as ${email}</h1>
<p>This link works once. It signs this browser in and opens the inbox.</p>
<form method="post"><button type="submit" autofocus>Open the inbox</button></form>`,
  )

const OVER: Answer = {
  status: 404,
  page: page(
    'Sign in',
    html`<h1>This link does not work</h1>
<p>It was used, or its time is over. Ask for a new link, or <a href="/sign-in?next=/operator">sign in</a> with a password.</p>`,
  ),
}
