import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { type End, endOf, faultsOf, START } from './faults'
import { pageOfChain } from './repository'
import type { ChainScope } from './schema'
import type { AuditEventRow } from './table'

const PAGE = 500

type Stretch = { scope: ChainScope; above: number; upTo: number; signal: AbortSignal }

/** The first event that does not hold, and why, in half sentences. */
export type BrokenLink = { row: AuditEventRow; faults: string[] }
export type Walked = { end: End | null; broken: BrokenLink | null }

/**
 * Computes a stretch of a chain again, oldest event first, and stops at the first that does not hold.
 * In the middle of a chain the first event answers for its own content, not for what it follows.
 */
export async function walkChain(
  reader: Reader,
  { scope, above, upTo, signal }: Stretch,
  see: (row: AuditEventRow) => void,
): Promise<Walked> {
  let end: End | null = above === 0 ? START : null
  for (let last = above; last < upTo && !signal.aborted; ) {
    const rows = await pageOfChain(reader, { scope, above: last, upTo, limit: PAGE })
    for (const row of rows) {
      const faults = faultsOf(row, end ?? { seq: above, hash: row.prev_hash, at: row.at })
      if (faults.length) return { end, broken: { row, faults } }
      end = endOf(row)
      see(row)
    }
    if (rows.length < PAGE) break
    last = rows.at(-1)!.seq
    await nextTurn()
  }
  return { end, broken: null }
}
