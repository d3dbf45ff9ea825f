import { and, asc, desc, eq, gt, inArray, lt, lte, ne, sql } from 'drizzle-orm'
import type { SessionId, UserId } from '../../kernel/ids'
import { command, databaseNow, query, type Reader, type Tx } from '../../kernel/store'
import { type SessionRow, type SignInLinkRow, sessions, signInLinks } from './table'

const byToken = query<{ token_hash: string }>()((db, p) => {
  const table = db.of(sessions)
  return db.select().from(table).where(eq(table.token_hash, p.token_hash)).limit(1)
})

const slide = command<{ id: SessionId; usedAt: number; expires: number }>()((tx, p) => {
  const table = tx.of(sessions)
  return tx
    .update(table)
    .set({ last_seen_at: sql`${p.usedAt}`, expires_at: sql`${p.expires}` })
    .where(and(eq(table.id, p.id), lt(table.last_seen_at, p.usedAt)))
})

/** Rows of dashboard sessions, found by token hash, by user, or by the id of an authenticated session. */
export const sessionRepository = {
  byToken: async (db: Reader, token_hash: string): Promise<SessionRow | undefined> =>
    (await byToken(db, { token_hash }))[0],

  async insert(tx: Tx, row: SessionRow): Promise<void> {
    await tx.insert(tx.of(sessions)).values(row)
  },

  /** A user's sessions that have not expired, last used first. */
  async openOf(db: Reader, userId: UserId, now: number): Promise<SessionRow[]> {
    const table = db.of(sessions)
    const open = and(eq(table.user_id, userId), gt(table.expires_at, now))
    return db.select().from(table).where(open).orderBy(desc(table.last_seen_at), asc(table.id))
  },

  /** The sessions among `ids` that still exist and have not expired at `at`. */
  async openAmong(db: Reader, ids: readonly SessionId[], at: number): Promise<Set<SessionId>> {
    const table = db.of(sessions)
    const open = and(inArray(table.id, [...ids]), gt(table.expires_at, at))
    return new Set((await db.select({ id: table.id }).from(table).where(open)).map(({ id }) => id))
  },

  /** Returns the token hash of the removed session, or null when the session was already gone. */
  async remove(tx: Tx, id: SessionId): Promise<string | null> {
    const table = tx.of(sessions)
    const [gone] = await tx.delete(table).where(eq(table.id, id)).returning({ token_hash: table.token_hash })
    return gone?.token_hash ?? null
  },

  async prove(tx: Tx, id: SessionId, proved_at: number): Promise<void> {
    const table = tx.of(sessions)
    await tx.update(table).set({ proved_at }).where(eq(table.id, id))
  },

  byId: async (db: Reader, id: SessionId): Promise<SessionRow | undefined> => {
    const table = db.of(sessions)
    return (await db.select().from(table).where(eq(table.id, id)).limit(1))[0]
  },

  /** Removes all sessions of a user except `but`. Returns their token hashes. */
  async removeAllOf(tx: Tx, userId: UserId, but: SessionId | null): Promise<string[]> {
    const table = tx.of(sessions)
    const others = and(eq(table.user_id, userId), but === null ? undefined : ne(table.id, but))
    return (await tx.delete(table).where(others).returning({ hash: table.token_hash })).map(({ hash }) => hash)
  },

  async slide(tx: Tx, uses: readonly [SessionId, number][], lifetimeMs: number): Promise<void> {
    for (const [id, usedAt] of uses) await slide(tx, { id, usedAt, expires: usedAt + lifetimeMs })
  },

  /** Removes up to `limit` sessions that expired before the given time. Returns how many. */
  async removeEnded(tx: Tx, before: number, limit: number): Promise<number> {
    const table = tx.of(sessions)
    const ended = tx.select({ id: table.id }).from(table).where(lt(table.expires_at, before))
    const oldest = ended.orderBy(asc(table.expires_at)).limit(limit)
    return (await tx.delete(table).where(inArray(table.id, oldest)).returning({ id: table.id })).length
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
  async find(db: Reader, token_hash: string, now: number): Promise<SignInLinkRow | undefined> {
    const t = db.of(signInLinks)
    return (
      await db
        .select()
        .from(t)
        .where(works(db, token_hash, now))
        .limit(1)
    )[0]
  },

  /** Uses a link up. Of several concurrent callers, one gets the row and the others undefined. */
  async take(tx: Tx, token_hash: string, now: number): Promise<SignInLinkRow | undefined> {
    return (
      await tx
        .delete(tx.of(signInLinks))
        .where(works(tx, token_hash, now))
        .returning()
    )[0]
  },

  async removeAllOf(tx: Tx, userId: UserId): Promise<void> {
    const t = tx.of(signInLinks)
    await tx.delete(t).where(eq(t.user_id, userId))
  },

  /** Removes up to `limit` expired links. Returns how many. */
  async removeOld(tx: Tx, now: number, limit: number): Promise<number> {
    const t = tx.of(signInLinks)
    const old = tx
      .select({ hash: t.token_hash })
      .from(t)
      .where(lte(t.expires_at, databaseNow(tx, now)))
      .limit(limit)
    return (await tx.delete(t).where(inArray(t.token_hash, old)).returning({ hash: t.token_hash })).length
  },
}

const works = (db: Reader, token_hash: string, now: number) => {
  const t = db.of(signInLinks)
  return and(eq(t.token_hash, token_hash), gt(t.expires_at, databaseNow(db, now)))
}
