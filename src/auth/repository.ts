import { and, asc, desc, eq, gt, inArray, lt, sql } from 'drizzle-orm'
import type { SessionId, UserId } from '../kernel/ids'
import { command, query, type Reader, type Tx } from '../kernel/store'
import { type SessionRow, sessions, usedLinks } from './table'

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

  /** Those of these sessions that have neither ended nor expired at a moment. */
  async openAmong(db: Reader, ids: readonly SessionId[], at: number): Promise<Set<SessionId>> {
    const table = db.of(sessions)
    const open = and(inArray(table.id, [...ids]), gt(table.expires_at, at))
    return new Set((await db.select({ id: table.id }).from(table).where(open)).map(({ id }) => id))
  },

  /** The token hash of the removed session, or null when it was already gone. */
  async remove(tx: Tx, id: SessionId): Promise<string | null> {
    const table = tx.of(sessions)
    const [gone] = await tx.delete(table).where(eq(table.id, id)).returning({ token_hash: table.token_hash })
    return gone?.token_hash ?? null
  },

  async removeAllOf(tx: Tx, userId: UserId): Promise<void> {
    const table = tx.of(sessions)
    await tx.delete(table).where(eq(table.user_id, userId))
  },

  async slide(tx: Tx, uses: readonly [SessionId, number][], lifetimeMs: number): Promise<void> {
    for (const [id, usedAt] of uses) await slide(tx, { id, usedAt, expires: usedAt + lifetimeMs })
  },

  /** Removes up to `limit` sessions that expired before a moment, and returns how many. */
  async removeEnded(tx: Tx, before: number, limit: number): Promise<number> {
    const table = tx.of(sessions)
    const ended = tx.select({ id: table.id }).from(table).where(lt(table.expires_at, before))
    const oldest = ended.orderBy(asc(table.expires_at)).limit(limit)
    return (await tx.delete(table).where(inArray(table.id, oldest)).returning({ id: table.id })).length
  },
}

/** Which single-use links were used. */
export const usedLinkRepository = {
  async has(db: Reader, once: string): Promise<boolean> {
    const t = db.of(usedLinks)
    return (await db.select({ once: t.once }).from(t).where(eq(t.once, once)).limit(1)).length > 0
  },

  /** Marks it as used; false where it was. Forgets those that are over anyway. */
  async take(tx: Tx, { once, until }: { once: string; until: number }, now: number): Promise<boolean> {
    const t = tx.of(usedLinks)
    await tx.delete(t).where(lt(t.until, now))
    return (await tx.insert(t).values({ once, until }).onConflictDoNothing().returning({ once: t.once })).length === 1
  },
}
