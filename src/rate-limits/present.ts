import { iso, isoOrNull } from '../kernel/clock'
import type { Increase } from './schema'
import type { IncreaseRow } from './table'

/** The one place where a stored increase request becomes a public object. */
export const present = (row: IncreaseRow): Increase => ({
  id: row.id,
  object: 'rate_limit_increase',
  status: row.status,
  user_id: row.user_id,
  key_id: row.key_id,
  current_tier: row.current_tier,
  requested_tier: row.requested_tier,
  granted_tier: row.granted_tier,
  use_case: row.use_case,
  expected_volume: row.expected_volume,
  reason: row.reason,
  created: iso(row.created_at),
  decided_at: isoOrNull(row.decided_at),
})
