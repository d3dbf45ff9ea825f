import { iso } from '../kernel/clock'
import { belowFloor } from './floors'
import type { Preference } from './schema'
import type { Correction } from './schema-corrections'
import type { CorrectionRow, PreferenceRow } from './table'

/** The public object of a stored preference, without the user who made it. */
export function present(row: PreferenceRow, boundKeys: number): Preference {
  const { id, name, description, rules, examples, floors, scope, org_id, is_default } = row
  const warnings = belowFloor(rules, floors)
  return {
    id,
    object: 'routing_preference',
    name,
    description,
    rules,
    examples,
    confidence_floor_overrides: floors,
    scope,
    org_id,
    is_default,
    bound_key_count: boundKeys,
    created: iso(row.created_at),
    updated: iso(row.updated_at),
    ...(warnings.length ? { warnings } : {}),
  }
}

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
