import { sql } from 'drizzle-orm'
import type { Caps, Hold } from '../billing/schema'
import type { ArtifactId } from '../files/schema'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId, UserId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import type { Actor, BrowserSessionId, EndReason, SessionState } from './schema'

/** Browser sessions. Each lives in the process that started it. Its row outlives both. */
export const browserSessions = defineTable(
  'browser_sessions',
  (k) => ({
    id: k.text('id').$type<BrowserSessionId>().primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    /** The holder within the owner: a key, or a person in a dashboard session. */
    holder: k.text('holder').notNull(),
    user_id: k.text('user_id').$type<UserId>().notNull(),
    key_id: k.text('key_id').$type<KeyId>(),
    request_id: k.text('request_id').notNull(),
    /** The process that runs its browser. */
    node: k.text('node').notNull(),
    region: k.text('region').notNull(),
    keep_alive: k.bool('keep_alive').notNull(),
    proxies: k.bool('proxies').notNull(),
    recorded: k.bool('recorded').notNull(),
    state: k.text('state').$type<SessionState>().notNull(),
    reason: k.text('reason').$type<EndReason>(),
    started_at: k.ms('started_at').notNull(),
    expires_at: k.ms('expires_at').notNull(),
    last_active_at: k.ms('last_active_at').notNull(),
    /** Last sign of life of its process. A lost session is charged until then. */
    seen_at: k.ms('seen_at').notNull(),
    ended_at: k.ms('ended_at'),
    view_version: k.int('view_version').notNull(),
    url: k.text('url'),
    title: k.text('title'),
    favicon_url: k.text('favicon_url'),
    /** Number of viewers, as last reported by its process. */
    viewers: k.int('viewers').notNull(),
    proxy_bytes: k.int('proxy_bytes').notNull(),
    hold: k.json<Hold>('hold'),
    caps: k.json<Caps>('caps').notNull(),
    /** When an invalid link was last recorded. */
    refused_at: k.ms('refused_at'),
    cost_micro: k.int('cost_micro').notNull(),
  }),
  (t, k) => [
    k.index('browser_sessions_active').on(t.node).where(sql`${t.state} = 'active'`),
    k.index('browser_sessions_of_user').on(t.user_id).where(sql`${t.state} = 'active'`),
    k.index('browser_sessions_by_owner').on(t.owner, t.holder, t.started_at),
  ],
)
export type SessionRow = Row<typeof browserSessions>

/** The actions of a session, in order (docs/api.md 28.3). */
export const browserActions = defineTable(
  'browser_actions',
  (k) => ({
    id: k.serial('id'),
    session_id: k.text('session_id').$type<BrowserSessionId>().notNull(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    at: k.ms('at').notNull(),
    actor: k.text('actor').$type<Actor>().notNull(),
    tool: k.text('tool').notNull(),
    input: k.text('input').notNull(),
    target: k.json<{ role: string; name: string } | null>('target'),
    ok: k.bool('ok').notNull(),
    result: k.text('result').notNull(),
    url: k.text('url').notNull(),
    frame: k.text('frame').$type<ArtifactId>(),
  }),
  (t, k) => [k.index('browser_actions_of_session').on(t.session_id, t.id)],
)
export type ActionRow = Row<typeof browserActions>

/** Calls to sessions of another process. The calling process removes them after the answer. */
export const browserCalls = defineTable(
  'browser_calls',
  (k) => ({
    id: k.text('id').primaryKey(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    session_id: k.text('session_id').$type<BrowserSessionId>().notNull(),
    /** The process that must answer. */
    node: k.text('node').notNull(),
    at: k.ms('at').notNull(),
    taken: k.bool('taken').notNull(),
    /** Encrypted JSON, like the answer. */
    order: k.text('order').notNull(),
    answer: k.text('answer'),
  }),
  (t, k) => [k.index('browser_calls_waiting').on(t.node).where(sql`${t.answer} is null`)],
)
