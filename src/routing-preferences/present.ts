import { iso } from '../kernel/clock'
import type { Correction } from './schema-corrections'
import type { CorrectionRow } from './table'

/** A stored correction as the API shows it, without who made it. */
export function presentCorrection(row: CorrectionRow): Correction {
  const { id, completion_id, prompt, resolved_mode, expected_mode, expected_engine, note, created_at } = row
  return {
    id,
    object: 'routing_correction',
    completion_id,
    prompt,
    resolved_mode,
    expected_mode,
    expected_engine,
    note,
    created: iso(created_at),
  }
}
