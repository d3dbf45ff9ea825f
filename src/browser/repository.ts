import { and, asc, desc, isNull, lte, ne, or, sql } from 'drizzle-orm'
import { isGone } from '../cluster'
import type { OwnerScope } from '../kernel/caller'
import type { UserId } from '../kernel/ids'
import { rowsOf } from '../kernel/rows'
import type { Reader, Tx } from '../kernel/store'
import type { BrowserSessionId } from './schema'
import { browserSessions, type SessionRow } from './table'

/** Identifies the sessions of one holder of one owner. */
export type Holder = { owner: OwnerScope; holder: string }

type Change = Partial<SessionRow>

const rows = rowsOf(browserSessions)

/** Rows of browser sessions. Queries for callers name owner and holder. The others are for the server itself. */
export const sessionRepository = {
  insert: rows.insert,

  /** A session of this holder. With null of any holder: for operators, and for links signed for the session. */
  find: (reader: Reader, of: Holder | null, id: BrowserSessionId): Promise<SessionRow | undefined> =>
    rows.first(reader, { id, ...(of && { owner: of.owner, holder: of.holder }) }),

  active: (reader: Reader, { owner, holder }: Holder): Promise<SessionRow[]> =>
    rows.all(reader, { owner, holder, state: 'active' }, { order: (t) => [desc(t.started_at)] }),

  countOfUser: (reader: Reader, user_id: UserId) => rows.count(reader, { user_id, state: 'active' }),

  /** Open sessions of a process. */
  ofNode: (reader: Reader, node: string): Promise<SessionRow[]> => rows.all(reader, { node, state: 'active' }),

  /** Open sessions whose process has ended, and those past their end that no one ended. */
  lost(reader: Reader, { node, now, limit }: { node: string; now: number; limit: number }): Promise<SessionRow[]> {
    const also = (t: typeof browserSessions.sqlite) => {
      const foreign = ne(t.node, node)
      const gone = reader.dialect === 'sqlite' ? foreign : and(foreign, isGone(reader, t.node))
      return or(gone, lte(t.expires_at, now))
    }
    return rows.all(reader, { state: 'active' }, { also, limit })
  },

  /** Ends a session. Returns false if it had already ended. */
  end: async (tx: Tx, id: BrowserSessionId, ending: Change): Promise<boolean> =>
    (await rows.update(tx, { id, state: 'active' }, { ...ending, state: 'ended' })) === 1,

  /** Changes an open session. Returns false if it has ended. */
  change: async (tx: Tx, id: BrowserSessionId, change: Change): Promise<boolean> =>
    (await rows.update(tx, { id, state: 'active' }, change)) === 1,

  /** Locks an open session until the transaction ends. Undefined if it has ended. */
  lock: (tx: Tx, id: BrowserSessionId): Promise<SessionRow | undefined> => rows.lock(tx, { id, state: 'active' }),

  /** Increments the version of the live view. Null if the session has ended. */
  async nextVersion(tx: Tx, id: BrowserSessionId, seen: Change): Promise<number | null> {
    const view_version = sql`${tx.of(browserSessions).view_version} + 1`
    return (await rows.change(tx, { id, state: 'active' }, { ...seen, view_version }))?.view_version ?? null
  },

  /** Notes a rejected link. Returns false if another was noted within `everyMs`. */
  async refused(tx: Tx, id: BrowserSessionId, now: number, everyMs: number): Promise<boolean> {
    const isDue = (t: typeof browserSessions.sqlite) => or(isNull(t.refused_at), lte(t.refused_at, now - everyMs))
    return (await rows.update(tx, { id }, { refused_at: now }, isDue)) === 1
  },

  seen: (tx: Tx, id: readonly BrowserSessionId[], now: number) =>
    rows.update(tx, { id, state: 'active' }, { seen_at: now }),

  /** The open sessions of everyone, for operators. */
  everyones: (reader: Reader): Promise<SessionRow[]> =>
    rows.all(reader, { state: 'active' }, { order: (t) => [asc(t.started_at)] }),
}
