import type { AuditLog } from '../../audit'
import type { Mail } from '../../cluster'
import { defineJob, type Jobs, type Running } from '../../jobs'
import type { Clock } from '../../kernel/clock'
import { newRequestId } from '../../kernel/ids'
import { removeOld } from '../../kernel/old-rows'
import type { Reader, Store, Tx } from '../../kernel/store'
import { mintSecret, recogniseSecret } from '../keys/lookup'
import { normalizeEmail } from '../orgs/rules'
import type { OrgService } from '../orgs/service'
import type { UserRow } from '../orgs/table'
import type { Attempts } from './attempts'
import type { SignInSteps, VisitorCall } from './entry'
import { authErrors, passwordNeeded } from './errors'
import type { Passwords } from './passwords'
import { signInLinkRepository as rows } from './repository'
import { assertNewPassword } from './rules'
import type { LinkAsk, LinkUse, Session } from './schema'
import { signInLinks } from './table'

type Deps = {
  store: Store
  audit: Pick<AuditLog, 'recordUnattended'>
  orgs: Pick<OrgService, 'user' | 'userByEmail'>
  passwords: Pick<Passwords, 'hash'>
  attempts: Pick<Attempts, 'count' | 'right'>
  entry: SignInSteps
  jobs: Pick<Jobs, 'register' | 'enqueue'>
  mail: Mail
  clock: Clock
  /** In production, people without a password must choose one when they use a link. */
  production: boolean
  /** Origin under which browsers reach this server. */
  origin(): string
}

/** Options of a link: its lifetime, and the path of the page it opens. */
type LinkOptions = { ttlMs?: number; leadsTo?: string }
export type NewSignInLink = { url: string; expiresAt: number }
export type SignInLinks = ReturnType<typeof createSignInLinks>

const LINK_MINUTES = 15
const LABEL = 'svc_sl_'

/**
 * Links that sign one person in, once, and let them set a password. Only the SHA-256 of a token is stored. The token
 * comes after the `#`, which browsers send to no server: the page posts it. A new password ends all links of its
 * account.
 */
export function createSignInLinks({
  store,
  audit,
  orgs,
  passwords,
  attempts,
  entry,
  jobs,
  mail,
  clock,
  ...rest
}: Deps) {
  const { production, origin } = rest
  const mailing = defineJob<{ email: string }, null>({
    name: 'auth.link',
    retry: { attempts: 4, delayMs: (attempt) => 2 ** attempt * 1_000 },
    timeLimitMs: 60_000,
    concurrency: 4,
    keepMs: 0,
    run: send,
  })
  jobs.register(mailing)
  return { make, ask, look, redeem, canMail: mail.isConfigured, tidy }

  /** Creates a link in the caller's transaction. The caller records who created it. */
  async function make(tx: Tx, user: UserRow, making: LinkOptions = {}): Promise<NewSignInLink> {
    const { ttlMs = LINK_MINUTES * 60_000, leadsTo = '/console' } = making
    const { token, hash } = mintSecret(LABEL)
    const row = { token_hash: hash, user_id: user.id, leads_to: leadsTo }
    return { url: `${origin()}/sign-in/link#${token}`, expiresAt: await rows.insert(tx, row, ttlMs, clock.now()) }
  }

  /**
   * Mails a link to the account of an address, if this server sends mail. A job looks the account up, so this answers
   * equally, and equally fast, for an unknown address. Throws 429.
   */
  async function ask(visit: VisitorCall, { email }: LinkAsk): Promise<void> {
    const account = normalizeEmail(email)
    await attempts.count('link-mail', visit.ip, account)
    if (!mail.isConfigured()) return
    await store.write((tx) => jobs.enqueue(tx, mailing, { owner: null, payload: { email: account } }))
  }

  async function send({ id, payload: { email }, signal, write }: Running<{ email: string }>) {
    const user = await orgs.userByEmail(store.read, email)
    if (!user || user.disabled_at !== null) return {}
    const { url } = await write(async (tx) => {
      const entry = { action: 'auth.link_made', entityType: 'user', entityId: user.id } as const
      await audit.recordUnattended(tx, { scope: `user:${user.id}`, requestId: newRequestId() }, entry)
      return make(tx, user)
    })
    const text = `Open this link to sign in or to set a new password:\n\n${url}\n\nIt works once, within ${LINK_MINUTES} minutes. If you did not ask for it, ignore this message: nothing has changed.\n`
    await mail.send({ to: [user.email], subject: 'Your sign-in link', text, key: id, signal })
    return {}
  }

  /** Whom a link signs in, and if they must choose a password. Does not use the link up. Null for an invalid link. */
  async function look(token: string): Promise<{ email: string; mustChoose: boolean } | null> {
    const found = await find(store.read, token)
    return found && { email: found.user.email, mustChoose: mustChoose(found.user) }
  }

  /**
   * Uses a link up and opens a session. Sets a password if one is given, which ends all other sessions. Throws 401
   * `invalid_token` for a used or expired link and 429. Throws 400 for a password like the address or a missing one;
   * the link then keeps working.
   */
  async function redeem(
    visit: VisitorCall,
    { token, new_password }: LinkUse,
  ): Promise<{ session: Session; leadsTo: string }> {
    const attempt = await attempts.count('link', visit.ip)
    const found = await find(store.read, token)
    if (!found) throw authErrors.linkHasEnded()
    if (new_password !== undefined) assertNewPassword(new_password, found.user.email, 'new_password')
    else if (mustChoose(found.user)) throw passwordNeeded()
    const hash = new_password === undefined ? null : await passwords.hash(new_password)
    return store.write(async (tx) => {
      // Of several concurrent uses, only one takes the row.
      const taken = await rows.take(tx, found.hash, clock.now())
      const user = taken && (await orgs.user(tx, taken.user_id))
      if (!user || user.disabled_at !== null) throw authErrors.linkHasEnded()
      await attempts.right(tx, attempt)
      const { call, id, session } = await entry.openSession(tx, visit, user, 'auth.login', true)
      if (hash !== null) await entry.setPassword(tx, call, user, hash, id)
      return { session, leadsTo: taken.leads_to }
    })
  }

  /** Removes expired links. Returns how many. */
  function tidy(signal?: AbortSignal): Promise<number> {
    return removeOld(store, { table: signInLinks, key: 'token_hash', at: 'expires_at' }, clock.now(), signal)
  }
  async function find(reader: Reader, token: string): Promise<{ user: UserRow; hash: string } | null> {
    const hash = recogniseSecret(token, [LABEL])
    const row = hash === null ? undefined : await rows.find(reader, hash, clock.now())
    const user = row && (await orgs.user(reader, row.user_id))
    return user && user.disabled_at === null ? { user, hash: row.token_hash } : null
  }

  function mustChoose({ password_hash }: UserRow): boolean {
    return production && password_hash === null
  }
}
