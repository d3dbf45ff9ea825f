import type { EventBus } from '../../events'
import type { SessionCaller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { SessionId, type UserId } from '../../kernel/ids'
import { createReadCache, freshFor } from '../../kernel/read-cache'
import type { Reader, Store, Tx } from '../../kernel/store'
import { mintSecret, recogniseSecret } from '../keys/token'
import type { LastSeenBuffer } from '../last-seen-buffer'
import { accessChanged, accountSwitched } from '../orgs/events'
import type { OrgService } from '../orgs/service'
import { sessionRepository as rows } from './repository'
import { SESSION_LABEL } from './rules'

/** A session ends this long after its last use (contract 1.2). */
export const SESSION_MS = 12 * 60 * 60_000
const REMEMBERED_SESSIONS = 10_000

type Deps = {
  store: Store
  orgs: Pick<OrgService, 'accessOf'>
  events: EventBus
  clock: Clock
  lastSeen: LastSeenBuffer<SessionId>
}

type CachedSession = { caller: SessionCaller & { sessionId: SessionId }; expiresAt: number }

export type Sessions = ReturnType<typeof createSessions>
export type OpenedSession = { id: SessionId; token: string; expiresAt: number }

/** Dashboard sessions: opened, looked up, ended. Only the SHA-256 of a token is stored. */
export function createSessions({ store, orgs, events, clock, lastSeen }: Deps) {
  const cache = createReadCache<string, CachedSession>({
    max: REMEMBERED_SESSIONS,
    maxAgeMs: freshFor(store.dialect),
    clock,
  })
  events.afterCommit(accessChanged, () => cache.clear())
  // Also on re-enabling: a sign-in that was in progress while the account was disabled may have opened a session.
  events.inTransaction(accountSwitched, async (tx, { data }) => {
    await endAllOf(tx, data.userId, null)
  })

  return {
    open,
    find,
    end,
    endAllOf,
    /** When a sign-in link opened this session, in epoch ms; null when a password did. */
    linkedAt: async (id: SessionId) => (await rows.byId(store.read, id))?.link_at ?? null,
    openOf: (reader: Reader, userId: UserId) => rows.openOf(reader, userId, clock.now()),
    /** Which of these sessions are open. Reads the store, so it sees what other nodes changed. */
    openAmong: (ids: readonly SessionId[]) => rows.openAmong(store.read, ids, clock.now()),
  }

  /** Opens a session in the caller's transaction, by a sign-in link or not. Only this answer contains the token. */
  async function open(tx: Tx, userId: UserId, byLink = false): Promise<OpenedSession> {
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
    })
    return { id, token, expiresAt }
  }

  /** The caller of a session token, or null; synchronous when cached. Each use extends the session. */
  function find(token: string): SessionCaller | null | Promise<SessionCaller | null> {
    const hash = recogniseSecret(token, [SESSION_LABEL])
    if (hash === null) return null
    const found = cache.get(hash, load)
    return found instanceof Promise ? found.then(admit) : admit(found)
  }

  /** Ends a session; its token stops working once the transaction commits. */
  async function end(tx: Tx, id: SessionId): Promise<void> {
    const hash = await rows.remove(tx, id)
    if (hash) tx.afterCommit(() => cache.forget(hash))
  }

  /** Ends every session of a user but one, and returns how many. Their tokens stop working once this commits. */
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
