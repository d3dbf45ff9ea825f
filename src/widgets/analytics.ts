import { and, count, countDistinct, desc, eq, gte, inArray, isNotNull, lt, ne, type SQL, sql } from 'drizzle-orm'
import { stateOf } from '../jobs'
import { type Clock, iso, utcDay } from '../kernel/clock'
import { microToCents } from '../kernel/money'
import { readPeriod } from '../kernel/range'
import type { Reader } from '../kernel/store'
import { beginningOf } from '../kernel/text'
import { median } from './hub'
import type { Analytics, AnalyticsQuery, WidgetId } from './schema'
import { widgetMessages, widgetSessions, widgets } from './table'
import { CHAT_KIND } from './transcript'

const DAY_MS = 86_400_000
const DAYS = 30
const MAX_ORIGINS = 20

/** Visitors' activity in a widget during a period. Default: the last 30 days (docs/api.md 15.1). */
export async function analyse(db: Reader, clock: Clock, id: WidgetId, query: AnalyticsQuery): Promise<Analytics> {
  const { from, to } = readPeriod(query, clock.now() + 1, DAYS * DAY_MS)
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

/** How many sessions began since a moment, by widget; those of others are left out. */
export async function sessionsSince(
  db: Reader,
  ids: readonly WidgetId[],
  from: number,
): Promise<ReadonlyMap<WidgetId, number>> {
  const t = db.of(widgetSessions)
  const rows = await db
    .select({ id: t.config_id, many: count() })
    .from(t)
    .where(and(inArray(t.config_id, [...ids]), gte(t.created_at, from)))
    .groupBy(t.config_id)
  return new Map(rows.map(({ id, many }) => [id, many]))
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

/** The length of a day is a literal, because with a parameter Postgres would not recognize the grouped expression. */
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

/** Maximum number of listed chats with the AI. All other chats are listed. */
const MAX = 60
const BEGINNING = 160
const MAX_WAITS = 1_000

const counted = (is: SQL) => sql<number>`coalesce(sum(case when ${is} then 1 else 0 end), 0)`.mapWith(Number)
const [MAX_WIDGETS, MAX_WORDS] = [12, 8]

/** The open chats of all widgets, for operators. Those with or for a person first, each with its last message. */
export async function openChats(reader: Reader) {
  const [chat, widget] = [reader.of(widgetSessions), reader.of(widgets)]
  const isOpen = eq(chat.status, 'open')
  const listed = (which: typeof isOpen) =>
    reader
      .select({ chat, widget: widget.name, key: widget.api_key_id })
      .from(chat)
      .innerJoin(widget, eq(widget.id, chat.config_id))
      .where(and(isOpen, which))
      .orderBy(desc(chat.last_message_at))
      .limit(MAX)
  const [personal, others] = await Promise.all([
    listed(ne(chat.takeover_status, 'ai')),
    listed(eq(chat.takeover_status, 'ai')),
  ])
  const withoutPerson = await reader.$count(chat, and(isOpen, eq(chat.takeover_status, 'ai')))
  const all = [...personal, ...others]
  const ids = personal.map(({ chat }) => chat.id)
  const [last, state, visits] = await Promise.all([
    lastStated(reader, ids),
    stateOf(reader, CHAT_KIND, ids),
    visitsOf(
      reader,
      personal.map(({ chat }) => chat),
    ),
  ])
  return {
    with_ai: withoutPerson,
    chats: all.map(({ chat, widget, key }) => ({
      id: chat.id,
      widget_id: chat.config_id,
      widget,
      key_id: key,
      takeover_status: chat.takeover_status,
      operator_id: chat.operator_id,
      operator_name: chat.operator_name,
      reason: chat.reason,
      since: state.get(chat.id)?.since ?? chat.changed_at,
      back_at: state.get(chat.id)?.until ?? null,
      visits: visits.get(visitOf(chat)) ?? null,
      page_url: chat.page_url,
      user_agent: chat.user_agent,
      message_count: chat.message_count,
      cost_micro: chat.cost_micro,
      left_at: chat.left_at,
      said: last.get(chat.id) ?? null,
      created_at: chat.created_at,
      changed_at: chat.changed_at,
      last_message_at: chat.last_message_at,
    })),
  }
}

/** Outcomes of the chats with activity since a given time. For operators. */
export async function chatSums(reader: Reader, since: number) {
  const t = reader.of(widgetSessions)
  const [sums] = await reader
    .select({
      chats: sql<number>`count(*)`.mapWith(Number),
      picked_up: sql<number>`count(${t.waited_ms})`.mapWith(Number),
      waiting: counted(sql`${t.takeover_status} = 'requested'`),
      left: counted(sql`${t.takeover_status} = 'requested' and ${t.left_at} is not null`),
    })
    .from(t)
    .where(gte(t.changed_at, since))
  const waits = await reader
    .select({ waited: t.waited_ms })
    .from(t)
    .where(and(gte(t.changed_at, since), isNotNull(t.waited_ms)))
    .limit(MAX_WAITS)
  return { ...sums!, wait_ms: median(waits.map(({ waited }) => waited!)) }
}

/** Words by which visitors ask for a person, from the newest widgets that detect them. For operators. */
export async function wordsOfWidgets(reader: Reader) {
  const t = reader.of(widgets)
  const found = await reader
    .select({ widget: t.name, intents: t.intents })
    .from(t)
    .where(eq(t.status, 'active'))
    .orderBy(desc(t.created_at))
    .limit(MAX)
  return found
    .filter(({ intents }) => intents.enabled)
    .slice(0, MAX_WIDGETS)
    .map(({ widget, intents }) => ({ widget, words: intents.keywords.slice(0, MAX_WORDS) }))
}

type ChatId = (typeof widgetSessions.sqlite.$inferSelect)['id']

/** Number of chats that these visitors have had in the same widget, including these, by widget and visitor. */
async function visitsOf(reader: Reader, chats: readonly Visit[]): Promise<Map<string, number>> {
  if (!chats.length) return new Map()
  const t = reader.of(widgetSessions)
  const of = (name: keyof Visit) => inArray(t[name], [...new Set(chats.map((chat) => chat[name]))] as never[])
  const found = await reader
    .select({ config_id: t.config_id, visitor_id: t.visitor_id, visits: sql<number>`count(*)`.mapWith(Number) })
    .from(t)
    .where(and(of('config_id'), of('visitor_id')))
    .groupBy(t.config_id, t.visitor_id)
  return new Map(found.map(({ visits, ...visit }) => [visitOf(visit), visits]))
}

type Visit = Pick<typeof widgetSessions.sqlite.$inferSelect, 'config_id' | 'visitor_id'>
const visitOf = ({ config_id, visitor_id }: Visit): string => `${config_id} ${visitor_id}`

async function lastStated(reader: Reader, ids: ChatId[]): Promise<Map<ChatId, string>> {
  if (!ids.length) return new Map()
  const t = reader.of(widgetMessages)
  const newest = reader
    .select({ session: t.session_id, newest: sql<number>`max(${t.seq})`.as('newest_seq') })
    .from(t)
    .where(and(inArray(t.session_id, ids), eq(t.role, 'user')))
    .groupBy(t.session_id)
    .as('newest')
  const found = await reader
    .select({ id: t.session_id, content: t.content })
    .from(t)
    .innerJoin(newest, and(eq(t.session_id, newest.session), eq(t.seq, newest.newest)))
  return new Map(found.map(({ id, content }) => [id, beginningOf(content, BEGINNING)]))
}
