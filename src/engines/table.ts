import { eq, sql } from 'drizzle-orm'
import { open, type Resealed, reseal, seal } from '../kernel/crypto'
import { defineTable, query, type Reader, type Tx } from '../kernel/store'
import { NOTHING_STORED, type StoredEngines } from './config'

const ID = 1

/** Context that the encrypted value is bound to. */
const CONTEXT = 'engine settings'

const revisionRow = query()((db) =>
  db.select({ revision: db.of(engineSettingsRow).revision }).from(db.of(engineSettingsRow)),
)

const wholeRow = query()((db) => db.select().from(db.of(engineSettingsRow)))

export const storedRepository = {
  /** 0 before the first change. */
  revision: async (db: Reader): Promise<number> => (await revisionRow(db, {}))[0]?.revision ?? 0,

  /** Throws if the value was encrypted with another master key. */
  async read(db: Reader, masterKey: Uint8Array): Promise<{ revision: number; stored: StoredEngines }> {
    const [row] = await wholeRow(db, {})
    return { revision: row?.revision ?? 0, stored: row ? opened(masterKey, row.value) : NOTHING_STORED }
  },

  /** Takes the next revision, locks it until this transaction ends, and returns the settings stored before. */
  async claim(tx: Tx, masterKey: Uint8Array): Promise<{ revision: number; stored: StoredEngines }> {
    const t = tx.of(engineSettingsRow)
    const value = seal(masterKey, CONTEXT, JSON.stringify(NOTHING_STORED))
    await tx.insert(t).values({ id: ID, revision: 0, value }).onConflictDoNothing()
    const [row] = await tx
      .update(t)
      .set({ revision: sql`${t.revision} + 1` })
      .where(eq(t.id, ID))
      .returning()
    return { revision: row!.revision, stored: opened(masterKey, row!.value) }
  },

  async write(tx: Tx, masterKey: Uint8Array, stored: StoredEngines): Promise<void> {
    const t = tx.of(engineSettingsRow)
    const value = seal(masterKey, CONTEXT, JSON.stringify(stored))
    await tx.update(t).set({ value }).where(eq(t.id, ID))
  },
}

const opened = (masterKey: Uint8Array, value: string): StoredEngines => JSON.parse(open(masterKey, CONTEXT, value))

/**
 * One row with the engine settings that operators made at runtime, for every node. `value` is encrypted JSON, because
 * it contains keys of upstreams. `revision` grows with every change.
 */
export const engineSettingsRow = defineTable('engine_settings', (k) => ({
  id: k.int('id').primaryKey(),
  revision: k.int('revision').notNull(),
  value: k.text('value').notNull(),
}))

/** Encrypts the settings with another master key. If `to` is null, only counts what `from` can decrypt. */
export async function resealEngines(db: Reader | Tx, from: Uint8Array, to: Uint8Array | null): Promise<Resealed> {
  const [row] = await wholeRow(db, {})
  if (!row) return { sealed: 0, unreadable: 0 }
  const value = reseal(from, to, CONTEXT, row.value)
  const t = db.of(engineSettingsRow)
  if (value !== null && to !== null && 'update' in db) await db.update(t).set({ value }).where(eq(t.id, ID))
  return { sealed: 1, unreadable: value === null ? 1 : 0 }
}
