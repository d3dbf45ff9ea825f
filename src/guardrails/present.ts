import { iso } from '../kernel/clock'
import type { GuardrailPolicy } from './schema'
import type { PolicyRow } from './table'

/** A stored policy as the API shows it, which is without who made it. */
export const present = (row: PolicyRow, boundKeys: number): GuardrailPolicy => ({
  id: row.id,
  object: 'guardrail_policy',
  name: row.name,
  description: row.description,
  rules: row.rules,
  scope: row.org_id ? 'team' : 'personal',
  org_id: row.org_id,
  is_default: row.default_of !== null,
  bound_key_count: boundKeys,
  created: iso(row.created_at),
  updated: iso(row.updated_at),
})
