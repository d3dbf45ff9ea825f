import { desc, eq, or } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import {
  assertConfirmed,
  assertOwnPage,
  findOwner,
  mintSecret,
  type OrgService,
  operatorRoleOf,
  recogniseSecret,
  type Sessions,
} from '../accounts'
import type { AuditLog } from '../audit'
import type { Call, OperatorCaller, OperatorRole, TenantCaller } from '../kernel/caller'
import { type Clock, iso, isoOrNull } from '../kernel/clock'
import { hasIdPrefix, isIdPrefix } from '../kernel/id-prefix'
import type { UserId } from '../kernel/ids'
import { rowsOf } from '../kernel/rows'
import type { Reader, Store, Tx } from '../kernel/store'
import { operatorErrors } from './errors'
import { type NewOperator, type Operator, OperatorKeyId, type OperatorWithSecret } from './schema'
import { type OperatorKeyRow, operatorKeys } from './table'

/** More operator keys than any real server has. The list is not paged. */
const MAX = 1_000

const rows = rowsOf(operatorKeys)

/** Rows of operator keys. */
const operatorKeyRepository = {
  /** Finds a key by id, prefix or name. A key that is not revoked takes precedence. */
  async find(db: Reader, ref: string): Promise<OperatorKeyRow | undefined> {
    const table = db.of(operatorKeys)
    const named = or(eq(table.id, ref as OperatorKeyId), eq(table.prefix, ref), eq(table.name, ref))
    const found = await db.select().from(table).where(named).orderBy(desc(table.created_at)).limit(MAX)
    return found.find(({ revoked_at }) => revoked_at === null) ?? found[0]
  },

  /** Keys whose id starts with `word`. */
  async byIdPrefix(db: Reader, word: string): Promise<OperatorKeyRow[]> {
    const table = db.of(operatorKeys)
    return db.select().from(table).where(hasIdPrefix(table.id, word)).limit(MAX)
  },

  /** Newest first. */
  async list(db: Reader): Promise<OperatorKeyRow[]> {
    const table = db.of(operatorKeys)
    return db.select().from(table).orderBy(desc(table.created_at), desc(table.id)).limit(MAX)
  },
}

const OPERATOR_LABEL = 'svc_op_'
const USES_EVERY_MS = 60_000

/** Operator keys: who may operate this server from another machine, and with which role (docs/operating.md 2.2). */
export function createOperatorAccess({ store, audit, clock }: { store: Store; audit: AuditLog; clock: Clock }) {
  return { list, add, rotate, revoke, identify, isStill }

  /** Newest first, including revoked and expired ones. */
  async function list(_call: Call<OperatorCaller>): Promise<Operator[]> {
    return (await operatorKeyRepository.list(store.read)).map(present)
  }

  /** The only response with the secret. Throws 400 for an expiry in the past, 409 `conflict` for a name in use. */
  async function add(call: Call<OperatorCaller>, { name, role, expires_at }: NewOperator): Promise<OperatorWithSecret> {
    await assertConfirmed(call.caller)
    const now = clock.now()
    const expires = expires_at ? Date.parse(expires_at) : null
    if (expires !== null && expires <= now) throw operatorErrors.endInThePast(expires_at!)
    const { token, hash, prefix } = mintSecret(OPERATOR_LABEL)
    const row: OperatorKeyRow = {
      id: OperatorKeyId.create(),
      name,
      role,
      prefix,
      hash,
      created_at: now,
      last_used_at: null,
      expires_at: expires,
      revoked_at: null,
    }
    return store.write(async (tx) => {
      if (!(await rows.add(tx, row))) throw operatorErrors.nameTaken(name)
      await record(tx, call, 'operator.added', row)
      return { ...present(row), key: token }
    })
  }

  /** Replaces the secret. The old one stops working at once. Throws 409 for a revoked key. */
  async function rotate(call: Call<OperatorCaller>, ref: string): Promise<OperatorWithSecret> {
    await assertConfirmed(call.caller)
    const { token, hash, prefix } = mintSecret(OPERATOR_LABEL)
    return store.write(async (tx) => {
      const before = await find(tx, ref)
      const row = await rows.change(tx, { id: before.id, revoked_at: null }, { hash, prefix })
      if (!row) throw operatorErrors.operatorRevoked(before.name)
      await record(tx, call, 'operator.rotated', row)
      return { ...present(row), key: token }
    })
  }

  /** Takes effect before this returns. Revoking again changes nothing. */
  async function revoke(call: Call<OperatorCaller>, ref: string): Promise<Operator> {
    await assertConfirmed(call.caller)
    return store.write(async (tx) => {
      const before = await find(tx, ref)
      const row = await rows.change(tx, { id: before.id, revoked_at: null }, { revoked_at: clock.now() })
      if (row) await record(tx, call, 'operator.revoked', row)
      return present(row ?? before)
    })
  }

  /** The operator who owns the key. `reason` is recorded unchanged. Throws 401 `invalid_api_key`. */
  async function identify({ headers }: Request, reason: string | null): Promise<OperatorCaller> {
    const token = /^bearer[ \t]+(\S+)$/i.exec(headers.get('authorization')?.trim() ?? '')?.[1] ?? ''
    const hash = recogniseSecret(token, [OPERATOR_LABEL])
    const row = hash === null ? undefined : await rows.first(store.read, { hash })
    if (!row || stateOf(row) !== 'active') throw operatorErrors.notAnOperator()
    const now = clock.now()
    if (row.last_used_at === null || now - row.last_used_at >= USES_EVERY_MS)
      await store.write((tx) => rows.update(tx, { id: row.id, revoked_at: null }, { last_used_at: now }))
    return { type: 'operator', role: row.role, name: row.name, transport: 'remote', reason, secretHash: row.hash }
  }

  /** Whether the operator may continue: the key was neither revoked nor replaced, and has not expired. */
  async function isStill({ secretHash, isStill: stillInBrowser }: OperatorCaller): Promise<boolean> {
    if (stillInBrowser) return stillInBrowser()
    if (secretHash === undefined) return true
    const row = await rows.first(store.read, { hash: secretHash })
    return row !== undefined && stateOf(row) === 'active'
  }

  async function find(reader: Reader, ref: string): Promise<OperatorKeyRow> {
    const exact = await operatorKeyRepository.find(reader, ref)
    const found = exact ? [exact] : isIdPrefix(ref) ? await operatorKeyRepository.byIdPrefix(reader, ref) : []
    const names = found.map(({ name }) => name)
    if (found.length > 1) throw operatorErrors.ambiguousOperator(ref, names)
    if (!found[0]) throw operatorErrors.operatorNotFound(ref)
    return found[0]
  }

  async function record(tx: Tx, call: Call<OperatorCaller>, action: string, { id, name, role }: OperatorKeyRow) {
    await audit.record(tx, call, { action, entityType: 'operator', entityId: id, input: { metadata: { name, role } } })
  }

  function stateOf({ revoked_at, expires_at }: OperatorKeyRow): Operator['status'] {
    if (revoked_at !== null) return 'revoked'
    return expires_at !== null && expires_at <= clock.now() ? 'expired' : 'active'
  }

  function present(row: OperatorKeyRow): Operator {
    return {
      id: row.id,
      object: 'operator_key',
      name: row.name,
      prefix: row.prefix,
      role: row.role,
      status: stateOf(row),
      created: iso(row.created_at),
      last_used_at: isoOrNull(row.last_used_at),
      expires_at: isoOrNull(row.expires_at),
      revoked_at: isoOrNull(row.revoked_at),
    }
  }
}

type BrowserDeps = {
  store: Store
  audit: AuditLog
  clock: Clock
  orgs: Pick<OrgService, 'user'>
  sessions: Pick<Sessions, 'isConfirmed'>
  production: boolean
  /** The origin at which browsers reach this server, if known. */
  ownOrigin: string | null
  /** The caller of these headers. Throws 401. */
  authenticate(headers: { authorization: null; cookie: string }): TenantCaller | Promise<TenantCaller>
  /** Counts the request. Throws 429. */
  admit(caller: TenantCaller): void | Promise<void>
}

const HOUR_MS = 3_600_000
const MAX_VIEWS = 10_000

/**
 * Operators in the console: a session whose account has an operator role. Accepts only the cookie, and only from a page
 * of this server. The role is read with each request, so that removing it takes effect at once.
 */
export function createBrowserOperators({
  store,
  audit,
  clock,
  orgs,
  sessions,
  production,
  ownOrigin,
  authenticate,
  admit,
}: BrowserDeps) {
  const viewed = new LRUCache<string, true>({ max: MAX_VIEWS })
  return { identify, noteView }

  /** Throws 401 without a session, 403 for another page and for an account without a role, 429. */
  async function identify({ method, headers }: Request, reason: string | null): Promise<OperatorCaller> {
    const [origin, host, fetchSite] = [headers.get('origin'), headers.get('host'), headers.get('sec-fetch-site')]
    const cookie = headers.get('cookie') ?? ''
    if (headers.has('authorization')) throw operatorErrors.notFromConsole()
    assertOwnPage({ method, authorization: null, origin, host, fetchSite }, ownOrigin)
    // Applies to reads too, because no page of another site has a reason to send them.
    if (fetchSite !== null && fetchSite !== 'same-origin') throw operatorErrors.notFromConsole()
    const caller = await authenticate({ authorization: null, cookie })
    if (caller.type !== 'session') throw operatorErrors.notFromConsole()
    const found = await roleOf(caller.userId)
    if (!found) throw operatorErrors.noOperatorRole()
    await admit(caller)
    return {
      type: 'operator',
      role: found.role,
      name: found.email,
      transport: 'remote',
      reason,
      isConfirmed: () => sessions.isConfirmed(caller),
      async isStill() {
        const now = await Promise.resolve(authenticate({ authorization: null, cookie })).catch(() => null)
        return now?.userId === caller.userId && (await roleOf(caller.userId))?.role === found.role
      },
    }
  }

  async function roleOf(userId: UserId): Promise<{ role: OperatorRole; email: string } | null> {
    const user = await orgs.user(store.read, userId)
    if (!user || user.disabled_at !== null) return null
    const role = operatorRoleOf(user, production)
    return role && { role, email: user.email }
  }

  /** Records in an owner's audit chain that an operator views the owner's data, once per hour and operator. */
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
