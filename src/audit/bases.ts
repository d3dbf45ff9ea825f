import { and, desc, eq, lt, lte, sql } from 'drizzle-orm'
import { command, query, type Reader } from '../kernel/store'
import { type End, START } from './chain'
import { pageOfChain } from './repository'
import type { ChainScope } from './schema'
import { auditBases, auditLog } from './table'

type Base = End & { event_seq: number }

const ofScope = query<{ scope: ChainScope }>()((db, p) => {
  const t = db.of(auditBases)
  return db.select().from(t).where(eq(t.scope, p.scope))
})

const allBases = query<Record<never, never>>()((db) => db.select().from(db.of(auditBases)))

export const setBase = command<Base & { scope: ChainScope }>()((tx, p) => {
  const t = tx.of(auditBases)
  return tx
    .insert(t)
    .values({ scope: p.scope, seq: p.seq, hash: p.hash, at: p.at, event_seq: p.event_seq })
    .onConflictDoUpdate({
      target: t.scope,
      set: {
        seq: sql`excluded.seq`,
        hash: sql`excluded.hash`,
        at: sql`excluded.at`,
        event_seq: sql`excluded.event_seq`,
      },
    })
})

/** The event up to which a chain was trimmed: it is verified from there. The beginning where it never was. */
export const baseOf = async (reader: Reader, scope: ChainScope): Promise<End> =>
  (await ofScope(reader, { scope }))[0] ?? START

/** The last event before a moment, of those that stay below the base of a chain; 0 for none. */
export const lastKept = query<{ scope: ChainScope; upTo: number; moment: number }>()((db, p) => {
  const t = db.of(auditLog)
  return db
    .select({ seq: t.seq })
    .from(t)
    .where(and(eq(t.scope, p.scope), lte(t.seq, sql`${p.upTo}`), lt(t.at, sql`${p.moment}`)))
    .orderBy(desc(t.seq))
    .limit(1)
})

/** Every base, by chain, and a sentence for each that is not what the server's chain says was trimmed. */
export async function checkedBases(reader: Reader): Promise<{ bases: Map<string, End>; violations: string[] }> {
  const bases = new Map<string, End>()
  const violations: string[] = []
  for (const base of await allBases(reader, {})) {
    bases.set(base.scope, base)
    const [event] = await pageOfChain(reader, {
      ...{ scope: 'server', above: base.event_seq - 1, upTo: base.event_seq, limit: 1 },
    })
    const noted: Partial<Trimmed> = event?.action === TRIMMED ? JSON.parse(event.output).trimmed : {}
    if (noted.chain !== base.scope || noted.seq !== base.seq || noted.hash !== base.hash)
      violations.push(`audit ${base.scope}: its base #${base.seq} is not an event up to which it was trimmed`)
  }
  return { bases, violations }
}

export const TRIMMED = 'audit.trimmed'

export type Trimmed = { chain: ChainScope; seq: number; hash: string; files: { name: string; sha256: string }[] }
