import { and, desc, eq, gte, inArray, isNotNull, ne, type SQL, sql } from 'drizzle-orm'
import { stateOf } from '../jobs'
import type { Reader } from '../kernel/store'
import { median } from './hub'
import { widgetMessages, widgetSessions, widgets } from './table'
import { CHAT_KIND } from './transcript'

/** Chats with the AI that are listed; of the others all are. */
const MAX = 60
const BEGINNING = 160
const MAX_WAITS = 1_000

const counted = (is: SQL) => sql<number>`coalesce(sum(case when ${is} then 1 else 0 end), 0)`.mapWith(Number)
const [MAX_WIDGETS, MAX_WORDS] = [12, 8]

/** The open chats of all widgets: those with or for a person first, each with what its visitor said last; for operators. */
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
  const [counted] = await reader
    .select({ total: sql<number>`count(*)`.mapWith(Number) })
    .from(chat)
    .where(and(isOpen, eq(chat.takeover_status, 'ai')))
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
    with_ai: counted!.total,
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

/** What became of the chats that something happened in since a moment; for operators. */
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

/** By which words visitors ask for a person, of the newest widgets that look for them; for operators. */
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

/** How many chats the visitors of these have had in the same widget, with these; by widget and visitor. */
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
  return new Map(found.map(({ id, content }) => [id, content.slice(0, BEGINNING)]))
}
