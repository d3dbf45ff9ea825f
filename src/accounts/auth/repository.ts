import { and, asc, desc, eq, gt, inArray, lt, ne, sql } from 'drizzle-orm'
import type { SessionId, UserId } from '../../kernel/ids'
import { rowsOf } from '../../kernel/rows'
import { command, databaseNow, type Reader, type Tx } from '../../kernel/store'
import { type SessionRow, type SignInLinkRow, sessions, signInLinks } from './table'

const rows = rowsOf(sessions)
const links = rowsOf(signInLinks)

const slide = command<{ id: SessionId; usedAt: number; expires: number }>()((tx, p) => {
  const table = tx.of(sessions)
  return tx
    .update(table)
    .set({ last_seen_at: sql`${p.usedAt}`, expires_at: sql`${p.expires}` })
    .where(and(eq(table.id, p.id), lt(table.last_seen_at, p.usedAt)))
})

/** Rows of dashboard sessions, found by token hash, by user, or by the id of an authenticated session. */
export const sessionRepository = {
  byToken: (db: Reader, token_hash: string) => rows.first(db, { token_hash }),
  byId: (db: Reader, id: SessionId) => rows.first(db, { id }),
  insert: rows.insert,

  /** A user's sessions that have not expired, last used first. */
  openOf: (db: Reader, user_id: UserId, now: number): Promise<SessionRow[]> =>
    rows.all(db, { user_id }, { also: (t) => gt(t.expires_at, now), order: (t) => [desc(t.last_seen_at), asc(t.id)] }),

  /** The sessions among `ids` that still exist and have not expired at `at`. */
  async openAmong(db: Reader, ids: readonly SessionId[], at: number): Promise<Set<SessionId>> {
    const table = db.of(sessions)
    const open = and(inArray(table.id, [...ids]), gt(table.expires_at, at))
    return new Set((await db.select({ id: table.id }).from(table).where(open)).map(({ id }) => id))
  },

  /** Returns the token hash of the removed session, or null when the session was already gone. */
  remove: async (tx: Tx, id: SessionId): Promise<string | null> => (await rows.take(tx, { id }))[0]?.token_hash ?? null,

  prove: (tx: Tx, id: SessionId, proved_at: number) => rows.update(tx, { id }, { proved_at }),

  /** Removes all sessions of a user except `but`. Returns their token hashes. */
  async removeAllOf(tx: Tx, user_id: UserId, but: SessionId | null): Promise<string[]> {
    const gone = await rows.take(tx, { user_id }, (t) => (but === null ? undefined : ne(t.id, but)))
    return gone.map(({ token_hash }) => token_hash)
  },

  async slide(tx: Tx, uses: readonly [SessionId, number][], lifetimeMs: number): Promise<void> {
    for (const [id, usedAt] of uses) await slide(tx, { id, usedAt, expires: usedAt + lifetimeMs })
  },
}

/** Rows of sign-in links, found by the hash of their token. */
export const signInLinkRepository = {
  /** Returns the expiry time: `ttlMs` from now by the clock of the database. */
  async insert(tx: Tx, row: Omit<SignInLinkRow, 'expires_at'>, ttlMs: number, now: number): Promise<number> {
    const t = tx.of(signInLinks)
    const expires_at = sql<number>`${databaseNow(tx, now)} + ${ttlMs}`
    const [made] = await tx
      .insert(t)
      .values({ ...row, expires_at })
      .returning({ expires_at: t.expires_at })
    return made!.expires_at
  },

  /** Finds a link that has not expired. */
  find: (db: Reader, token_hash: string, now: number) =>
    links.first(db, { token_hash }, (t) => gt(t.expires_at, databaseNow(db, now))),

  /** Uses a link up. Of several concurrent callers, one gets the row and the others undefined. */
  take: async (tx: Tx, token_hash: string, now: number): Promise<SignInLinkRow | undefined> =>
    (await links.take(tx, { token_hash }, (t) => gt(t.expires_at, databaseNow(tx, now))))[0],

  removeAllOf: (tx: Tx, user_id: UserId) => links.remove(tx, { user_id }),
}
