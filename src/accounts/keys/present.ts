import { iso, isoOrNull } from '../../kernel/clock'
import { microToCents } from '../../kernel/money'
import { statusOf } from './rules'
import type { ApiKey } from './schema'
import type { KeyRow } from './table'

/** Cost of a key since 00:00 UTC and since the first of the month, in micro-cents. */
export type Spent = { today: { spent: number }; month: { spent: number } }

export const NOTHING_SPENT: Spent = { today: { spent: 0 }, month: { spent: 0 } }

/** The only place that turns a stored key into a public object. Omits the id of its creator. */
export function present(row: KeyRow, spent: Spent, now: number): ApiKey {
  return {
    id: row.id,
    object: 'api_key',
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    scope: row.org_id ? 'org' : 'personal',
    org_id: row.org_id,
    tier: row.tier,
    status: statusOf(row, now),
    rpm_limit: row.rpm_limit,
    tpm_limit: row.tpm_limit,
    daily_cap_cents: row.daily_cap_cents,
    monthly_cap_cents: row.monthly_cap_cents,
    spent_today_cents: microToCents(spent.today.spent),
    spent_month_cents: microToCents(spent.month.spent),
    allowed_origins: row.allowed_origins,
    brand_soul: row.brand_soul,
    chat_parameters: row.chat_parameters,
    routing_preference_id: row.routing_preference_id,
    routing_rules: row.routing_rules ?? [],
    confidence_floor_overrides: row.routing_floors ?? {},
    guardrail_policy_id: row.guardrail_policy_id,
    created: iso(row.created_at),
    last_used_at: isoOrNull(row.last_used_at),
    expires_at: isoOrNull(row.expires_at),
    revoked_at: isoOrNull(row.revoked_at),
  }
}
