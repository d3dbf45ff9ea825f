import { and, desc, eq, gte, inArray, sql } from 'drizzle-orm'
import type { AuditLog } from '../audit'
import { waitingOf } from '../jobs'
import type { Call, OperatorCaller, OwnerScope } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { microToCents } from '../kernel/money'
import type { Reader, Store } from '../kernel/store'
import { CONTROL_KIND } from './control'
import { sessionNotFound } from './errors'
import type { Host } from './host'
import { EMBED_MS, type Presenter } from './present'
import { sessionRepository as rows } from './repository'
import { BrowserSessionId, type LinkInput, type OverseenList, type OverseenSession, type SessionLink } from './schema'
import { browserActions, browserSessions, type SessionRow } from './table'

/** Actions that are shown of each session. */
const STEPS = 40

/** The open sessions of everyone, oldest first, with what was done in them; for operators. */
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

/** How long sessions that began since a moment were open, in ms, and what they cost in cents. */
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

type Deps = {
  store: Store
  clock: Clock
  audit: AuditLog
  host: Host
  present: Presenter
  /** Whose chain and wallet a word of an operator names. Throws 404. */
  ownerNamed(reader: Reader, word: string): Promise<OwnerScope>
}

/** What operators see of the sessions of everyone: never a link, unless they ask for one, which is recorded. */
export function createOperatorAccess({ store, clock, audit, host, present, ownerNamed }: Deps) {
  return { list, get, link, find }

  /** The open sessions of everyone, or of one owner, oldest first. Throws 404 for an owner that is none. */
  async function list(ownerFilter?: string): Promise<OverseenList> {
    const owner = ownerFilter === undefined ? null : await ownerNamed(store.read, ownerFilter)
    const all = await rows.everyones(store.read)
    return { sessions: all.filter((row) => owner === null || row.owner === owner).map(shown) }
  }

  async function get(id: string): Promise<OverseenSession> {
    return shown(await find(id))
  }

  /** A link to the live view, to look or to take the wheel, for an hour at most. Throws 404 `session_not_found`. */
  async function link(
    call: Call<OperatorCaller>,
    id: string,
    { control = false, ttl_seconds }: LinkInput,
  ): Promise<SessionLink> {
    const row = await find(id)
    if (row.state === 'ended') throw sessionNotFound()
    const rights = control ? ('control' as const) : ('view' as const)
    await store.write((tx) =>
      audit.record(tx, call, {
        action: 'browser.link_created',
        entityType: 'browser_session',
        entityId: row.id,
        scope: row.owner,
        input: { metadata: { rights } },
      }),
    )
    const until = clock.now() + (ttl_seconds === undefined ? EMBED_MS : ttl_seconds * 1_000)
    return { session_id: row.id, url: present.linkUntil(row, until, rights), rights, expires_at: iso(until) }
  }

  async function find(id: string): Promise<SessionRow> {
    const row = BrowserSessionId.is(id) ? await rows.byLink(store.read, id) : undefined
    if (!row) throw sessionNotFound()
    return row
  }

  function shown(row: SessionRow): OverseenSession {
    return {
      ...present.snapshot(row),
      live_view_url: null,
      embed_url: null,
      owner: row.owner,
      user_id: row.user_id,
      api_key_id: row.key_id,
      node: row.node,
      viewers: host.find(row.id)?.viewers ?? row.viewers,
    }
  }
}
