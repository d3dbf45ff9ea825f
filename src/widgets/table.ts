import { sql } from 'drizzle-orm'
import type { OwnerScope } from '../kernel/caller'
import type { KeyId } from '../kernel/ids'
import { defineTable, type Row } from '../kernel/store'
import { ownedColumns, ownedIndexes } from '../resource'
import type { MessageId } from '../skills/conversations/schema'
import type { Appearance, Behavior, Intents, Security, WidgetId } from './schema'
import type { NoteId, VisitContext, VisitorIdentity, WidgetSessionId } from './schema-sessions'

export const widgets = defineTable(
  'widgets',
  (k) => ({
    ...ownedColumns<WidgetId>(k),
    status: k.text('status').$type<'active' | 'disabled'>().notNull(),
    api_key_id: k.text('api_key_id').$type<KeyId>().notNull(),
    /** Who pays for the widget's answers. */
    key_owner: k.text('key_owner').$type<OwnerScope>().notNull(),
    /** Complete groups, including the defaults from the time of creation. */
    appearance: k.json<Appearance>('appearance').notNull(),
    behavior: k.json<Behavior>('behavior').notNull(),
    security: k.json<Security>('security').notNull(),
    intents: k.json<Intents>('intents').notNull(),
    /** Version of the secret that signs visitors' identities. 0 if none was created. */
    identity_version: k.int('identity_version').notNull(),
  }),
  (t, k) => ownedIndexes(k, 'widgets', t),
)
export type WidgetRow = Row<typeof widgets>

export const widgetSessions = defineTable(
  'widget_sessions',
  (k) => ({
    id: k.text('id').$type<WidgetSessionId>().primaryKey(),
    config_id: k.text('config_id').$type<WidgetId>().notNull(),
    owner: k.text('owner').$type<OwnerScope>().notNull(),
    token_hash: k.text('token_hash').notNull(),
    /** The origin that the token is bound to. Null for the widget's own page, which this server serves. */
    token_origin: k.text('token_origin'),
    status: k.text('status').$type<'open' | 'closed'>().notNull(),
    /** Copy of the takeover's state, always changed together with it. Stored here so that lists can filter by it. */
    takeover_status: k.text('takeover_status').$type<'ai' | 'requested' | 'human'>().notNull(),
    operator_id: k.text('operator_id'),
    operator_name: k.text('operator_name'),
    reason: k.text('reason'),
    takeovers: k.int('takeovers').notNull(),
    visitor_id: k.text('visitor_id').notNull(),
    /** Keyed hash. The address itself is not stored. */
    ip_hash: k.text('ip_hash').notNull(),
    user_agent: k.text('user_agent'),
    origin: k.text('origin'),
    page_url: k.text('page_url'),
    identity: k.json<VisitorIdentity>('identity'),
    context: k.json<VisitContext>('context'),
    /** Number of the last message. */
    message_count: k.int('message_count').notNull(),
    /** Number of messages by the visitor. */
    asked: k.int('asked').notNull(),
    first_asked_at: k.ms('first_asked_at'),
    first_response_ms: k.int('first_response_ms'),
    cost_micro: k.int('cost_micro').notNull(),
    conversation_id: k.text('conversation_id'),
    /** Time from the request for a person to their arrival, in ms. */
    waited_ms: k.int('waited_ms'),
    /** When the visitor's page closed its stream while a person was requested or present. Null while it is open. */
    left_at: k.ms('left_at'),
    rating: k.int('rating'),
    comment: k.text('comment'),
    created_at: k.ms('created_at').notNull(),
    /** Time of the last message, or of creation. */
    last_message_at: k.ms('last_message_at').notNull(),
    /** Time of the last change that listeners are notified of. */
    changed_at: k.ms('changed_at').notNull(),
    expires_at: k.ms('expires_at').notNull(),
  }),
  (t, k) => [
    k.index('widget_sessions_by_config').on(t.config_id, t.last_message_at, t.id),
    k.index('widget_sessions_by_age').on(t.config_id, t.created_at),
    k.index('widget_sessions_by_standing').on(t.takeover_status, t.last_message_at, t.id),
    k.index('widget_sessions_by_address').on(t.config_id, t.ip_hash, t.created_at),
    k.index('widget_sessions_by_visitor').on(t.config_id, t.visitor_id),
    k.index('widget_sessions_changed').on(t.changed_at),
    k.index('widget_sessions_waits').on(t.config_id, t.changed_at).where(sql`${t.waited_ms} is not null`),
  ],
)
export type SessionRow = Row<typeof widgetSessions>

export const widgetMessages = defineTable(
  'widget_messages',
  (k) => ({
    id: k.text('id').$type<MessageId>().primaryKey(),
    session_id: k.text('session_id').$type<WidgetSessionId>().notNull(),
    config_id: k.text('config_id').$type<WidgetId>().notNull(),
    /** Counts from 1 in each session. */
    seq: k.int('seq').notNull(),
    role: k.text('role').$type<'user' | 'assistant' | 'operator' | 'system'>().notNull(),
    content: k.text('content').notNull(),
    artifacts: k.json<Record<string, unknown>[]>('artifacts').notNull(),
    /** Address hash of a visitor's message, for limits. */
    ip_hash: k.text('ip_hash'),
    /** True for a visitor's message whose answer failed. The same text sent again then counts as the same message. */
    failed: k.bool('failed').notNull(),
    created_at: k.ms('created_at').notNull(),
  }),
  (t, k) => [
    k.uniqueIndex('widget_messages_by_session').on(t.session_id, t.seq),
    k.index('widget_messages_by_address').on(t.config_id, t.ip_hash, t.created_at),
  ],
)
export type MessageRow = Row<typeof widgetMessages>

/** Notes that people write about a chat for each other. A separate table keeps them from visitors' routes. */
export const widgetNotes = defineTable(
  'widget_notes',
  (k) => ({
    id: k.text('id').$type<NoteId>().primaryKey(),
    session_id: k.text('session_id').$type<WidgetSessionId>().notNull(),
    config_id: k.text('config_id').$type<WidgetId>().notNull(),
    author_id: k.text('author_id').notNull(),
    author_name: k.text('author_name').notNull(),
    content: k.text('content').notNull(),
    created_at: k.ms('created_at').notNull(),
  }),
  (t, k) => [
    k.index('widget_notes_by_session').on(t.session_id, t.created_at),
    k.index('widget_notes_by_widget').on(t.config_id),
  ],
)
export type NoteRow = Row<typeof widgetNotes>
