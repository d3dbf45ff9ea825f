import { and, desc, eq, gte, inArray, sql } from 'drizzle-orm'
import { waitingOf } from '../jobs'
import { iso } from '../kernel/clock'
import { microToCents } from '../kernel/money'
import type { Reader } from '../kernel/store'
import { CONTROL_KIND } from './control'
import { sessionRepository as rows } from './repository'
import { browserActions, browserSessions } from './table'

/** Number of actions shown per session. */
const STEPS = 40

/** The open sessions of everyone, oldest first, with their actions. For operators. */
export async function openSessions(reader: Reader) {
  const [open, waiting] = await Promise.all([rows.everyones(reader), waitingOf(reader, CONTROL_KIND)])
  const t = reader.of(browserActions)
  const done = open.length
    ? await reader
        .select({ session_id: t.session_id, at: t.at, actor: t.actor, tool: t.tool, input: t.input, ok: t.ok })
        .from(t)
        .where(
          inArray(
            t.session_id,
            open.map(({ id }) => id),
          ),
        )
        .orderBy(desc(t.id))
        .limit(STEPS)
    : []
  return open.map((row) => ({
    id: row.id,
    owner: row.owner,
    key_id: row.key_id,
    region: row.region,
    keep_alive: row.keep_alive,
    proxies: row.proxies,
    url: row.url,
    title: row.title,
    view_version: row.view_version,
    viewers: row.viewers,
    started_at: iso(row.started_at),
    expires_at: iso(row.expires_at),
    last_active_at: iso(row.last_active_at),
    waits: waiting.has(row.id),
    wanted: waiting.get(row.id) ?? null,
    steps: done
      .filter(({ session_id }) => session_id === row.id)
      .slice(0, 4)
      .toReversed()
      .map(({ at, actor, tool, input, ok }) => ({ at: iso(at), actor, tool, input: input.slice(0, 120), ok })),
  }))
}

/** Total open time in ms, and cost in cents, of sessions that started since a given time. */
export async function sessionSums(reader: Reader, since: number, now: number) {
  const t = reader.of(browserSessions)
  const [sum] = await reader
    .select({
      ms: sql<number>`coalesce(sum(coalesce(${t.ended_at}, ${now}) - ${t.started_at}), 0)`.mapWith(Number),
      cost: sql<number>`coalesce(sum(${t.cost_micro}), 0)`.mapWith(Number),
    })
    .from(t)
    .where(gte(t.started_at, since))
  const open = await reader
    .select({ started_at: t.started_at })
    .from(t)
    .where(and(eq(t.state, 'active')))
  const longest = Math.max(0, ...open.map(({ started_at }) => now - started_at))
  return { ms: sum!.ms, cost_cents: microToCents(sum!.cost), open: open.length, longest_ms: longest }
}
