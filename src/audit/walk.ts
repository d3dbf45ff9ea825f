import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { type End, endOf, faultsOf, START } from './faults'
import { pageOfChain } from './repository'
import type { ChainScope } from './schema'
import type { AuditEventRow } from './table'

const PAGE = 500

type ChainRange = { scope: ChainScope; above: number; upTo: number; signal: AbortSignal }

/** The first broken event and phrases that say why. */
export type BrokenLink = { row: AuditEventRow; faults: string[] }
export type WalkResult = { end: End | null; broken: BrokenLink | null }

/**
 * Recomputes a range of a chain, oldest first, and stops at the first broken event. When the range starts inside
 * the chain, only the content of its first event is checked, not its link to the one before.
 */
export async function walkChain(
  reader: Reader,
  { scope, above, upTo, signal }: ChainRange,
  onEvent: (row: AuditEventRow) => void,
): Promise<WalkResult> {
  let end: End | null = above === 0 ? START : null
  for (let last = above; last < upTo && !signal.aborted; ) {
    const rows = await pageOfChain(reader, { scope, above: last, upTo, limit: PAGE })
    for (const row of rows) {
      const faults = faultsOf(row, end ?? { seq: above, hash: row.prev_hash, at: row.at })
      if (faults.length) return { end, broken: { row, faults } }
      end = endOf(row)
      onEvent(row)
    }
    if (rows.length < PAGE) break
    last = rows.at(-1)!.seq
    await nextTurn()
  }
  return { end, broken: null }
}
