import { and, asc, desc, eq, inArray, isNull, lte, ne, or, sql } from 'drizzle-orm'
import { isGone } from '../cluster'
import type { OwnerScope } from '../kernel/caller'
import type { UserId } from '../kernel/ids'
import type { Reader, Tx } from '../kernel/store'
import type { BrowserSessionId } from './schema'
import { browserSessions, type SessionRow } from './table'

/** Identifies the sessions of one holder of one owner. */
export type Holder = { owner: OwnerScope; holder: string }

type Change = Partial<SessionRow>

/** Rows of browser sessions. Queries for callers name owner and holder. The others are for the server itself. */
export const sessionRepository = {
  async insert(tx: Tx, row: SessionRow): Promise<void> {
    await tx.insert(tx.of(browserSessions)).values(row)
  },

  /** A session of this holder. With null of any holder: for operators, and for links signed for the session. */
  async find(reader: Reader, of: Holder | null, id: BrowserSessionId): Promise<SessionRow | undefined> {
    const t = reader.of(browserSessions)
    const ownerFilter = of ? and(eq(t.owner, of.owner), eq(t.holder, of.holder)) : undefined
    return (
      await reader
        .select()
        .from(t)
        .where(and(eq(t.id, id), ownerFilter))
    )[0]
  },

  active(reader: Reader, { owner, holder }: Holder): Promise<SessionRow[]> {
    const t = reader.of(browserSessions)
    const activeOfHolder = and(eq(t.owner, owner), eq(t.holder, holder), eq(t.state, 'active'))
    return reader.select().from(t).where(activeOfHolder).orderBy(desc(t.started_at)) as Promise<SessionRow[]>
  },

  async countOfUser(reader: Reader, user: UserId): Promise<number> {
    const t = reader.of(browserSessions)
    const activeOfUser = and(eq(t.user_id, user), eq(t.state, 'active'))
    return reader.$count(t, activeOfUser)
  },

  /** Open sessions of a process. */
  ofNode(reader: Reader, node: string): Promise<SessionRow[]> {
    const t = reader.of(browserSessions)
    const activeOfNode = and(eq(t.node, node), eq(t.state, 'active'))
    return reader.select().from(t).where(activeOfNode) as Promise<SessionRow[]>
  },

  /** Open sessions whose process has ended, and those past their end that no one ended. */
  lost(reader: Reader, { node, now, limit }: { node: string; now: number; limit: number }): Promise<SessionRow[]> {
    const t = reader.of(browserSessions)
    const foreign = ne(t.node, node)
    const gone = reader.dialect === 'sqlite' ? foreign : and(foreign, isGone(reader, t.node))
    return reader
      .select()
      .from(t)
      .where(and(eq(t.state, 'active'), or(gone, lte(t.expires_at, now))))
      .limit(limit) as Promise<SessionRow[]>
  },

  /** Ends a session. Returns false if it had already ended. */
  async end(tx: Tx, id: BrowserSessionId, ending: Change): Promise<boolean> {
    const t = tx.of(browserSessions)
    const open = and(eq(t.id, id), eq(t.state, 'active'))
    const ended = { ...ending, state: 'ended' as const }
    return (await tx.update(t).set(ended).where(open).returning({ id: t.id })).length === 1
  },

  /** Changes an open session. Returns false if it has ended. */
  async change(tx: Tx, id: BrowserSessionId, change: Change): Promise<boolean> {
    const t = tx.of(browserSessions)
    const open = and(eq(t.id, id), eq(t.state, 'active'))
    return (await tx.update(t).set(change).where(open).returning({ id: t.id })).length === 1
  },

  /** Locks an open session until the transaction ends. Undefined if it has ended. */
  async lock(tx: Tx, id: BrowserSessionId): Promise<SessionRow | undefined> {
    const t = tx.of(browserSessions)
    const open = and(eq(t.id, id), eq(t.state, 'active'))
    return (await tx.update(t).set({ id }).where(open).returning())[0]
  },

  /** Increments the version of the live view. Null if the session has ended. */
  async nextVersion(tx: Tx, id: BrowserSessionId, seen: Change): Promise<number | null> {
    const t = tx.of(browserSessions)
    const open = and(eq(t.id, id), eq(t.state, 'active'))
    const next = { ...seen, view_version: sql`${t.view_version} + 1` as never }
    const [row] = await tx.update(t).set(next).where(open).returning({ version: t.view_version })
    return row?.version ?? null
  },

  /** Notes a rejected link. Returns false if another was noted within `everyMs`. */
  async refused(tx: Tx, id: BrowserSessionId, now: number, everyMs: number): Promise<boolean> {
    const t = tx.of(browserSessions)
    const due = and(eq(t.id, id), or(isNull(t.refused_at), lte(t.refused_at, now - everyMs)))
    return (await tx.update(t).set({ refused_at: now }).where(due).returning({ id: t.id })).length === 1
  },

  async seen(tx: Tx, ids: readonly BrowserSessionId[], now: number): Promise<void> {
    if (!ids.length) return
    const t = tx.of(browserSessions)
    await tx
      .update(t)
      .set({ seen_at: now })
      .where(and(inArray(t.id, [...ids]), eq(t.state, 'active')))
  },

  /** The open sessions of everyone, for operators. */
  everyones(reader: Reader): Promise<SessionRow[]> {
    const t = reader.of(browserSessions)
    return reader.select().from(t).where(eq(t.state, 'active')).orderBy(asc(t.started_at)) as Promise<SessionRow[]>
  },
}
