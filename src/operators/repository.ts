import { and, desc, eq, isNull, or } from 'drizzle-orm'
import { beginsWith } from '../kernel/beginning'
import type { Reader, Tx } from '../kernel/store'
import type { OperatorKeyId } from './schema'
import { type OperatorKeyRow, operatorKeys } from './table'

/** Far more operator keys than any server has; the list is not paged. */
const MOST = 1_000

/** Rows of operator keys. */
export const operatorKeyRepository = {
  async byHash(db: Reader, hash: string): Promise<OperatorKeyRow | undefined> {
    const table = db.of(operatorKeys)
    return (await db.select().from(table).where(eq(table.hash, hash)).limit(1))[0]
  },

  /** By id, prefix or name; a key that is not revoked wins. */
  async find(db: Reader, ref: string): Promise<OperatorKeyRow | undefined> {
    const table = db.of(operatorKeys)
    const named = or(eq(table.id, ref as OperatorKeyId), eq(table.prefix, ref), eq(table.name, ref))
    const found = await db.select().from(table).where(named).orderBy(desc(table.created_at)).limit(MOST)
    return found.find(({ revoked_at }) => revoked_at === null) ?? found[0]
  },

  /** Keys whose id starts with `word`. */
  async byIdPrefix(db: Reader, word: string): Promise<OperatorKeyRow[]> {
    const table = db.of(operatorKeys)
    return db.select().from(table).where(beginsWith(table.id, word)).limit(MOST)
  },

  /** False when an unrevoked key has the name. */
  async insert(tx: Tx, row: OperatorKeyRow): Promise<boolean> {
    const table = tx.of(operatorKeys)
    return (await tx.insert(table).values(row).onConflictDoNothing().returning({ id: table.id })).length === 1
  },

  /** Undefined when the key is revoked. */
  async update(tx: Tx, id: OperatorKeyId, change: Partial<OperatorKeyRow>): Promise<OperatorKeyRow | undefined> {
    const table = tx.of(operatorKeys)
    const live = and(eq(table.id, id), isNull(table.revoked_at))
    return (await tx.update(table).set(change).where(live).returning())[0]
  },

  /** Newest first. */
  async list(db: Reader): Promise<OperatorKeyRow[]> {
    const table = db.of(operatorKeys)
    return db.select().from(table).orderBy(desc(table.created_at), desc(table.id)).limit(MOST)
  },
}
