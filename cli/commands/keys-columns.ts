import { centsToMicro, spellCents } from '../../src/kernel/money'
import { column, idColumn } from '../output/columns'
import type { JsonObject } from '../output/json'
import { argument } from '../words'

/** Spending against the daily cap or else the monthly one, `1.20/5.00 day`; without caps, today's spending. */
function spendOfCap(key: JsonObject): string {
  const of = (spent: unknown, cap: unknown, period: string) => `${cents(spent)}/${cents(cap)} ${period}`
  if (key.daily_cap_cents !== null) return of(key.spent_today_cents, key.daily_cap_cents, 'day')
  if (key.monthly_cap_cents !== null) return of(key.spent_month_cents, key.monthly_cap_cents, 'month')
  return `${cents(key.spent_today_cents)}/-`
}

const cents = (value: unknown): string => spellCents(centsToMicro(Number(value)))

/** The columns of a key. */
export const columns = [
  // Name and prefix name a key as well, where there is no room.
  { ...idColumn, min: true },
  column('name', 'NAME'),
  column('prefix', 'PREFIX', { keep: true }),
  column('org_id', 'ORG', {
    keep: true,
    show: ({ org_id }, whole) => (org_id ? String(org_id).slice(0, whole ? 36 : 8) : 'personal'),
  }),
  column('tier', 'TIER', { keep: true }),
  column('status', 'STATUS', { keep: true }),
  column('scopes', 'SCOPES', { kind: 'list', min: true }),
  column('spent_today_cents', 'SPEND/CAP¢', { kind: 'number', show: spendOfCap }),
  column('daily_cap_cents', 'CAP/DAY¢', { kind: 'money', wide: true }),
  column('spent_month_cents', 'MONTH¢', { kind: 'money', wide: true }),
  column('monthly_cap_cents', 'CAP/MONTH¢', { kind: 'money', wide: true }),
  column('rpm_limit', 'RPM', { kind: 'number', wide: true }),
  column('tpm_limit', 'TPM', { kind: 'number', wide: true }),
  column('allowed_origins', 'ORIGINS', { kind: 'list', wide: true }),
  column('last_used_at', 'LAST-USED', { kind: 'time' }),
  column('created', 'CREATED', { kind: 'time', wide: true }),
  column('expires_at', 'EXPIRES', { kind: 'time', wide: true }),
]

/** One key in full, with what is attached to it and its use of the current minute (dx 2.9). */
export const detailColumns = [
  ...columns,
  column('routing_preference_id', 'ROUTING', { wide: true }),
  column('routing_rules', 'RULES', { show: ({ routing_rules }) => String((routing_rules as unknown[]).length) }),
  column('guardrail_policy_id', 'GUARDRAILS', { wide: true }),
  column('now.rpm', 'NOW-RPM'),
  column('now.tpm', 'NOW-TPM'),
]

/** Operators see every owner's keys; a key with --url those it may manage. */
export const apis = ['operator', 'tenant'] as const
export const keyArgument = { key: argument('id, 6 or more characters of it, prefix or name of a key') }
