import { and, count, eq } from 'drizzle-orm'
import type { OwnerScope } from '../../kernel/caller'
import { pagesBy } from '../../kernel/keyset'
import type { Page, PageQuery } from '../../kernel/page'
import { command, query, type Reader, type Tx } from '../../kernel/store'
import type { MemoryId } from '../schema'
import { type MemoryRow, memories } from '../table'

export const insertMemory = command<MemoryRow>()((tx, p) =>
  tx
    .insert(tx.of(memories))
    .values({ id: p.id, owner: p.owner, content: p.content, source: p.source, created_at: p.created_at }),
)

export const countMemories = query<{ owner: OwnerScope }>()((db, p) => {
  const t = db.of(memories)
  return db.select({ count: count() }).from(t).where(eq(t.owner, p.owner))
})

/** All memories of one owner, for the search index; `add` limits how many there can be. */
export const allMemories = query<{ owner: OwnerScope }>()((db, p) => {
  const t = db.of(memories)
  return db.select({ id: t.id, content: t.content }).from(t).where(eq(t.owner, p.owner))
})

const newestFirst = pagesBy(memories, 'created_at')

export const listMemories = (db: Reader, owner: OwnerScope, wanted: PageQuery): Promise<Page<MemoryRow>> =>
  newestFirst(db, wanted, eq(db.of(memories).owner, owner))

/** Returns whether the memory existed. */
export async function removeMemory(tx: Tx, owner: OwnerScope, id: MemoryId): Promise<boolean> {
  const t = tx.of(memories)
  const gone = await tx
    .delete(t)
    .where(and(eq(t.id, id), eq(t.owner, owner)))
    .returning({ id: t.id })
  return gone.length > 0
}
