import { and, eq, gte, sql } from 'drizzle-orm'
import { microToCents } from '../kernel/money'
import type { Reader } from '../kernel/store'
import { addEncoded, noCalls, percentiles } from './latency'
import { usageRollups } from './table'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** What everyone's calls of this UTC day cost, by owner, and the last hour by mode; for operators. */
export async function usageOfEveryone(reader: Reader, now: number) {
  const t = reader.of(usageRollups)
  const whole = and(eq(t.api_key, ''), eq(t.skill, ''))
  const sum = (column: typeof t.requests) => sql<number>`sum(${column})`.mapWith(Number)
  const owners = await reader
    .select({ owner: t.owner, cost: sum(t.cost_micro), requests: sum(t.requests), cached: sum(t.cached) })
    .from(t)
    .where(and(whole, eq(t.grain, 'day'), eq(t.at, now - (now % DAY_MS))))
    .groupBy(t.owner)
  const slots = await reader
    .select()
    .from(t)
    .where(and(whole, eq(t.grain, 'slot'), gte(t.at, now - HOUR_MS)))
  const total = owners.reduce((all, one) => all + one.requests, 0)
  const cached = owners.reduce((all, one) => all + one.cached, 0)
  return {
    cost_cents: microToCents(owners.reduce((all, one) => all + one.cost, 0)),
    cache_rate: total ? cached / total : 0,
    owners: owners
      .sort((a, b) => b.cost - a.cost)
      .slice(0, 3)
      .map(({ owner, cost }) => ({ owner, cost_cents: microToCents(cost) })),
    modes: byMode(slots),
  }
}

type Slot = typeof usageRollups.sqlite.$inferSelect

function byMode(slots: readonly Slot[]) {
  const groups = Map.groupBy(slots, ({ mode, resolved_mode }) => resolved_mode || mode || 'other')
  return [...groups]
    .map(([mode, rows]) => {
      const latency = noCalls()
      for (const row of rows) addEncoded(latency, row.latency)
      const requests = rows.reduce((sum, row) => sum + row.requests, 0)
      const errors = rows.reduce((sum, row) => sum + row.client_errors + row.server_errors, 0)
      const [p50, p95] = percentiles(latency, [0.5, 0.95])
      return {
        mode,
        per_minute: requests / 60,
        p50: p50 || null,
        p95: p95 || null,
        error_rate: requests ? errors / requests : 0,
        cost_cents: microToCents(rows.reduce((sum, row) => sum + row.cost_micro, 0)),
      }
    })
    .sort((a, b) => b.per_minute - a.per_minute)
    .slice(0, 8)
}
