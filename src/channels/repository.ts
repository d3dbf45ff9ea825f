import { and, count, desc, eq, inArray, lt } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import { query, type Reader, type Tx } from '../kernel/store'
import type { ChannelId } from './schema'
import { type ChannelRow, channels } from './table'

const named = query<{ owner: OwnerScope; type: string; name: string }>()((db, p) => {
  const t = db.of(channels)
  const one = and(eq(t.owner, p.owner), eq(t.type, p.type as never), eq(t.name, p.name))
  return db.select().from(t).where(one).limit(1)
})

/** Rows of channels. Every query names the owner, but that for those that fell silent. */
export const channelRepository = {
  named: async (db: Reader, owner: OwnerScope, type: string, name: string): Promise<ChannelRow | undefined> =>
    ((await named(db, { owner, type, name })) as ChannelRow[])[0],

  /** False when another transaction has made it. */
  async insert(tx: Tx, row: ChannelRow): Promise<boolean> {
    const t = tx.of(channels)
    return (await tx.insert(t).values(row).onConflictDoNothing().returning({ id: t.id })).length === 1
  },

  /** Changes a channel that still has this status. False when it has another one. */
  async move(tx: Tx, { id, owner, status }: ChannelRow, change: Partial<ChannelRow>): Promise<boolean> {
    const t = tx.of(channels)
    const same = and(eq(t.id, id), eq(t.owner, owner), eq(t.status, status))
    return (await tx.update(t).set(change).where(same).returning({ id: t.id })).length === 1
  },

  async count(db: Reader, owner: OwnerScope): Promise<number> {
    const t = db.of(channels)
    return Number((await db.select({ total: count() }).from(t).where(eq(t.owner, owner)))[0]!.total)
  },

  /** The one that was written from last comes first; null is everyone's. */
  list(db: Reader, owner: OwnerScope | null, limit: number): Promise<ChannelRow[]> {
    const t = db.of(channels)
    const whose = owner === null ? undefined : eq(t.owner, owner)
    return db.select().from(t).where(whose).orderBy(desc(t.last_message_at), desc(t.id)).limit(limit)
  },

  silent(db: Reader, before: number, limit: number): Promise<ChannelRow[]> {
    const t = db.of(channels)
    const isSilent = and(eq(t.status, 'active'), lt(t.last_message_at, before))
    return db.select().from(t).where(isSilent).limit(limit)
  },

  async removeAll(tx: Tx, owner: OwnerScope): Promise<void> {
    const t = tx.of(channels)
    const all = await tx.select({ id: t.id }).from(t).where(eq(t.owner, owner))
    const ids = all.map(({ id }) => id as ChannelId)
    if (ids.length) await tx.delete(t).where(inArray(t.id, ids))
  },
}
