import { GENESIS, hashOf } from './chain'
import type { AuditEventRow } from './table'

/** The last event that a walk along a chain has checked. */
export type End = { seq: number; hash: string; at: number }
export const START: End = { seq: 0, hash: GENESIS, at: 0 }

export const endOf = ({ seq, hash, at }: AuditEventRow): End => ({ seq, hash, at })

/** What is wrong with one event, given the one before it: phrases for a message, empty when the event is sound. */
export function faultsOf(row: AuditEventRow, before: End): string[] {
  const faults: string[] = []
  if (row.seq !== before.seq + 1) faults.push(`follows #${before.seq}`)
  if (row.prev_hash !== before.hash) faults.push('prevHash is not the hash before it')
  if (row.at < before.at) faults.push('is older than the event before it')
  if (row.hash !== hashOf(row)) faults.push('its hash does not match its content')
  if (!columnsMatch(row)) faults.push('its mode or status column is not what its summaries say')
  return faults
}

/** The filter columns copy members of the summaries. They may differ only where truncation removed the member. */
function columnsMatch(row: AuditEventRow): boolean {
  const [input, output] = [membersOf(row.input), membersOf(row.output)]
  const mode = input.mode ?? (input.truncated ? row.mode : null)
  const status = output.status ?? (output.truncated ? row.status : null)
  return mode === row.mode && status === row.status
}

function membersOf(summary: string): Record<string, unknown> {
  try {
    return JSON.parse(summary)
  } catch {
    return {}
  }
}
