import { and, count, countDistinct, desc, eq, gte, isNotNull, lt, type SQL, sql } from 'drizzle-orm'
import { type Clock, iso, utcDay } from '../kernel/clock'
import { microToCents } from '../kernel/money'
import { readRange } from '../kernel/range'
import type { Reader } from '../kernel/store'
import type { Analytics, AnalyticsQuery, WidgetId } from './schema'
import { widgetSessions } from './table'

const DAY_MS = 86_400_000
const DAYS = 30
const MAX_ORIGINS = 20

/** What visitors did with a widget in a period; the last 30 days unless told (contract 15.1). */
export async function analyse(db: Reader, clock: Clock, id: WidgetId, query: AnalyticsQuery): Promise<Analytics> {
  const request = readRange(query)
  const to = request.to ?? clock.now() + 1
  const from = request.from ?? to - DAYS * DAY_MS
  const t = db.of(widgetSessions)
  const within = and(eq(t.config_id, id), gte(t.created_at, from), lt(t.created_at, to))!
  const { sessions, messages, ...sums } = await totalsOf(db, within)
  return {
    period: { from: iso(from), to: iso(to) },
    totals: {
      sessions,
      messages,
      ...sums,
      avg_messages_per_session: sessions ? rounded(messages / sessions) : 0,
    },
    by_day: await daysOf(db, within),
    top_origins: await originsOf(db, within),
  }
}

const sumOf = (column: unknown) => sql<number>`coalesce(sum(${column}), 0)`.mapWith(Number)
const meanOf = (column: unknown) => sql<number | null>`avg(${column})`
const rounded = (value: number): number => Math.round(value * 100) / 100
const orNull = (value: number | string | null): number | null => (value === null ? null : rounded(Number(value)))

async function totalsOf(db: Reader, within: SQL) {
  const t = db.of(widgetSessions)
  const [row] = await db
    .select({
      sessions: count(),
      messages: sumOf(t.message_count),
      visitors: countDistinct(t.visitor_id),
      takeovers: sumOf(t.takeovers),
      response: meanOf(t.first_response_ms),
      csat: meanOf(t.rating),
      cost: sumOf(t.cost_micro),
    })
    .from(t)
    .where(within)
  const { response, csat, cost, ...counts } = row!
  return {
    ...counts,
    avg_first_response_ms: orNull(response),
    csat: orNull(csat),
    cost_cents: microToCents(cost),
  }
}

/** The length of a day as a literal: with a parameter, Postgres would not take the expression for the grouped one. */
async function daysOf(db: Reader, within: SQL): Promise<Analytics['by_day']> {
  const t = db.of(widgetSessions)
  const day = sql<number>`${t.created_at} / 86400000`.mapWith(Number)
  const rows = await db
    .select({ day, sessions: count(), messages: sumOf(t.message_count), cost: sumOf(t.cost_micro) })
    .from(t)
    .where(within)
    .groupBy(day)
    .orderBy(day)
  return rows.map(({ day, sessions, messages, cost }) => ({
    date: utcDay(day * DAY_MS),
    sessions,
    messages,
    cost_cents: microToCents(cost),
  }))
}

async function originsOf(db: Reader, within: SQL): Promise<Analytics['top_origins']> {
  const t = db.of(widgetSessions)
  const rows = await db
    .select({ origin: t.origin, sessions: count() })
    .from(t)
    .where(and(within, isNotNull(t.origin)))
    .groupBy(t.origin)
    .orderBy(desc(count()), t.origin)
    .limit(MAX_ORIGINS)
  return rows.map(({ origin, sessions }) => ({ origin: origin ?? '', sessions }))
}
