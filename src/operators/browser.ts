import { LRUCache } from 'lru-cache'
import { assertOwnPage, findOwner, type OrgService } from '../accounts'
import type { AuditLog } from '../audit'
import type { OperatorCaller, OperatorRole, TenantCaller } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { UserId } from '../kernel/ids'
import type { Store } from '../kernel/store'
import { DEV_OWNER } from '../kernel/user-folder'
import { noOperatorRole, notFromConsole } from './errors'

type Deps = {
  store: Store
  audit: AuditLog
  clock: Clock
  orgs: Pick<OrgService, 'user'>
  production: boolean
  /** The origin at which browsers reach this server, where it is known. */
  ownOrigin: string | null
  /** The caller of these headers. Throws 401. */
  authenticate(headers: { authorization: null; cookie: string }): TenantCaller | Promise<TenantCaller>
  /** Counts the request. Throws 429. */
  admit(caller: TenantCaller): void | Promise<void>
}

/** The operator role of each role that an account may have on this platform. */
const ROLES = { admin: 'admin', reviewer: 'reviewer', security_reviewer: 'reviewer' } as const

const HOUR_MS = 3_600_000
const MAX_VIEWS = 10_000

/**
 * Operators in the console: a session whose account has an operator role, by the cookie alone and from a page of this
 * server alone. The role is read with each request, so that one taken away ends at once.
 */
export function createBrowserOperators({
  store,
  audit,
  clock,
  orgs,
  production,
  ownOrigin,
  authenticate,
  admit,
}: Deps) {
  const viewed = new LRUCache<string, true>({ max: MAX_VIEWS })
  return { identify, noteView }

  /** Throws 401 without a session, 403 for another page and for an account without a role, 429. */
  async function identify({ method, headers }: Request, reason: string | null): Promise<OperatorCaller> {
    const [origin, host, fetchSite] = [headers.get('origin'), headers.get('host'), headers.get('sec-fetch-site')]
    const cookie = headers.get('cookie') ?? ''
    if (headers.has('authorization')) throw notFromConsole()
    assertOwnPage({ method, authorization: null, origin, host, fetchSite }, ownOrigin)
    // Of reads too: no page of another site has a reason to ask.
    if (fetchSite !== null && fetchSite !== 'same-origin') throw notFromConsole()
    const caller = await authenticate({ authorization: null, cookie })
    if (caller.type !== 'session') throw notFromConsole()
    const found = await roleOf(caller.userId)
    if (!found) throw noOperatorRole()
    await admit(caller)
    return {
      type: 'operator',
      role: found.role,
      name: found.email,
      transport: 'remote',
      reason,
      async isStill() {
        const now = await Promise.resolve(authenticate({ authorization: null, cookie })).catch(() => null)
        return now?.userId === caller.userId && (await roleOf(caller.userId))?.role === found.role
      },
    }
  }

  async function roleOf(userId: UserId): Promise<{ role: OperatorRole; email: string } | null> {
    const user = await orgs.user(store.read, userId)
    if (!user || user.disabled_at !== null) return null
    const { email, platform_role } = user
    if (platform_role !== null) return { role: ROLES[platform_role], email }
    return !production && email === DEV_OWNER ? { role: 'admin', email } : null
  }

  /** Records in an owner's chain that an operator looks at it: once an hour for each operator. */
  async function noteView(caller: OperatorCaller, request: Request, requestId: string): Promise<void> {
    const ref = URL.parse(request.url)?.searchParams.get('owner')
    if (!ref) return
    const { scope } = await findOwner(store.read, ref)
    const name = `${caller.name} ${scope} ${Math.floor(clock.now() / HOUR_MS)}`
    if (viewed.has(name)) return
    viewed.set(name, true)
    const call = { caller, requestId, route: `${request.method} /ops/v1`, signal: request.signal }
    const about = { entityType: 'operator', entityId: null, scope } as const
    await store.write((tx) => audit.record(tx, call, { action: 'operator.viewed_owner', ...about }))
  }
}
