import type { EventBus } from '../../events'
import { recurring } from '../../jobs'
import type { SessionCaller, TenantCaller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { type KeyId, type OrgId, SessionId, type UserId } from '../../kernel/ids'
import { removeOld } from '../../kernel/old-rows'
import { createReadCache } from '../../kernel/read-cache'
import type { Reader, Store, Tx } from '../../kernel/store'
import { createLastSeenBuffer, type KeyLookup, type LastSeenBuffer, mintSecret, recogniseSecret } from '../keys/lookup'
import { accessChanged, accountSwitched } from '../orgs/events'
import type { OrgService } from '../orgs/service'
import type { Attempts } from './attempts'
import type { SignInLinks } from './links'
import { sessionRepository as rows } from './repository'
import { SESSION_LABEL } from './rules'
import { sessions } from './table'

const TIDY_EVERY_MS = 600_000

/** How long expired sessions are kept. Another node may hold a use of the session that it has not written yet. */
const GRACE_MS = 10 * 60_000

type Expiring = { store: Store; clock: Clock }
type Tidied = Expiring & { attempts: Pick<Attempts, 'tidy'>; signInLinks: Pick<SignInLinks, 'tidy'> }

/** Job that removes expired sessions, sign-in links and counted attempts. */
export const expiredSessions = ({ attempts, signInLinks, ...deps }: Tidied) =>
  recurring('auth.sessions', TIDY_EVERY_MS, async (signal) => {
    await removeExpiredSessions(deps, signal)
    await attempts.tidy(signal)
    await signInLinks.tidy(signal)
  })

/** Returns how many it removed. */
export const removeExpiredSessions = ({ store, clock }: Expiring, signal?: AbortSignal): Promise<number> =>
  removeOld(store, { table: sessions, key: 'id', at: 'expires_at' }, clock.now() - GRACE_MS, signal)

/** When sessions were last used. A use extends its session. */
export const createSessionUses = (deps: Expiring) =>
  createLastSeenBuffer<SessionId>({ ...deps, write: (tx, uses) => rows.slide(tx, uses, SESSION_MS) })

type UnattendedDeps = { store: Store; keys: Pick<KeyLookup, 'unattended'>; orgs: Pick<OrgService, 'standingOf'> }

/** Columns of stored work that name whom the work runs for. */
export type ActingIdentity = { user_id: UserId; api_key_id: KeyId | null; active_org_id: OrgId | null }

/** Returns whom this caller's stored work runs for, when it runs later without a request. */
export const actingIdentityOf = (caller: TenantCaller): ActingIdentity => ({
  user_id: caller.userId,
  api_key_id: caller.type === 'key' ? caller.keyId : null,
  active_org_id: caller.activeOrgId,
})

export type BackgroundCallers = ReturnType<typeof createBackgroundCallers>

/** How long a proof of identity is valid. */
export const FRESH_MS = 15 * 60_000

/** A session ends this long after its last use (docs/api.md 1.2). */
const SESSION_MS = 12 * 60 * 60_000
const REMEMBERED_SESSIONS = 10_000

type Deps = {
  store: Store
  orgs: Pick<OrgService, 'accessOf'>
  events: EventBus
  clock: Clock
  lastSeen: Pick<LastSeenBuffer<SessionId>, 'note'>
}

type CachedSession = { caller: SessionCaller & { sessionId: SessionId }; expiresAt: number }

export type Sessions = ReturnType<typeof createSessions>
type Opening = { byLink?: boolean; ip?: string; userAgent?: string | null | undefined }
export type OpenedSession = { id: SessionId; token: string; expiresAt: number }

/** Dashboard sessions: opened, looked up, ended. Only the SHA-256 of a token is stored. */
export function createSessions({ store, orgs, events, clock, lastSeen }: Deps) {
  const cache = createReadCache<string, CachedSession>({
    ...{ max: REMEMBERED_SESSIONS, changes: store.changes },
    tables: ['sessions', 'users', 'members', 'orgs'],
  })
  events.afterCommit(accessChanged, () => cache.clear())
  // Applies to enabling too: a sign-in in progress during the disabling may have opened a session.
  events.inTransaction(accountSwitched, async (tx, { data }) => {
    await endAllOf(tx, data.userId, null)
  })

  return {
    open,
    find,
    end,
    endAllOf,
    byId: (id: SessionId) => rows.byId(store.read, id),
    prove: rows.prove,
    /** True when the session's user proved their identity recently. */
    async isConfirmed({ sessionId }: SessionCaller) {
      const provedAt = sessionId && (await rows.byId(store.read, sessionId))?.proved_at
      return typeof provedAt === 'number' && clock.now() - provedAt < FRESH_MS
    },
    openOf: (reader: Reader, userId: UserId) => rows.openOf(reader, userId, clock.now()),
    /** The open ones among these sessions. Reads the store, so it sees changes by other nodes. */
    openAmong: (ids: readonly SessionId[]) => rows.openAmong(store.read, ids, clock.now()),
  }

  /** Opens a session in the caller's transaction. Only the returned value contains the token. */
  async function open(tx: Tx, userId: UserId, { byLink = false, ip, userAgent }: Opening = {}): Promise<OpenedSession> {
    const { token, hash } = mintSecret(SESSION_LABEL)
    const now = clock.now()
    const id = SessionId.create()
    const expiresAt = now + SESSION_MS
    await rows.insert(tx, {
      id,
      user_id: userId,
      token_hash: hash,
      created_at: now,
      last_seen_at: now,
      expires_at: expiresAt,
      link_at: byLink ? now : null,
      proved_at: now,
      ip: ip ?? null,
      user_agent: userAgent ?? null,
    })
    return { id, token, expiresAt }
  }

  /** The caller of a session token, or null. Synchronous on a cache hit. Each use extends the session. */
  function find(token: string): SessionCaller | null | Promise<SessionCaller | null> {
    const hash = recogniseSecret(token, [SESSION_LABEL])
    if (hash === null) return null
    const found = cache.get(hash, load)
    if (found instanceof Promise) return found.then(admit)
    const caller = admit(found)
    if (caller || store.dialect === 'sqlite') return caller
    // Another node may have extended the session.
    cache.forget(hash)
    return load(hash).then(admit)
  }

  /** Ends a session. Its token stops working when the transaction commits. */
  async function end(tx: Tx, id: SessionId): Promise<void> {
    const hash = await rows.remove(tx, id)
    if (hash) tx.afterCommit(() => cache.forget(hash))
  }

  /** Ends every session of a user except `but`. Returns how many. Their tokens stop working with the commit. */
  async function endAllOf(tx: Tx, userId: UserId, but: SessionId | null): Promise<number> {
    const hashes = await rows.removeAllOf(tx, userId, but)
    tx.afterCommit(() => {
      for (const hash of hashes) cache.forget(hash)
    })
    return hashes.length
  }

  function admit(found: CachedSession | null): SessionCaller | null {
    const now = clock.now()
    if (!found || found.expiresAt <= now) return null
    if (lastSeen.note(found.caller.sessionId)) found.expiresAt = now + SESSION_MS
    return found.caller
  }

  async function load(hash: string): Promise<CachedSession | null> {
    const row = await rows.byToken(store.read, hash)
    const access = row && (await orgs.accessOf(store.read, row.user_id))
    if (!row || !access) return null
    const { activeOrgId } = access
    const caller = { type: 'session', userId: row.user_id, sessionId: row.id, orgId: null, activeOrgId } as const
    return { caller, expiresAt: row.expires_at }
  }
}

/**
 * Finds the caller that stored work (schedules, hooks, workflow steps) runs as. The caller has its creator's current
 * rights. Null when the key is revoked or expired, the account disabled, the org closed or left (docs/api.md 1.2).
 */
export function createBackgroundCallers({ store, keys, orgs }: UnattendedDeps) {
  return async function callerOf({ user_id, api_key_id, active_org_id }: ActingIdentity): Promise<TenantCaller | null> {
    if (api_key_id !== null) return keys.unattended(api_key_id)
    const state = (await orgs.standingOf(store.read, [user_id], active_org_id ? [active_org_id] : [])).get(user_id)
    if (!state || (active_org_id !== null && !state.has(active_org_id))) return null
    return {
      type: 'session',
      userId: user_id,
      sessionId: null,
      orgId: null,
      activeOrgId: active_org_id,
    } satisfies SessionCaller
  }
}
