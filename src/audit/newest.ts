import { desc } from 'drizzle-orm'
import type { Reader } from '../kernel/store'
import { present } from './chain'
import { selectSlice } from './repository'
import { auditHeads } from './table'

/** Chains that are looked at: those written to last. */
const CHAINS = 12

/** The newest events of everyone, newest first, each with its place in its chain; for operators. */
export async function newestEvents(reader: Reader, limit: number) {
  const t = reader.of(auditHeads)
  const heads = await reader.select().from(t).orderBy(desc(t.at)).limit(CHAINS)
  const slices = await Promise.all(
    heads.map(({ scope, seq }) => selectSlice(reader, { scope, above: 0, upTo: seq, limit, filters: [] })),
  )
  const rows = slices.flat().sort((a, b) => b.at - a.at || b.seq - a.seq)
  return {
    chains: heads.map(({ scope, seq, hash }) => ({ scope, seq, hash })),
    events: rows.slice(0, limit).map((row) => ({ ...present(row), scope: row.scope, seq: row.seq })),
  }
}
