import { eq, sql } from 'drizzle-orm'
import { command, query, type Reader, type Tx } from '../kernel/store'
import { databaseSecrets } from './nodes-table'

const ONLY = 1

const stored = query<{ id: number }>()((db, p) => {
  const t = db.of(databaseSecrets)
  return db.select({ fingerprint: t.fingerprint }).from(t).where(eq(t.id, p.id))
})

const keep = command<{ id: number; fingerprint: string }>()((tx, p) => {
  const t = tx.of(databaseSecrets)
  return tx
    .insert(t)
    .values({ id: p.id, fingerprint: p.fingerprint })
    .onConflictDoUpdate({ target: t.id, set: { fingerprint: sql`excluded.fingerprint` } })
})

/** The fingerprint of the secrets that the database was written with; null when it knows of none yet. */
export const secretsOf = async (reader: Reader): Promise<string | null> =>
  (await stored(reader, { id: ONLY }))[0]?.fingerprint ?? null

export async function keepSecrets(tx: Tx, fingerprint: string): Promise<void> {
  await keep(tx, { id: ONLY, fingerprint })
}
